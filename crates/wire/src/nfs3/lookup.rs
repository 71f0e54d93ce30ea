//! LOOKUP (RFC 1813 3.3.3): the node of a name.

use super::{Attributes, DirectoryName, FileHandle, Refused, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 3;

message! {
    /// Arguments of LOOKUP (`LOOKUP3args`).
    pub struct Arguments<'a> {
        /// What to look for, and where.
        pub object: DirectoryName<'a>,
    }
}

message! {
    /// Answer of a LOOKUP that went well (`LOOKUP3resok`).
    pub struct Success<'a> {
        /// The node.
        pub node: FileHandle<'a>,
        /// Its attributes.
        pub attributes: Option<Attributes>,
        /// The directory's.
        pub directory: Option<Attributes>,
    }
}

/// Answer of a LOOKUP (`LOOKUP3res`); a refusal has attributes of the directory (`LOOKUP3resfail`).
pub type Reply<'a> = Result<Success<'a>, Refused<Option<Attributes>>>;
