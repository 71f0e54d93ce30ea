//! SETATTR (RFC 1813 3.3.2): sets attributes of a node.

use super::{FileHandle, NewAttributes, Refused, Time, WeakCacheConsistency, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 2;

message! {
    /// Arguments of SETATTR (`SETATTR3args`).
    pub struct Arguments<'a> {
        /// The node.
        pub node: FileHandle<'a>,
        /// What to set.
        pub new: NewAttributes,
        /// Only if the node last changed at this time (`sattrguard3`).
        pub guard: Option<Time>,
    }
}

message! {
    /// Answer of a SETATTR that went well (`SETATTR3resok`).
    pub struct Success {
        /// The node before and after.
        pub node: WeakCacheConsistency,
    }
}

/// Answer of a SETATTR (`SETATTR3res`); a refusal has attributes of the node too (`SETATTR3resfail`).
pub type Reply = Result<Success, Refused<WeakCacheConsistency>>;
