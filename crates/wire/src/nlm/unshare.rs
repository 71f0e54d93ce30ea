//! UNSHARE: ends what SHARE began.

pub use super::share::{Arguments, Reply};

/// Number of the procedure (`NLMPROC4_UNSHARE`).
pub const PROCEDURE: u32 = 21;
