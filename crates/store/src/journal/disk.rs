//! What a journal needs of a disk. The directory is one, and a disk of the tests that loses power another.

use std::io::{self, IoSlice};
use std::path::PathBuf;
use std::sync::Arc;

/// A directory of files and one below it, `refused/`. Names are `NAME` or `refused/NAME`.
pub trait JournalDisk: Send + Sync {
    /// Names of all files, in any order.
    ///
    /// # Errors
    /// The disk fails.
    fn list(&self) -> io::Result<Vec<String>>;

    /// Makes a file of so many zeros, whose room is allocated. It is durable after [`JournalFile::sync`] and [`Self::sync_names`].
    ///
    /// # Errors
    /// The name exists, the disk is full or fails.
    fn create(&self, name: &str, length: u64) -> io::Result<Arc<dyn JournalFile>>;

    /// Opens a file.
    ///
    /// # Errors
    /// It does not exist, or the disk fails.
    fn open(&self, name: &str) -> io::Result<Arc<dyn JournalFile>>;

    /// Renames a file, over another one if there is one.
    ///
    /// # Errors
    /// The disk fails.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// The disk fails.
    fn remove(&self, name: &str) -> io::Result<()>;

    /// Returns once all changes of names are durable.
    ///
    /// # Errors
    /// The disk fails.
    fn sync_names(&self) -> io::Result<()>;

    /// Where a file is, for messages.
    fn path(&self, name: &str) -> PathBuf;
}

/// A file of a [`JournalDisk`].
pub trait JournalFile: Send + Sync {
    /// Its length.
    ///
    /// # Errors
    /// The disk fails.
    fn length(&self) -> io::Result<u64>;

    /// All of it, as it is on the disk: what memory holds is synced first, and then not believed.
    ///
    /// # Errors
    /// The disk fails.
    fn read(&self) -> io::Result<Vec<u8>>;

    /// Fills the buffer from an offset.
    ///
    /// # Errors
    /// The disk fails, or the file is too short.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Writes all of these from an offset on. If it fails, any of it may have been written.
    ///
    /// # Errors
    /// The disk is full or fails.
    fn write_at(&self, offset: u64, parts: &mut [IoSlice<'_>]) -> io::Result<()>;

    /// Returns once all that was written is durable. After it failed once, a success says nothing.
    ///
    /// # Errors
    /// The disk fails.
    fn sync(&self) -> io::Result<()>;
}
