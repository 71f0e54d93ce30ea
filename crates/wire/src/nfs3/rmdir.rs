//! RMDIR (RFC 1813 3.3.13): removes an empty directory.

use super::{DirectoryName, Refused, WeakCacheConsistency, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 13;

message! {
    /// Arguments of RMDIR (`RMDIR3args`).
    pub struct Arguments<'a> {
        /// What to remove, and where.
        pub object: DirectoryName<'a>,
    }
}

message! {
    /// Answer of an RMDIR that went well (`RMDIR3resok`).
    pub struct Success {
        /// The directory before and after.
        pub directory: WeakCacheConsistency,
    }
}

/// Answer of an RMDIR (`RMDIR3res`); a refusal has attributes of the directory too (`RMDIR3resfail`).
pub type Reply = Result<Success, Refused<WeakCacheConsistency>>;
