//! PUTPUBFH (RFC 8881 18.20): makes the public directory the current node. It has no arguments, and the result holds nothing.

/// Number of the operation.
pub const OPERATION: u32 = 23;
