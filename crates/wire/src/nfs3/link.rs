//! LINK (RFC 1813 3.3.15): gives a node one more name.

use super::{Attributes, DirectoryName, FileHandle, Refused, WeakCacheConsistency, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 15;

message! {
    /// Arguments of LINK (`LINK3args`).
    pub struct Arguments<'a> {
        /// The node.
        pub node: FileHandle<'a>,
        /// Its further name.
        pub link: DirectoryName<'a>,
    }
}

message! {
    /// The node and the directory of a LINK: all of its answer, well (`LINK3resok`) or refused (`LINK3resfail`).
    #[derive(Default)]
    pub struct Linked {
        /// The node's attributes.
        pub node: Option<Attributes>,
        /// The directory before and after.
        pub directory: WeakCacheConsistency,
    }
}

/// Answer of a LINK (`LINK3res`).
pub type Reply = Result<Linked, Refused<Linked>>;
