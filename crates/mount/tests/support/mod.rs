//! A file system that is mounted for a test.

#![allow(dead_code, reason = "each test program uses some of it")]
#![allow(clippy::print_stdout)] // A test that is skipped says why.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use howdah_layers::{Cached, CachingOptions};
use howdah_mount::{Closed, Consistency, FuseMount, MountOptions, Plain, mount};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Attributes, Caller, Change, FileSystem, Handle, ReadOutcome, Result};
use tempfile::TempDir;

/// What opening and closing mean over caches, as the command has it.
struct CloseToOpen(Arc<Cached>);

impl Consistency for CloseToOpen {
    fn opened(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.0.opened(caller, node)
    }

    fn closed(&self, caller: &Caller, node: &Handle) -> Result<Closed> {
        let mut change = Change::default();
        let verifier = self.0.commit(caller, node, 0, 0, &mut change)?.verifier;
        Ok(Closed { verifier, after: change.after })
    }

    fn sent(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.0.sent(caller, node)
    }

    fn read_now(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        count: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        self.0.read_now(caller, node, offset, count, buffer)
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
        let cached = Arc::new(Cached::around(server, CachingOptions::default()));
        let consistency = Arc::new(CloseToOpen(Arc::clone(&cached)));
        Self::mounted_with(cached, consistency, &MountOptions::default())
    }

    fn mounted_with(
        file_system: Arc<dyn FileSystem>,
        consistency: Arc<dyn Consistency>,
        options: &MountOptions,
    ) -> Option<Self> {
        if let Err(error) = fs::OpenOptions::new().read(true).write(true).open("/dev/fuse") {
            println!("skipped: /dev/fuse: {error}");
            return None;
        }
        if !rustix::process::geteuid().is_root() {
            println!("skipped: mounting takes root");
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

    /// Takes it away; nothing may use it.
    pub fn unmount(mut self) {
        self.mounted.take().expect("mounted").unmount().expect("unmounted");
    }
}
