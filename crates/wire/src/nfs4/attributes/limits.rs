//! The sizes and times that a server and a file system keep to.

use super::group::group;
use crate::nfs4::Time;

group! {
    /// The sizes and times that a server and a file system keep to (RFC 8881 5.8).
    pub struct Limits {
        /// How long a client that is not heard of keeps its states, in seconds (`lease_time`).
        pub lease_seconds: u32 = LEASE_TIME(10),
        /// The largest file in bytes (`maxfilesize`).
        pub file_size: u64 = MAXFILESIZE(27),
        /// The most hard links of a node (`maxlink`).
        pub links: u32 = MAXLINK(28),
        /// The longest name in bytes (`maxname`).
        pub name: u32 = MAXNAME(29),
        /// The most bytes of a READ (`maxread`).
        pub read: u64 = MAXREAD(30),
        /// The most bytes of a WRITE (`maxwrite`).
        pub write: u64 = MAXWRITE(31),
        /// The step in which times are kept (`time_delta`).
        pub time_step: Time = TIME_DELTA(51),
        /// Block size of layouts in bytes (`layout_blksize`).
        pub layout_block: u32 = LAYOUT_BLKSIZE(65),
        /// What ranges of a CLONE must be multiples of, in bytes (`clone_blksize`, RFC 7862 12.2.1).
        pub clone_block: u32 = CLONE_BLKSIZE(77),
    }
}
