//! RESTOREFH (RFC 8881 18.27): makes the saved node the current one. It has no arguments, and the result holds nothing.

/// Number of the operation.
pub const OPERATION: u32 = 31;
