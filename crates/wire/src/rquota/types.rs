//! The types that procedures share.

use crate::limits::QUOTA_PATH_MAX;
use crate::message::{message, opaque};

opaque! {
    /// The path that the client mounted (`string<RQ_PATHLEN>`).
    pub struct QuotaPath, QUOTA_PATH_MAX, "path";
}

message! {
    /// A quota, and what is used of it (`rquota`). A limit of 0 is none.
    pub struct RemoteQuota {
        /// Bytes of a block. It is an `int`: at most 2^31 - 1.
        pub block_size: u32,
        /// Whether the quota is enforced.
        pub is_active: bool,
        /// Most blocks.
        pub block_hard_limit: u32,
        /// Blocks beyond which the time left begins to run.
        pub block_soft_limit: u32,
        /// Blocks in use.
        pub blocks: u32,
        /// Most files.
        pub file_hard_limit: u32,
        /// Files beyond which the time left begins to run.
        pub file_soft_limit: u32,
        /// Files in use.
        pub files: u32,
        /// Seconds until the soft limit of blocks becomes hard; 0 while it is not exceeded. Negative, as an `int`, once that is so.
        pub block_time_left: u32,
        /// The same for files.
        pub file_time_left: u32,
    }
}
