//! COMMIT (RFC 1813 3.3.21): makes what was written unstably durable.

use super::{FileHandle, Refused, WeakCacheConsistency, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 21;

message! {
    /// Arguments of COMMIT (`COMMIT3args`).
    pub struct Arguments<'a> {
        /// The file.
        pub node: FileHandle<'a>,
        /// Where the range starts, in bytes.
        pub offset: u64,
        /// Its length in bytes; 0 means to the end of the file.
        pub count: u32,
    }
}

message! {
    /// Answer of a COMMIT that went well (`COMMIT3resok`).
    pub struct Success {
        /// The file before and after.
        pub file: WeakCacheConsistency,
        /// Changes when uncommitted data was lost.
        pub verifier: [u8; 8],
    }
}

/// Answer of a COMMIT (`COMMIT3res`); a refusal has attributes of the file too (`COMMIT3resfail`).
pub type Reply = Result<Success, Refused<WeakCacheConsistency>>;
