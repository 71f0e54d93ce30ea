//! What tests of the cache on disk have in common: a server that is counted, a cache in a directory, and a disk that fails.

#![allow(dead_code, reason = "each test file needs a part of it")]

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use howdah_layers::{
    CacheDirectory, CacheStorage, DiskCache, DiskCacheOptions, DiskSpace, IndexChange, NodeKey,
};
use howdah_vfs::layer::{Call, Metered};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Access, Caller, Change, Content, Create, CreateFile, Data, FileSystem, Handle, Name, NewAttributes,
    ReadFile, Stability, WriteFile,
};
use parking_lot::{Condvar, Mutex};

pub const ROOT: Caller = Caller::ROOT;
/// Long enough for a busy machine.
pub const LONG: Duration = Duration::from_secs(60);

pub fn server() -> Arc<Metered> {
    Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::new(|| Duration::ZERO)))
}

/// A cache whose disk is waited for, however busy the machine is.
pub fn options(size: u64) -> DiskCacheOptions {
    DiskCacheOptions { patience: LONG, hangs_after: LONG, ..DiskCacheOptions::new(size, "server:/export") }
}

/// Half empty, however full the disk of this machine is.
pub fn storage(directory: &Path) -> Arc<dyn CacheStorage> {
    Unsteady::around(Arc::new(CacheDirectory::open(directory).expect("a cache")))
}

/// A cache whose index has been read.
pub fn cache_on(
    server: &Arc<Metered>,
    storage: Arc<dyn CacheStorage>,
    options: DiskCacheOptions,
) -> DiskCache {
    let cache = DiskCache::around(Arc::clone(server) as _, storage, options);
    assert!(cache.settled(LONG), "{:?}", cache.report());
    cache
}

pub fn cache(server: &Arc<Metered>, directory: &Path) -> DiskCache {
    cache_on(server, storage(directory), options(1 << 30))
}

/// Bytes that show where they are.
pub fn content(seed: u64, length: usize) -> Vec<u8> {
    howdah_random::Random::new(seed).bytes(length)
}

pub fn make(fs: &dyn FileSystem, name: &str, content: &[u8]) -> Handle {
    let how = Create::Unchecked(NewAttributes::with_mode(0o644));
    let name = Name::parse(name.as_bytes()).expect("a name");
    let top = fs.root();
    let create = CreateFile::new(&top, name, &how);
    let node = fs.create(&ROOT, create, &mut Change::default()).expect("made").handle;
    write(fs, &node, 0, content);
    node
}

pub fn write(fs: &dyn FileSystem, node: &Handle, offset: u64, data: &[u8]) {
    let data = Data::Shared(data.to_vec().into());
    let write = WriteFile::new(node, offset, data, Stability::Unstable);
    fs.write(&ROOT, write, &mut Change::default()).expect("written");
}

/// Reads as who opens the file first.
pub fn open_and_read(fs: &dyn FileSystem, node: &Handle, offset: u64, count: usize) -> Vec<u8> {
    fs.access(&ROOT, node, Access::ALL).expect("opened");
    read(fs, node, offset, count)
}

pub fn read(fs: &dyn FileSystem, node: &Handle, offset: u64, count: usize) -> Vec<u8> {
    let mut buffer = Vec::new();
    let read = fs.read(&ROOT, ReadFile::new(node, offset, count), &mut buffer).expect("read");
    match read.content {
        Content::Bytes(bytes) => bytes.to_vec(),
        _ => buffer,
    }
}

pub fn calls(server: &Metered, call: Call) -> u64 {
    server.snapshot().of(call).count
}

/// A disk of which a test decides when it fails and when it hangs.
pub struct Unsteady {
    inner: Arc<dyn CacheStorage>,
    mood: Mutex<Mood>,
    changed: Condvar,
}

/// What a disk does.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub enum Mood {
    #[default]
    Well,
    /// Nothing more fits.
    Full,
    /// Less than 5 % are free, by what others wrote.
    Tight,
    /// Every call but that for the index fails.
    Broken,
    /// No call returns.
    Hangs,
}

impl Unsteady {
    pub fn around(inner: Arc<dyn CacheStorage>) -> Arc<Self> {
        Arc::new(Self { inner, mood: Mutex::default(), changed: Condvar::new() })
    }

    pub fn set(&self, mood: Mood) {
        *self.mood.lock() = mood;
        self.changed.notify_all();
    }

    fn look(&self, adds: bool) -> io::Result<()> {
        let mut mood = self.mood.lock();
        while *mood == Mood::Hangs {
            self.changed.wait(&mut mood);
        }
        match *mood {
            Mood::Full if adds => Err(io::ErrorKind::StorageFull.into()),
            Mood::Broken => Err(io::Error::other("broken")),
            _ => Ok(()),
        }
    }
}

impl CacheStorage for Unsteady {
    fn secret(&self) -> [u8; 16] {
        self.inner.secret()
    }

    fn load(&self, sink: &mut dyn FnMut(NodeKey, &[u8])) -> io::Result<()> {
        self.inner.load(sink)
    }

    fn commit(&self, changes: &[IndexChange]) -> io::Result<()> {
        self.look(true)?;
        self.inner.commit(changes)
    }

    fn read_small(&self, key: &NodeKey) -> io::Result<Vec<u8>> {
        self.look(false)?;
        self.inner.read_small(key)
    }

    fn read(&self, key: &NodeKey, offset: u64, length: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
        self.look(false)?;
        self.inner.read(key, offset, length, buffer)
    }

    fn write(&self, key: &NodeKey, offset: u64, data: &[u8], begins: bool) -> io::Result<u64> {
        self.look(true)?;
        self.inner.write(key, offset, data, begins)
    }

    fn punch(&self, key: &NodeKey, ranges: &[Range<u64>]) -> io::Result<u64> {
        self.look(false)?;
        self.inner.punch(key, ranges)
    }

    fn remove(&self, key: &NodeKey) -> io::Result<()> {
        self.look(false)?;
        self.inner.remove(key)
    }

    fn sweep(&self, is_known: &dyn Fn(&NodeKey) -> bool) -> io::Result<()> {
        self.inner.sweep(is_known)
    }

    fn space(&self) -> io::Result<DiskSpace> {
        self.look(false)?;
        let (available, index) = match *self.mood.lock() {
            Mood::Tight => (4 << 30, 0),
            _ => (50 << 30, self.inner.space()?.index),
        };
        Ok(DiskSpace { total: 100 << 30, available, index })
    }
}
