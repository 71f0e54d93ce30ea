//! UMNT (RFC 1813 5.2.3): forgets a mount of the caller. It has no result.

use super::DirectoryPath;
use crate::message::message;

/// Number of the procedure.
pub const PROCEDURE: u32 = 3;

message! {
    /// Arguments of UMNT (`dirpath`).
    pub struct Arguments<'a> {
        /// What was mounted.
        pub path: DirectoryPath<'a>,
    }
}
