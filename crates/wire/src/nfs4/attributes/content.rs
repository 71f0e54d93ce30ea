//! What changes with a node's data and names.

use super::group::group;

group! {
    /// What changes with a node's data and names (RFC 8881 5.8).
    pub struct Content {
        /// Differs after each change of data or attributes (`change`).
        pub change: u64 = CHANGE(3),
        /// Size in bytes (`size`).
        pub size: u64 = SIZE(4),
        /// Hard links (`numlinks`).
        pub links: u32 = NUMLINKS(35),
        /// Bytes of storage in use (`space_used`).
        pub used: u64 = SPACE_USED(45),
        /// Bytes of storage that its removal frees (`space_freed`, RFC 7862 12.2.2).
        pub freed: u64 = SPACE_FREED(78),
    }
}
