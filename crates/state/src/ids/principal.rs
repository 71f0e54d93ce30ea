//! Who sent a call.

/// Who sent a call, as bytes that the server makes of flavour and user; never of the address, or trunking and renumbering break
/// (RFC 8881 2.4.3).
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Principal(pub Box<[u8]>);
