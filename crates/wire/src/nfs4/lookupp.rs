//! LOOKUPP (RFC 8881 18.14): makes the parent of the current directory the current one. It has no arguments, and the result
//! holds nothing.

/// Number of the operation.
pub const OPERATION: u32 = 16;
