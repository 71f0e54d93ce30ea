//! Types that many operations and attributes share (RFC 8881 3.2 and 3.3).

use crate::message::{enumeration, message};

message! {
    /// A directory before and after a change to it (`change_info4`).
    #[derive(Default)]
    pub struct ChangeInfo {
        /// Whether nothing else changed the directory between the two.
        pub atomic: bool,
        /// Its attribute `change` before.
        pub before: u64,
        /// Its attribute `change` after.
        pub after: u64,
    }
}

message! {
    /// A point in time (`nfstime4`).
    #[derive(PartialOrd, Ord, Hash, Default)]
    pub struct Time {
        /// Seconds since 1970; negative before.
        pub seconds: i64,
        /// Nanoseconds within the second, always forward. A value of 10^9 or more is decoded, for the server to refuse.
        pub nanoseconds: u32,
    }
}

enumeration! {
    /// What kind of node (`nfs_ftype4`).
    pub enum FileType, "file type" {
        /// `NF4REG`
        Regular = 1,
        /// `NF4DIR`
        Directory = 2,
        /// `NF4BLK`
        BlockDevice = 3,
        /// `NF4CHR`
        CharacterDevice = 4,
        /// `NF4LNK`
        SymbolicLink = 5,
        /// `NF4SOCK`
        Socket = 6,
        /// `NF4FIFO`
        Fifo = 7,
        /// `NF4ATTRDIR`: a directory of named attributes.
        AttributeDirectory = 8,
        /// `NF4NAMEDATTR`
        NamedAttribute = 9,
    }
}

message! {
    /// A device number (`specdata4`).
    #[derive(Default)]
    pub struct Device {
        /// `specdata1`
        pub major: u32,
        /// `specdata2`
        pub minor: u32,
    }
}

enumeration! {
    /// How durable data must be, or is, when a WRITE or COPY is answered (`stable_how4`).
    pub enum Stability, "stability" {
        /// `UNSTABLE4`: it may be lost until COMMIT.
        Unstable = 0,
        /// `DATA_SYNC4`: the data, and what is needed to find it.
        DataSync = 1,
        /// `FILE_SYNC4`: data and attributes.
        FileSync = 2,
    }
}
