//! GRANTED: a server calls the client, and grants a lock that it waits for. A reply other than [`Status::Granted`] means that the
//! client does not want it any more.
//!
//! [`Status::Granted`]: super::Status::Granted

pub use super::lock::Reply;
pub use super::test::Arguments;

/// Number of the procedure (`NLMPROC4_GRANTED`).
pub const PROCEDURE: u32 = 5;
/// Its first half (`NLMPROC4_GRANTED_MSG`).
pub const MESSAGE: u32 = 10;
/// Its second half (`NLMPROC4_GRANTED_RES`).
pub const RESULT: u32 = 15;
