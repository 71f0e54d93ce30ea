//! Names as procedures take them. What `.` and `..` are answered with differs by procedure; everything else that is
//! no name is refused alike (RFC 1813 3.2, items 2 to 4), and none of it reaches a file system.

use howdah_vfs::{Name, NameError};
use howdah_wire::nfs3::Status;

use super::convert;

/// The name of something to be made: `.` and `..` are there already.
pub fn new(bytes: &[u8]) -> Result<Name<'_>, Status> {
    parse(bytes, Status::Exists, Status::Exists)
}

/// The name of something that is there: `.` and `..` can be neither removed nor renamed.
pub fn existing(bytes: &[u8]) -> Result<Name<'_>, Status> {
    parse(bytes, Status::Invalid, Status::Invalid)
}

/// The name of a directory to be removed. The RFC distinguishes `.` from `..`, since the one is empty perhaps, while the other
/// certainly is not (3.3.13).
pub fn directory(bytes: &[u8]) -> Result<Name<'_>, Status> {
    parse(bytes, Status::Invalid, Status::Exists)
}

/// What a LOOKUP may ask for.
pub enum Sought<'n> {
    /// `.`, the directory itself.
    Itself,
    /// `..`, the directory that holds it.
    Parent,
    /// Any other name.
    Named(Name<'n>),
}

/// The name that a LOOKUP asks for.
pub fn sought(bytes: &[u8]) -> Result<Sought<'_>, Status> {
    match Name::parse(bytes) {
        Ok(name) => Ok(Sought::Named(name)),
        Err(NameError::Dot) => Ok(Sought::Itself),
        Err(NameError::DotDot) => Ok(Sought::Parent),
        Err(error) => Err(convert::status(error.refusal())),
    }
}

fn parse(bytes: &[u8], dot: Status, dot_dot: Status) -> Result<Name<'_>, Status> {
    Name::parse(bytes).map_err(|error| match error {
        NameError::Dot => dot,
        NameError::DotDot => dot_dot,
        other => convert::status(other.refusal()),
    })
}
