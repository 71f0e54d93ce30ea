//! What a file is opened for, what is denied to others, and which delegation is wanted (RFC 8881 18.16.1, RFC 9754).

/// For reading (`OPEN4_SHARE_ACCESS_READ`).
pub const ACCESS_READ: u32 = 0x01;
/// For writing (`OPEN4_SHARE_ACCESS_WRITE`).
pub const ACCESS_WRITE: u32 = 0x02;
/// For both (`OPEN4_SHARE_ACCESS_BOTH`), which is also the mask of the two.
pub const ACCESS_BOTH: u32 = 0x03;

/// Others may do all (`OPEN4_SHARE_DENY_NONE`).
pub const DENY_NONE: u32 = 0x00;
/// Others may not open it for reading (`OPEN4_SHARE_DENY_READ`).
pub const DENY_READ: u32 = 0x01;
/// Others may not open it for writing (`OPEN4_SHARE_DENY_WRITE`).
pub const DENY_WRITE: u32 = 0x02;

/// Mask of the delegation wanted (`OPEN4_SHARE_ACCESS_WANT_DELEG_MASK`).
pub const WANT_MASK: u32 = 0xff00;
/// None is better than another (`OPEN4_SHARE_ACCESS_WANT_NO_PREFERENCE`).
pub const WANT_NO_PREFERENCE: u32 = 0x0000;
/// One for reading (`OPEN4_SHARE_ACCESS_WANT_READ_DELEG`).
pub const WANT_READ_DELEGATION: u32 = 0x0100;
/// None (`OPEN4_SHARE_ACCESS_WANT_NO_DELEG`).
pub const WANT_NO_DELEGATION: u32 = 0x0400;
/// No longer what was wanted before (`OPEN4_SHARE_ACCESS_WANT_CANCEL`).
pub const WANT_CANCEL: u32 = 0x0500;
/// Asks for a call when one can be had (`OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL`).
pub const WANT_SIGNAL: u32 = 0x0001_0000;
/// To be given one when nobody else is in the way (`OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED`).
pub const WANT_PUSH: u32 = 0x0002_0000;
