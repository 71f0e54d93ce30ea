//! A file system that is mounted for a test.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use howdah_layers::{AttributeCacheOptions, BehindOptions, Cached, CachingOptions, NamesBehind};
use howdah_mount::{FuseMount, MountOptions, Plain, mount};
use howdah_needs::{Lack, skipped};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Consistency, ExtendedAttributes, FileSystem, RangeOperations, Result};
use tempfile::TempDir;

/// No program keeps a mount busy for so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A file system without the optional groups of calls, as by NFSv3.
#[derive(Default)]
pub struct Bare(MemoryFileSystem);

impl Layer for Bare {
    fn inner(&self) -> &dyn FileSystem {
        &self.0
    }

    fn ranges(&self) -> Option<&dyn RangeOperations> {
        None
    }

    fn xattrs(&self) -> Option<&dyn ExtendedAttributes> {
        None
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.0)
    }
}

/// A mount, taken away when the test is over.
pub struct Mount {
    mounted: Option<FuseMount>,
    home: TempDir,
}

impl Mount {
    /// Mounts a file system; none, and it says why, where FUSE cannot be used.
    pub fn of(file_system: Arc<dyn FileSystem>) -> Option<Self> {
        Self::with(file_system, &MountOptions::default())
    }

    /// The same with options.
    pub fn with(file_system: Arc<dyn FileSystem>, options: &MountOptions) -> Option<Self> {
        let consistency = Arc::new(Plain(Arc::clone(&file_system)));
        Self::mounted_with(file_system, consistency, options)
    }

    /// The same with all caches.
    pub fn of_cached(server: Arc<dyn FileSystem>) -> Option<Self> {
        Self::cached_with(server, &MountOptions::default())
    }

    /// The same where nobody else changes the tree, and the caches.
    pub fn alone(server: Arc<dyn FileSystem>, options: &MountOptions) -> Option<(Self, Arc<Cached>)> {
        let attributes = AttributeCacheOptions::alone();
        let cached = Cached::around(server, CachingOptions { attributes, ..CachingOptions::default() });
        let (cached, options) = (Arc::new(cached), MountOptions { alone: true, ..options.clone() });
        let mount = Self::mounted_with(Arc::clone(&cached) as _, Arc::clone(&cached) as _, &options)?;
        Some((mount, cached))
    }

    /// The same with options.
    pub fn cached_with(server: Arc<dyn FileSystem>, options: &MountOptions) -> Option<Self> {
        let cached = Arc::new(Cached::around(server, CachingOptions::default()));
        Self::mounted_with(Arc::clone(&cached) as _, cached, options)
    }

    /// The same with names written behind, and the layer.
    pub fn behind(server: Arc<dyn FileSystem>) -> Option<(Self, Arc<NamesBehind>)> {
        let cached = Arc::new(Cached::around(server, CachingOptions::default()));
        let start = Instant::now();
        let stopwatch = Arc::new(move || start.elapsed());
        let files = NamesBehind::around(
            Arc::clone(&cached) as _,
            cached,
            BehindOptions::default(),
            [7; 16],
            stopwatch,
        );
        let files = Arc::new(files.expect("threads"));
        let mount =
            Self::mounted_with(Arc::clone(&files) as _, Arc::clone(&files) as _, &MountOptions::default())?;
        Some((mount, files))
    }

    fn mounted_with(
        file_system: Arc<dyn FileSystem>,
        consistency: Arc<dyn Consistency>,
        options: &MountOptions,
    ) -> Option<Self> {
        if let Err(error) = fs::OpenOptions::new().read(true).write(true).open("/dev/fuse") {
            skipped(Lack::Fuse, format_args!("/dev/fuse: {error}"));
            return None;
        }
        if !rustix::process::geteuid().is_root() {
            skipped(Lack::Root, "mounting takes root");
            return None;
        }
        let home = tempfile::tempdir().expect("a directory");
        let mounted = mount(file_system, consistency, home.path(), options).expect("mounted");
        Some(Self { mounted: Some(mounted), home })
    }

    /// An empty file system in memory, mounted.
    pub fn of_memory() -> Option<Self> {
        Self::of(Arc::new(MemoryFileSystem::new()))
    }

    /// A path in it.
    pub fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.home.path()
    }

    /// The mount itself.
    pub fn mounted(&self) -> &FuseMount {
        self.mounted.as_ref().expect("mounted")
    }

    /// The names in a directory, sorted.
    pub fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.at(directory)).expect("listed");
        let name = |entry: std::io::Result<fs::DirEntry>| {
            entry.expect("an entry").file_name().into_string().expect("text")
        };
        let mut names: Vec<String> = entries.map(name).collect();
        names.sort();
        names
    }

    /// Takes it away; nothing may use it. A program that another test starts has a copy of all open files until it is executed: so a mount
    /// that is busy is waited for.
    pub fn unmount(mut self) {
        let mounted = self.mounted.take().expect("mounted");
        let give_up = Instant::now() + PATIENCE;
        while let Err(error) = howdah_mount::unmount(mounted.directory(), false) {
            let is_busy = error.kind() == ErrorKind::ResourceBusy;
            assert!(is_busy && Instant::now() < give_up, "unmounting: {error}");
            thread::sleep(Duration::from_millis(10));
        }
        mounted.wait();
    }
}
