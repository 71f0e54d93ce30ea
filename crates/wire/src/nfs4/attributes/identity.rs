//! Which node it is, and of what kind.

use super::group::group;
use crate::message::message;
use crate::nfs4::{Device, FileHandle, FileType, Status};

message! {
    /// Names a file system of a server (`fsid4`).
    #[derive(Hash, Default)]
    pub struct FileSystemId {
        /// `major`
        pub major: u64,
        /// `minor`
        pub minor: u64,
    }
}

group! {
    /// Which node it is, and of what kind (RFC 8881 5.8).
    pub struct Identity<'a> {
        /// Kind of node (`type`).
        pub kind: FileType = TYPE(1),
        /// Its file system (`fsid`).
        pub file_system: FileSystemId = FSID(8),
        /// In an entry of READDIR: why its other attributes are absent (`rdattr_error`).
        pub error: Status = RDATTR_ERROR(11),
        /// Its handle (`filehandle`).
        pub handle: FileHandle<'a> = FILEHANDLE(19),
        /// Its number within the file system (`fileid`).
        pub file: u64 = FILEID(20),
        /// Device number, for device nodes (`rawdev`).
        pub device: Device = RAWDEV(41),
        /// The number of the node that a mounted file system covers; `fileid` elsewhere (`mounted_on_fileid`).
        pub mounted_on_file: u64 = MOUNTED_ON_FILEID(55),
    }
}
