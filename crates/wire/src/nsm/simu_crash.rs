//! SIMU_CRASH: does as if this host had restarted. It has no arguments, and the reply holds nothing.

/// Number of the procedure (`SM_SIMU_CRASH`).
pub const PROCEDURE: u32 = 5;
