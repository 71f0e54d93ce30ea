//! MKDIR (RFC 1813 3.3.9): makes a directory.

use super::{DirectoryName, Made, NewAttributes, Refused, WeakCacheConsistency, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 9;

message! {
    /// Arguments of MKDIR (`MKDIR3args`).
    pub struct Arguments<'a> {
        /// What to make, and where.
        pub object: DirectoryName<'a>,
        /// Its attributes.
        pub new: NewAttributes,
    }
}

/// Answer of a MKDIR (`MKDIR3res`); a refusal has attributes of the directory too (`MKDIR3resfail`).
pub type Reply<'a> = Result<Made<'a>, Refused<WeakCacheConsistency>>;
