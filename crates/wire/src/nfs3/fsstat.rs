//! FSSTAT (RFC 1813 3.3.18): how full a file system is.

use super::{Attributes, FileHandle, Refused, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 18;

message! {
    /// Arguments of FSSTAT (`FSSTAT3args`).
    pub struct Arguments<'a> {
        /// A node of the file system.
        pub node: FileHandle<'a>,
    }
}

message! {
    /// Answer of an FSSTAT that went well (`FSSTAT3resok`).
    pub struct Success {
        /// The node's attributes.
        pub attributes: Option<Attributes>,
        /// Size in bytes (`tbytes`).
        pub total_bytes: u64,
        /// Free bytes (`fbytes`).
        pub free_bytes: u64,
        /// Free bytes that the caller may use (`abytes`).
        pub available_bytes: u64,
        /// Nodes that fit (`tfiles`).
        pub total_files: u64,
        /// Nodes that can still be made (`ffiles`).
        pub free_files: u64,
        /// Nodes that the caller can still make (`afiles`).
        pub available_files: u64,
        /// For how many seconds these figures are not expected to change (`invarsec`).
        pub constant_seconds: u32,
    }
}

/// Answer of an FSSTAT (`FSSTAT3res`).
pub type Reply = Result<Success, Refused<Option<Attributes>>>;
