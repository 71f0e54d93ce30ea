//! GETATTR (RFC 1813 3.3.1): the attributes of a node.

use super::{Attributes, FileHandle, Refused, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 1;

message! {
    /// Arguments of GETATTR (`GETATTR3args`).
    pub struct Arguments<'a> {
        /// The node.
        pub node: FileHandle<'a>,
    }
}

message! {
    /// Answer of a GETATTR that went well (`GETATTR3resok`).
    pub struct Success {
        /// Its attributes.
        pub attributes: Attributes,
    }
}

/// Answer of a GETATTR (`GETATTR3res`).
pub type Reply = Result<Success, Refused<()>>;
