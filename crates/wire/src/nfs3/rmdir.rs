//! RMDIR (RFC 1813 3.3.13): removes an empty directory. Its arguments and answer (`RMDIR3args`, `RMDIR3res`) are those of REMOVE.

pub use super::remove::{Arguments, Reply, Success};

/// Number of the procedure.
pub const PROCEDURE: u32 = 13;
