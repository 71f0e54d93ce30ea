//! A cache in a directory of this host: an index, and one sparse file for each file that is not small.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read, Write};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use howdah_vfs::FileRange;
use parking_lot::Mutex;
use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock, statvfs};
use rustix::io::Errno;

use super::database::CacheDatabase;
use super::secret::NodeKey;
use super::storage::{CacheStorage, DiskSpace, IndexChange};

/// The file that marks a directory as a cache, and says which: its format, the host that made it, its secret. Locked while it
/// is in use.
const ABOUT: &str = "howdah-cache";
/// The first line of it.
const FORMAT: &str = "howdah cache, format 1";
/// The index, one that was damaged, the data of files, and data that is to be removed.
const INDEX: &str = "index.redb";
const DAMAGED: &str = "index.damaged";
const DATA: &str = "data";
const OLD: &str = "data.old";

/// A cache in a directory, which is this process's alone while it is open.
pub struct CacheDirectory {
    path: PathBuf,
    secret: [u8; 16],
    database: Mutex<Option<Arc<CacheDatabase>>>,
    _lock: File,
}

impl CacheDirectory {
    /// Opens the cache in a directory, or makes one where there is none, or an empty one. What another host or another format left
    /// there is dropped.
    ///
    /// # Errors
    /// Another process uses it ([`ErrorKind::WouldBlock`](io::ErrorKind::WouldBlock)), it holds other files, it belongs to another
    /// user, or it cannot be made.
    pub fn open(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        let path = path.canonicalize()?;
        let metadata = path.metadata()?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(io::Error::other("it belongs to another user"));
        }
        let about = path.join(ABOUT);
        if !about.exists() && fs::read_dir(&path)?.next().is_some() {
            return Err(io::Error::other(
                "it holds other files: name an empty directory, or one that is not there yet",
            ));
        }
        if metadata.mode() & 0o777 != 0o700 {
            fs::set_permissions(&path, Permissions::from_mode(0o700))?;
        }
        let mut options = OpenOptions::new();
        let mut lock =
            options.read(true).write(true).create(true).truncate(false).mode(0o600).open(&about)?;
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => {
                return Err(io::Error::new(io::ErrorKind::WouldBlock, "another mount or relay uses it"));
            }
            outcome => outcome?,
        }
        let mut text = Vec::new();
        lock.read_to_end(&mut text)?;
        let secret = match secret_of(&String::from_utf8_lossy(&text)) {
            Some(secret) => secret,
            None => begin(&path, &mut lock)?,
        };
        Ok(Self { path, secret, database: Mutex::new(None), _lock: lock })
    }

    fn data(&self, key: &NodeKey) -> PathBuf {
        let name = format!("{key:?}");
        self.path.join(DATA).join(&name[..2]).join(name)
    }

    fn database(&self) -> io::Result<Arc<CacheDatabase>> {
        let mut database = self.database.lock();
        if let Some(open) = &*database {
            return Ok(Arc::clone(open));
        }
        let open = Arc::new(CacheDatabase::open(&self.path.join(INDEX))?);
        *database = Some(Arc::clone(&open));
        Ok(open)
    }

    /// A database that failed once refuses all that follows: the next call opens it again.
    fn closing_on_failure<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        if outcome.is_err() {
            *self.database.lock() = None;
        }
        outcome
    }

    fn load_once(&self, sink: &mut dyn FnMut(NodeKey, &[u8])) -> io::Result<()> {
        let entries = self.database().and_then(|database| database.entries(sink));
        self.closing_on_failure(entries)
    }
}

impl CacheStorage for CacheDirectory {
    fn secret(&self) -> [u8; 16] {
        self.secret
    }

    fn load(&self, sink: &mut dyn FnMut(NodeKey, &[u8])) -> io::Result<()> {
        let mut entries = Vec::new();
        match self.load_once(&mut |key, entry| entries.push((key, entry.to_vec()))) {
            Ok(()) => {
                remove_all(&self.path.join(DAMAGED))?;
                entries.iter().for_each(|(key, entry)| sink(*key, entry));
            }
            Err(error) if is_unusable(&error) => return Err(error),
            Err(error) => {
                tracing::warn!(
                    %error,
                    directory = %self.path.display(),
                    "the index of the cache on disk is damaged: set aside as {DAMAGED}, and the cache begins empty"
                );
                fs::rename(self.path.join(INDEX), self.path.join(DAMAGED))?;
                set_aside_data(&self.path)?;
                self.load_once(&mut |_, _| {})?;
            }
        }
        Ok(())
    }

    fn commit(&self, changes: &[IndexChange]) -> io::Result<()> {
        let outcome = self.database().and_then(|database| database.commit(changes));
        self.closing_on_failure(outcome)
    }

    fn read_small(&self, key: &NodeKey) -> io::Result<Vec<u8>> {
        self.database()?.small(key)
    }

    fn read(&self, key: &NodeKey, offset: u64, length: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
        let file = Arc::new(File::open(self.data(key))?.into());
        let read = FileRange { file, offset, length }.append_to(buffer)?;
        if read == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn write(&self, key: &NodeKey, offset: u64, data: &[u8], begins: bool) -> io::Result<u64> {
        let path = self.data(key);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(begins).mode(0o600);
        let file = options.open(&path).or_else(|error| match (error.kind(), path.parent()) {
            (io::ErrorKind::NotFound, Some(directory)) => {
                DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
                options.open(&path)
            }
            _ => Err(error),
        })?;
        file.write_all_at(data, offset)?;
        Ok(file.metadata()?.blocks() * 512)
    }

    fn punch(&self, key: &NodeKey, ranges: &[Range<u64>]) -> io::Result<u64> {
        let file = OpenOptions::new().write(true).open(self.data(key))?;
        for range in ranges {
            let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            fallocate(&file, how, range.start, range.end - range.start)?;
        }
        Ok(file.metadata()?.blocks() * 512)
    }

    fn remove(&self, key: &NodeKey) -> io::Result<()> {
        match fs::remove_file(self.data(key)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            outcome => outcome,
        }
    }

    fn sweep(&self, is_known: &dyn Fn(&NodeKey) -> bool) -> io::Result<()> {
        remove_all(&self.path.join(OLD))?;
        let Some(directories) = listed(&self.path.join(DATA))? else { return Ok(()) };
        for directory in directories {
            for file in listed(&directory?.path())?.into_iter().flatten() {
                let file = file?;
                let name = file.file_name();
                let number = name.to_str().and_then(|name| u128::from_str_radix(name, 16).ok());
                if !number.is_some_and(|number| is_known(&NodeKey::new(number.to_be_bytes()))) {
                    fs::remove_file(file.path())?;
                }
            }
        }
        Ok(())
    }

    fn space(&self) -> io::Result<DiskSpace> {
        let disk = statvfs(&self.path)?;
        let available = disk.f_bavail * disk.f_frsize;
        let total = (disk.f_blocks - disk.f_bfree) * disk.f_frsize + available;
        Ok(DiskSpace { total, available, index: self.database()?.allocated()? })
    }
}

/// Begins a cache: whatever another one left is dropped. Gives its secret.
fn begin(path: &Path, about: &mut File) -> io::Result<[u8; 16]> {
    remove_all(&path.join(INDEX))?;
    set_aside_data(path)?;
    let half = || RandomState::new().hash_one(std::process::id());
    let secret = (u128::from(half()) << 64 | u128::from(half())).to_be_bytes();
    about.set_len(0)?;
    about.write_all_at(
        format!("{FORMAT}\n{}\n{:032x}\n", this_host(), u128::from_be_bytes(secret)).as_bytes(),
        0,
    )?;
    about.flush()?;
    Ok(secret)
}

/// The secret of a cache of this format that this host made.
fn secret_of(about: &str) -> Option<[u8; 16]> {
    let mut lines = about.lines();
    let is_ours = lines.next() == Some(FORMAT) && lines.next() == Some(this_host().as_str());
    let secret = lines.next().filter(|_| is_ours)?;
    Some(u128::from_str_radix(secret, 16).ok()?.to_be_bytes())
}

/// The identity of this host: its machine id, or else its name.
pub fn this_host() -> String {
    let known = ["/etc/machine-id", "/proc/sys/kernel/hostname"].iter();
    let known = known.filter_map(|file| fs::read_to_string(file).ok()).map(|text| text.trim().to_owned());
    known.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
}

/// Data of files goes where the sweep removes it, which may take long.
fn set_aside_data(path: &Path) -> io::Result<()> {
    remove_all(&path.join(OLD))?;
    match fs::rename(path.join(DATA), path.join(OLD)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn remove_all(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(path),
        outcome => outcome,
    }
}

fn listed(path: &Path) -> io::Result<Option<fs::ReadDir>> {
    match fs::read_dir(path) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        outcome => outcome.map(Some),
    }
}

/// Whether a disk refuses what a damaged index needs, too.
fn is_unusable(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), PermissionDenied | QuotaExceeded | ReadOnlyFilesystem | StorageFull)
}
