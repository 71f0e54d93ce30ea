//! Calls on ranges of files that not every file system has (NFSv4.2): where data and holes are, space reserved and given
//! back, data copied and cloned without passing through the caller.

use crate::{Caller, Change, CopyRange, FileExtent, Handle, Result, Written};

/// The calls of a file system on ranges of its files, asked for by [`FileSystem::ranges`](crate::FileSystem::ranges). A call
/// that only this file or its storage lacks is refused with [`FsError::NotSupported`](crate::FsError::NotSupported).
pub trait RangeOperations: Send + Sync {
    /// Finds where data or a hole begins, at `offset` or behind it (SEEK). A file system that knows no holes finds data
    /// at `offset`, and a hole at the end. An offset at or beyond the end is refused with
    /// [`FsError::NoDevice`](crate::FsError::NoDevice), as by `lseek(2)`. Asks for the right to read.
    fn seek(&self, caller: &Caller, node: &Handle, offset: u64, target: SeekTarget) -> Result<SeekOutcome>;

    /// Reserves space for a range in bytes, so that writes to it find room (ALLOCATE). What is in it stays; a file that
    /// ends before the range does grows to its end. Asks for the right to write, as the others below do.
    fn allocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()>;

    /// Makes a range in bytes read as zeros and gives its space back (DEALLOCATE). The size of the file stays.
    fn deallocate(&self, caller: &Caller, extent: FileExtent<'_>, change: &mut Change) -> Result<()>;

    /// Copies `count` bytes from an offset in one file to an offset in another one or the same (COPY); a `count` of 0
    /// means up to the end. Copies less where the source ends, or where one call would take too long, and says how much.
    /// What it copied is as durable as an unstable write. Ranges of one file that overlap are refused with
    /// [`FsError::Invalid`](crate::FsError::Invalid).
    fn copy_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<Written>;

    /// Lets a range of one file share the storage of a range of another one or the same (CLONE), all of it or nothing; a
    /// `count` of 0 means up to the end. Offsets are multiples of [`Limits::clone_block`](crate::Limits::clone_block), and
    /// so is `count` unless the range ends where the source does; others are refused with
    /// [`FsError::Invalid`](crate::FsError::Invalid).
    fn clone_range(&self, caller: &Caller, copy: CopyRange<'_>, change: &mut Change) -> Result<()>;
}

/// What a seek looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeekTarget {
    /// Bytes that storage holds (`SEEK_DATA`).
    Data,
    /// Bytes that no storage holds, which read as zeros (`SEEK_HOLE`).
    Hole,
}

/// Answer of a seek.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SeekOutcome {
    /// Where it begins, in bytes; the size of the file if there is none before the end.
    pub offset: u64,
    /// Whether there is none before the end of the file.
    pub end: bool,
}
