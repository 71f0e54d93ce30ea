//! SAVEFH (RFC 8881 18.28): saves the current node. It has no arguments, and the result holds nothing.

/// Number of the operation.
pub const OPERATION: u32 = 32;
