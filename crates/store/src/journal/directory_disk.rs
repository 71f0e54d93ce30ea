//! A directory as the disk of a journal. One process at a time has it.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, IoSlice, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Advice, FallocateFlags, FlockOperation, OFlags, fadvise, fallocate, flock};
use rustix::io::Errno;

use super::disk::{JournalDisk, JournalFile};
use super::error::JournalError;
use super::segments::REFUSED;

/// Locked by the process that has the directory; holds its id and command.
pub(super) const LOCK: &str = "lock";
/// The most parts of one write (Linux' `UIO_MAXIOV`).
const PARTS_MAX: usize = 1024;
/// The most that is shown of a command.
const COMMAND_MAX: u64 = 4096;

/// A directory with mode 0700.
pub struct DirectoryDisk {
    path: PathBuf,
    directory: File,
    refused: File,
    _lock: Option<File>,
}

impl DirectoryDisk {
    /// Makes the directory if there is none, and takes it for this process until it is dropped.
    ///
    /// # Errors
    /// Another process has it, or it cannot be made.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let make = || {
            DirBuilder::new().recursive(true).mode(0o700).create(path.join(REFUSED))?;
            for directory in [path.to_owned(), path.join(REFUSED)] {
                fs::set_permissions(directory, Permissions::from_mode(0o700))?;
            }
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false).mode(0o600);
            options.custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path.join(LOCK))
        };
        let lock = make().map_err(JournalError::disk("making", path))?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(in_use(path, &lock)),
            Err(error) => return Err(JournalError::disk("locking", path)(error.into())),
        }
        sign(&lock).map_err(JournalError::disk("writing", &path.join(LOCK)))?;
        Self::at(path, Some(lock))
    }

    /// The directory as it is, also while another process has it: for looking at what was refused.
    ///
    /// # Errors
    /// There is none.
    pub fn look(path: &Path) -> Result<Self, JournalError> {
        Self::at(path, None)
    }

    fn at(path: &Path, lock: Option<File>) -> Result<Self, JournalError> {
        let open = || Ok((File::open(path)?, File::open(path.join(REFUSED))?));
        let (directory, refused) = open().map_err(JournalError::disk("opening", path))?;
        Ok(Self { path: path.to_owned(), directory, refused, _lock: lock })
    }
}

/// Says who has it.
fn in_use(directory: &Path, lock: &File) -> JournalError {
    let mut text = String::new();
    let _ = lock.take(COMMAND_MAX).read_to_string(&mut text);
    let (holder, command) = text.trim_end().split_once(' ').unwrap_or_default();
    let (directory, holder) = (directory.to_owned(), holder.parse().ok());
    JournalError::InUse { directory, holder, command: command.escape_default().to_string() }
}

/// Writes this process into the lock.
fn sign(mut lock: &File) -> io::Result<()> {
    let command: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let text = format!("{} {}\n", std::process::id(), command.join(" "));
    // On a full disk it has no text. It is a lock all the same.
    let written = lock.set_len(0).and_then(|()| lock.rewind()).and_then(|()| lock.write_all(text.as_bytes()));
    written
        .or_else(|error| if Errno::from_io_error(&error) == Some(Errno::NOSPC) { Ok(()) } else { Err(error) })
}

fn list(directory: &Path, prefix: &str, into: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if let (Ok(name), true) = (entry.file_name().into_string(), entry.file_type()?.is_file()) {
            into.push(format!("{prefix}{name}"));
        }
    }
    Ok(())
}

impl JournalDisk for DirectoryDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        list(&self.path, "", &mut names)?;
        list(&self.path.join(REFUSED), REFUSED, &mut names)?;
        Ok(names)
    }

    fn create(&self, name: &str, length: u64) -> io::Result<Arc<dyn JournalFile>> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).mode(0o600).open(self.path(name))?;
        let allocated = match fallocate(&file, FallocateFlags::empty(), 0, length) {
            _ if length == 0 => Ok(()),
            Err(Errno::OPNOTSUPP) => file.set_len(length),
            outcome => outcome.map_err(io::Error::from),
        };
        allocated.inspect_err(|_| drop(fs::remove_file(self.path(name))))?;
        Ok(Arc::new(DirectoryFile(file)))
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn JournalFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed());
        Ok(Arc::new(DirectoryFile(options.open(self.path(name))?)))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path(from), self.path(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path(name))
    }

    fn sync_names(&self) -> io::Result<()> {
        self.directory.sync_all()?;
        self.refused.sync_all()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// A file of it.
struct DirectoryFile(File);

impl JournalFile for DirectoryFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read(&self) -> io::Result<Vec<u8>> {
        self.0.sync_data()?;
        // After a write that failed, memory holds what the disk does not have.
        fadvise(&self.0, 0, None, Advice::DontNeed)?;
        let mut bytes = vec![0; usize::try_from(self.length()?).map_err(io::Error::other)?];
        self.0.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }

    fn write_at(&self, mut offset: u64, mut parts: &mut [IoSlice<'_>]) -> io::Result<()> {
        IoSlice::advance_slices(&mut parts, 0);
        while !parts.is_empty() {
            match rustix::io::pwritev(&self.0, &parts[..parts.len().min(PARTS_MAX)], offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(length) => {
                    offset += length as u64;
                    IoSlice::advance_slices(&mut parts, length);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
