//! FSINFO (RFC 1813 3.3.19): what a server and a file system can do, and in which sizes.

use super::{Attributes, FileHandle, Refused, Time, message::message};

/// Number of the procedure.
pub const PROCEDURE: u32 = 19;

/// Property: hard links (`FSF3_LINK`).
pub const HARD_LINKS: u32 = 0x01;
/// Property: symbolic links (`FSF3_SYMLINK`).
pub const SYMBOLIC_LINKS: u32 = 0x02;
/// Property: PATHCONF returns the same for every node (`FSF3_HOMOGENEOUS`).
pub const HOMOGENEOUS: u32 = 0x08;
/// Property: SETATTR sets times to any value (`FSF3_CANSETTIME`).
pub const CAN_SET_TIME: u32 = 0x10;

message! {
    /// Arguments of FSINFO (`FSINFO3args`).
    pub struct Arguments<'a> {
        /// A node of the file system.
        pub node: FileHandle<'a>,
    }
}

message! {
    /// Answer of an FSINFO that went well (`FSINFO3resok`). Sizes are in bytes.
    pub struct Success {
        /// The node's attributes.
        pub attributes: Option<Attributes>,
        /// The most bytes of a READ (`rtmax`).
        pub read_max: u32,
        /// The best size of a READ (`rtpref`).
        pub read_preferred: u32,
        /// What the size of a READ should be a multiple of (`rtmult`).
        pub read_multiple: u32,
        /// The most bytes of a WRITE (`wtmax`).
        pub write_max: u32,
        /// The best size of a WRITE (`wtpref`).
        pub write_preferred: u32,
        /// What the size of a WRITE should be a multiple of (`wtmult`).
        pub write_multiple: u32,
        /// The best size of a READDIR (`dtpref`).
        pub directory_preferred: u32,
        /// The largest file (`maxfilesize`).
        pub largest_file: u64,
        /// The step in which times are kept (`time_delta`).
        pub time_step: Time,
        /// A set of properties (`FSF3_*`).
        pub properties: u32,
    }
}

/// Answer of an FSINFO (`FSINFO3res`).
pub type Reply = Result<Success, Refused<Option<Attributes>>>;
