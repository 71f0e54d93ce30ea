//! What the cache asks of a disk: tests have one that fails, is full, or hangs.

use std::io;
use std::ops::Range;

use bytes::Bytes;

use super::secret::NodeKey;

/// Where a cache is kept. All calls may block for as long as the disk does; all run on threads of their own.
pub trait CacheStorage: Send + Sync {
    /// 16 random bytes that stay the same as long as what is kept does.
    fn secret(&self) -> [u8; 16];

    /// Opens the index and gives each entry. One that is damaged is set aside, and the cache begins empty.
    fn load(&self, sink: &mut dyn FnMut(NodeKey, &[u8])) -> io::Result<()>;

    /// Changes entries of the index, all of them or none.
    fn commit(&self, changes: &[IndexChange]) -> io::Result<()>;

    /// The data of a file that the index has.
    fn read_small(&self, key: &NodeKey) -> io::Result<Vec<u8>>;

    /// Appends so many bytes of a file's data to a buffer.
    fn read(&self, key: &NodeKey, offset: u64, length: usize, buffer: &mut Vec<u8>) -> io::Result<()>;

    /// Writes data of a file, which is empty first if this `begins` it; says how many bytes it takes on the disk now.
    fn write(&self, key: &NodeKey, offset: u64, data: &[u8], begins: bool) -> io::Result<u64>;

    /// Gives back the space of ranges in bytes; says how many bytes the file takes on the disk now.
    fn punch(&self, key: &NodeKey, ranges: &[Range<u64>]) -> io::Result<u64>;

    /// Removes the data of a file, if it has a file of its own.
    fn remove(&self, key: &NodeKey) -> io::Result<()>;

    /// Removes data that the index does not know.
    fn sweep(&self, is_known: &dyn Fn(&NodeKey) -> bool) -> io::Result<()>;

    /// How full the disk is.
    fn space(&self) -> io::Result<DiskSpace>;
}

/// One entry of the index.
#[derive(Debug, Clone)]
pub struct IndexChange {
    /// Of which file.
    pub key: NodeKey,
    /// What it is from now on; `None`: nothing.
    pub entry: Option<Vec<u8>>,
    /// The file's data, if the index has it.
    pub small: SmallData,
}

/// What becomes of the data of a file in the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SmallData {
    /// It has none there.
    Absent,
    /// It stays.
    Kept,
    /// It is this.
    New(Bytes),
}

/// A disk, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskSpace {
    /// Its size, without what is kept for others (as `df` counts).
    pub total: u64,
    /// What is free on it.
    pub available: u64,
    /// What the index takes.
    pub index: u64,
}
