//! CLONE (RFC 7862 15.13): makes a range of the current file share the data of a range of the saved one. The result holds
//! nothing.

use super::StateId;
use crate::message::message;

/// Number of the operation.
pub const OPERATION: u32 = 71;

message! {
    /// Arguments of CLONE (`CLONE4args`).
    pub struct Arguments {
        /// The open of the saved file.
        pub source: StateId,
        /// The open of the current file.
        pub destination: StateId,
        /// Where the range in the saved file starts, in bytes.
        pub source_offset: u64,
        /// Where it goes in the current file, in bytes.
        pub destination_offset: u64,
        /// Its length in bytes; 0 means to the end of the saved file.
        pub count: u64,
    }
}
