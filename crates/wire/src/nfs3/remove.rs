//! REMOVE (RFC 1813 3.3.12): removes a name that is not a directory's.

use super::{DirectoryName, Refused, WeakCacheConsistency, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 12;

message! {
    /// Arguments of REMOVE (`REMOVE3args`).
    pub struct Arguments<'a> {
        /// What to remove, and where.
        pub object: DirectoryName<'a>,
    }
}

message! {
    /// Answer of a REMOVE that went well (`REMOVE3resok`).
    pub struct Success {
        /// The directory before and after.
        pub directory: WeakCacheConsistency,
    }
}

/// Answer of a REMOVE (`REMOVE3res`); a refusal has attributes of the directory too (`REMOVE3resfail`).
pub type Reply = Result<Success, Refused<WeakCacheConsistency>>;
