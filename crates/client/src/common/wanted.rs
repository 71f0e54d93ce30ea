//! Sizes that the user asked for, and the bounds of listings.

/// The smallest listing that is asked for, in bytes: room for the longest name with handle and attributes, and then some.
pub(crate) const LISTING_MIN: u32 = 4 << 10;
/// The largest: some 300 entries with all details. More wins little, and the answer must be held whole.
pub(crate) const LISTING_MAX: u32 = 64 << 10;

/// Sizes that the user asked for, in bytes; never more than the server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Of a READ.
    pub read: Option<u32>,
    /// Of a WRITE.
    pub write: Option<u32>,
    /// Of the answer to a READDIR or READDIRPLUS.
    pub listing: Option<u32>,
}
