//! NM_LOCK: a lock of a client that no status monitor watches. The client's restart does not free it.

pub use super::lock::{Arguments, Reply};

/// Number of the procedure (`NLMPROC4_NM_LOCK`).
pub const PROCEDURE: u32 = 22;
