//! Numbers of attributes without a value here, which a client may ask for all the same (RFC 8881 5.7, RFC 9754).

/// `acl`
pub const ACL: u32 = 12;
/// `fs_locations`, a [`Locations`](super::Locations).
pub const FS_LOCATIONS: u32 = 24;
/// `hidden`
pub const HIDDEN: u32 = 25;
/// `system`
pub const SYSTEM: u32 = 46;
