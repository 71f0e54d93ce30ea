//! Names as operations take them. `.` and `..` are no names in NFSv4 (RFC 8881 1.8.3.2): clients know them by themselves.

use howdah_vfs::{Name, NameError};
use howdah_wire::nfs4::Status;

/// A name in a directory. It is bytes here: no encoding is asked of it, as file systems of this host ask none.
///
/// # Errors
/// INVAL for an empty one, BADNAME for `.`, `..` and what has a slash or a zero byte in it, NAMETOOLONG.
pub fn of(bytes: &[u8]) -> Result<Name<'_>, Status> {
    Name::parse(bytes).map_err(|error| match error {
        NameError::Empty => Status::INVAL,
        NameError::TooLong => Status::NAMETOOLONG,
        _ => Status::BADNAME,
    })
}
