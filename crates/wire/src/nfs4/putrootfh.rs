//! PUTROOTFH (RFC 8881 18.21): makes the server's root the current node. It has no arguments, and the result holds nothing.

/// Number of the operation.
pub const OPERATION: u32 = 24;
