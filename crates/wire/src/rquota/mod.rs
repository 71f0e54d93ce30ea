//! rquota versions 1 and 2: what a user or group has used of a file system, and may use at most. No RFC has it; the protocol is that
//! of `rquota.x` of SunOS 4, and version 2 adds groups. One file per procedure.

pub mod getactivequota;
pub mod getquota;
mod types;

pub use types::{QuotaPath, RemoteQuota};

/// The RPC program number.
pub const PROGRAM: u32 = 100_011;
/// The version that knows users.
pub const VERSION_1: u32 = 1;
/// The version that knows users and groups.
pub const VERSION_2: u32 = 2;
