//! ACCESS (RFC 1813 3.3.4): what the caller may do with a node.

use super::{Attributes, FileHandle, Refused, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 4;

message! {
    /// Arguments of ACCESS (`ACCESS3args`).
    pub struct Arguments<'a> {
        /// The node.
        pub node: FileHandle<'a>,
        /// The rights asked about (bits `ACCESS3_*`).
        pub wanted: u32,
    }
}

message! {
    /// Answer of an ACCESS that went well (`ACCESS3resok`).
    pub struct Success {
        /// The node's attributes.
        pub attributes: Option<Attributes>,
        /// Those of the rights that the caller has.
        pub granted: u32,
    }
}

/// Answer of an ACCESS (`ACCESS3res`).
pub type Reply = Result<Success, Refused<Option<Attributes>>>;
