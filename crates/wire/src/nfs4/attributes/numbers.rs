//! Numbers of attributes without a value here, which a client may ask for all the same (RFC 8881 5.7, RFC 9754).

/// `acl`
pub const ACL: u32 = 12;
/// `archive`
pub const ARCHIVE: u32 = 14;
/// `fs_locations`, a [`Locations`](super::Locations).
pub const FS_LOCATIONS: u32 = 24;
/// `hidden`
pub const HIDDEN: u32 = 25;
/// `mimetype`
pub const MIMETYPE: u32 = 32;
/// `quota_avail_hard`
pub const QUOTA_AVAIL_HARD: u32 = 38;
/// `quota_avail_soft`
pub const QUOTA_AVAIL_SOFT: u32 = 39;
/// `quota_used`
pub const QUOTA_USED: u32 = 40;
/// `system`
pub const SYSTEM: u32 = 46;
/// `dacl`
pub const DACL: u32 = 58;
/// `sacl`
pub const SACL: u32 = 59;
/// `fs_status`
pub const FS_STATUS: u32 = 61;
/// `fs_locations_info`
pub const FS_LOCATIONS_INFO: u32 = 67;
