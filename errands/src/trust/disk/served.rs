//! A platter as a file of a FUSE file system, for the kernel's loop driver to make a block device of. The kernel writes
//! through: what is logged is what the block layer writes, in its order, and a flush is an fsync of the file.

use std::ffi::OsStr;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner, OpenFlags,
    ReplyAttr, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyWrite, Request, WriteFlags,
};

use super::platter::Platter;

/// The one file's name and number.
pub const NAME: &str = "disk";
const FILE: INodeNo = INodeNo(2);
/// Nothing of it changes but its bytes.
const FOR_EVER: Duration = Duration::from_secs(1 << 30);
/// Sectors, as attributes count them.
const SECTOR: u64 = 512;

/// The file system.
pub struct Served(pub Arc<Platter>);

impl Served {
    fn attributes(&self, node: INodeNo) -> Option<FileAttr> {
        let (kind, size) = match node {
            INodeNo::ROOT => (FileType::Directory, 0),
            FILE => (FileType::RegularFile, self.0.size() as u64),
            _ => return None,
        };
        Some(FileAttr {
            ino: node,
            size,
            blocks: size / SECTOR,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm: 0o700,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

impl Filesystem for Served {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(FILE).filter(|_| name == NAME) {
            Some(attributes) => reply.entry(&FOR_EVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, node: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(node) {
            Some(attributes) => reply.attr(&FOR_EVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::empty());
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.0.read(offset as usize, size as usize) {
            Some(bytes) => reply.data(&bytes),
            None => reply.error(Errno::EIO),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if self.0.write(offset as usize, data) {
            reply.written(data.len() as u32)
        } else {
            reply.error(Errno::EIO)
        }
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.0.flush();
        reply.ok();
    }
}
