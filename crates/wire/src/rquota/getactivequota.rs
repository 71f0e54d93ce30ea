//! GETACTIVEQUOTA: the quota, if it is enforced. Its arguments and reply are those of GETQUOTA.

/// Number of the procedure (`RQUOTAPROC_GETACTIVEQUOTA`).
pub const PROCEDURE: u32 = 2;
