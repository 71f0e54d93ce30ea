//! How full a file system is: what takes a call of its own to find out.

use super::group::group;

group! {
    /// How full a file system is (RFC 8881 5.8.2).
    pub struct Space {
        /// Nodes that the caller can still make (`files_avail`).
        pub files_available: u64 = FILES_AVAIL(21),
        /// Nodes that can still be made (`files_free`).
        pub files_free: u64 = FILES_FREE(22),
        /// Nodes that fit (`files_total`).
        pub files_total: u64 = FILES_TOTAL(23),
        /// Free bytes that the caller may use (`space_avail`).
        pub bytes_available: u64 = SPACE_AVAIL(42),
        /// Free bytes (`space_free`).
        pub bytes_free: u64 = SPACE_FREE(43),
        /// Size in bytes (`space_total`).
        pub bytes_total: u64 = SPACE_TOTAL(44),
    }
}
