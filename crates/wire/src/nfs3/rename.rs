//! RENAME (RFC 1813 3.3.14): gives a node another name.

use super::{DirectoryName, Refused, WeakCacheConsistency, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 14;

message! {
    /// Arguments of RENAME (`RENAME3args`).
    pub struct Arguments<'a> {
        /// The name it has.
        pub from: DirectoryName<'a>,
        /// The name it gets.
        pub to: DirectoryName<'a>,
    }
}

message! {
    /// The two directories of a RENAME: all of its answer, well (`RENAME3resok`) or refused (`RENAME3resfail`).
    #[derive(Default)]
    pub struct Directories {
        /// The directory left, before and after.
        pub from: WeakCacheConsistency,
        /// The directory entered, before and after.
        pub to: WeakCacheConsistency,
    }
}

/// Answer of a RENAME (`RENAME3res`).
pub type Reply = Result<Directories, Refused<Directories>>;
