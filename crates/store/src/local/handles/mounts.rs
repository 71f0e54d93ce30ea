//! What is mounted inside the export, for exports that cross mounts: each file system beside the root's has a mark,
//! which stands in the handles of its nodes, and a way in, which opens them.
//!
//! The mark is made from the number that the file system calls itself by, so it is the same after a restart. Copies of
//! a file system, such as snapshots, go by one number, and a handle of the one would lead into the other: the one that
//! has the mark keeps it for as long as it is mounted, and the others are refused. Ways in are let go when they were
//! not used for a while, so that what nobody uses can be unmounted.

use std::collections::{HashMap, HashSet};
use std::hash::Hasher;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use howdah_vfs::{FsError, Result};
use parking_lot::Mutex;
use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::Errno;
use siphasher::sip::SipHasher13;

use super::super::errno::refusal;
use super::super::file_system_number::file_system_number;
use super::super::identity::Identity;
use super::super::tree::Tree;
use super::mountinfo::{Mount, copies_before, mounts_inside};

/// Where the kernel lists what is mounted.
const MOUNTS: &str = "/proc/self/mountinfo";

/// Ticks (seconds) after which an unused way in is let go.
const AGE: u32 = 60;

/// The file systems mounted inside the export.
#[derive(Debug)]
pub(in super::super) struct Mounts {
    tree: Weak<Tree>,
    export: PathBuf,
    /// [`MOUNTS`].
    told_in: PathBuf,
    met: Mutex<Met>,
    /// See [`Self::bound`]; until the next tick.
    bound: Mutex<Option<Arc<[u64]>>>,
    /// We said that two of them go by one number.
    has_met_twins: AtomicBool,
}

#[derive(Debug, Default)]
struct Met {
    /// Those that have a mark, by it.
    entered: HashMap<u32, Entered>,
    /// Devices that were refused since the last tick, lest each of their nodes costs a look at all mounts.
    refused: HashSet<u64>,
}

/// A file system that has a mark.
#[derive(Debug)]
struct Entered {
    device: u64,
    /// While it is open, the kernel gives the device's number to no other file system.
    way: Option<Arc<OwnedFd>>,
    age: u32,
}

impl Mounts {
    /// The mounts inside the tree, which was opened at `export`.
    pub(in super::super) fn new(tree: &Arc<Tree>, export: &Path) -> Self {
        let export = export.canonicalize().unwrap_or_else(|_| export.to_owned());
        Self {
            tree: Arc::downgrade(tree),
            export,
            told_in: PathBuf::from(MOUNTS),
            met: Mutex::default(),
            bound: Mutex::default(),
            has_met_twins: AtomicBool::new(false),
        }
    }

    /// The mark of the file system that an open node lies on.
    pub(in super::super) fn mark_of(&self, node: BorrowedFd<'_>, device: u64) -> Result<u32> {
        match self.warm_mark(device)? {
            Some(mark) => Ok(mark),
            None => Identity::as_root(|| self.cold_mark(node, device))?,
        }
    }

    /// The mark of a device, if its way is open.
    fn warm_mark(&self, device: u64) -> Result<Option<u32>> {
        let mut met = self.met.lock();
        if let Some((&mark, entered)) =
            met.entered.iter_mut().find(|(_, entered)| entered.is_way_into(device))
        {
            entered.age = 0;
            return Ok(Some(mark));
        }
        if met.refused.contains(&device) { Err(FsError::AccessDenied) } else { Ok(None) }
    }

    #[cold]
    fn cold_mark(&self, node: BorrowedFd<'_>, device: u64) -> Result<u32> {
        let mark = mark_on(node, device);
        if self.has_mark(device, mark) {
            // What is no mount of its own, such as a subvolume, is entered from a node alone. Without a way the mark is
            // right all the same.
            let _ = self.enter(node, device, mark);
            return Ok(mark);
        }
        // Those that may be copies of it, in order: then the same one of them has the mark after a restart, whichever is
        // asked for first. Of others one may hang, as that of a server that is gone.
        let looked = self.listed().and_then(|listed| self.enter_all(copies_before(listed, device)));
        if self.has_mark(device, mark) {
            return Ok(mark);
        }
        let entered = looked.and_then(|()| self.enter(node, device, mark));
        if entered == Err(FsError::AccessDenied) {
            self.met.lock().refused.insert(device);
        }
        entered.map(|()| mark)
    }

    fn has_mark(&self, device: u64, mark: u32) -> bool {
        self.met.lock().entered.get(&mark).is_some_and(|entered| entered.device == device)
    }

    /// The way into the file system with this mark.
    pub(in super::super) fn way_into(&self, mark: u32) -> Result<Arc<OwnedFd>> {
        if let Some(way) = self.known_way(mark) {
            return Ok(way);
        }
        let looked = Identity::as_root(|| self.enter_all(self.listed()?))?;
        // Not gone, as far as we know, if we could not look.
        self.known_way(mark).ok_or(looked.err().unwrap_or(FsError::Stale))
    }

    fn known_way(&self, mark: u32) -> Option<Arc<OwnedFd>> {
        let mut met = self.met.lock();
        let entered = met.entered.get_mut(&mark)?;
        entered.age = 0;
        entered.way.clone()
    }

    /// One second has passed: lets go of what nobody used.
    pub(in super::super) fn tick(&self) {
        *self.bound.lock() = None;
        let mut met = self.met.lock();
        met.refused.clear();
        for entered in met.entered.values_mut().filter(|entered| entered.way.is_some()) {
            entered.age += 1;
            if entered.age > AGE {
                entered.way = None;
            }
        }
    }

    /// Opens the way into a file system from one of its nodes.
    fn enter(&self, node: BorrowedFd<'_>, device: u64, mark: u32) -> Result<()> {
        let tree = self.tree.upgrade().ok_or(FsError::ServerFault)?;
        let flags = match FileType::from_raw_mode(fstat(node).map_err(refusal)?.st_mode) {
            FileType::Directory => OFlags::RDONLY | OFlags::DIRECTORY,
            // A lease of a local process would keep the open waiting for 45 s.
            FileType::RegularFile => OFlags::RDONLY | OFlags::NONBLOCK,
            // What cannot be opened without side effects is no way in: the root of its file system is.
            _ => return Err(FsError::AccessDenied),
        };
        let way = Arc::new(tree.reopen(node, flags).map_err(refusal)?);
        let mut gone = None;
        while let Some(other) = self.take(mark, device, &way, gone) {
            if self.listed()?.iter().any(|mount| mount.device == other) {
                if !self.has_met_twins.swap(true, Ordering::Relaxed) {
                    let export = self.export.display();
                    tracing::warn!(%export, "of two file systems mounted in it that go by one number (copies) only one is served");
                }
                return Err(FsError::AccessDenied);
            }
            gone = Some(other);
        }
        Ok(())
    }

    /// Gives the mark to a device, unless it is that of another, which is returned. It can be taken from one that is gone.
    fn take(&self, mark: u32, device: u64, way: &Arc<OwnedFd>, gone: Option<u64>) -> Option<u64> {
        let mut met = self.met.lock();
        let other = met.entered.get(&mark).map(|entered| entered.device);
        if let Some(other) = other.filter(|&other| other != device && gone != Some(other)) {
            return Some(other);
        }
        // The number of a device that is gone is used again.
        met.entered.retain(|_, entered| entered.device != device);
        met.refused.remove(&device);
        met.entered.insert(mark, Entered { device, way: Some(Arc::clone(way)), age: 0 });
        None
    }

    /// What is mounted inside the export now.
    fn listed(&self) -> Result<Vec<Mount>> {
        let text = std::fs::read(&self.told_in)
            .map_err(|error| refusal(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
        Ok(mounts_inside(&self.export, &text))
    }

    /// Enters what is mounted there. What cannot be entered is left out. Refused if something was left out for want of
    /// descriptors or the like.
    fn enter_all(&self, mounts: Vec<Mount>) -> Result<()> {
        let mut outcome = Ok(());
        for mount in mounts {
            if let Err(FsError::Delay) = self.enter_point(&mount.point) {
                outcome = Err(FsError::Delay);
            }
        }
        outcome
    }

    fn enter_point(&self, point: &Path) -> Result<()> {
        let tree = self.tree.upgrade().ok_or(FsError::ServerFault)?;
        let (point, flags) = (point.as_os_str().as_bytes(), OFlags::PATH | OFlags::CLOEXEC);
        let opened = tree.open_beneath(tree.root(), point, flags).map_err(refusal)?;
        #[allow(clippy::unnecessary_cast)] // the type of the field differs between architectures
        let device = fstat(&opened).map_err(refusal)?.st_dev as u64;
        // The root's file system has no mark.
        if device == tree.device || self.is_entered(device) {
            return Ok(());
        }
        self.enter(opened.as_fd(), device, mark_on(opened.as_fd(), device))
    }

    /// The directories of the root's own file system that are mounted inside, by their file numbers: bind mounts. None of those whose
    /// file system has several devices (btrfs).
    pub(in super::super) fn bound(&self) -> Arc<[u64]> {
        let known = self.bound.lock().clone();
        known.unwrap_or_else(|| {
            let found = Identity::as_root(|| self.find_bound()).unwrap_or_default();
            Arc::clone(self.bound.lock().insert(found))
        })
    }

    fn find_bound(&self) -> Arc<[u64]> {
        let Some(tree) = self.tree.upgrade() else { return Arc::default() };
        let on_root =
            self.listed().unwrap_or_default().into_iter().filter(|mount| mount.device == tree.device);
        let points = on_root.map(|mount| mount.point).filter(|point| !point.as_os_str().is_empty());
        let number = |point: PathBuf| {
            let flags = OFlags::PATH | OFlags::CLOEXEC;
            let opened = tree.open_beneath(tree.root(), point.as_os_str().as_bytes(), flags).ok()?;
            let stat = fstat(&opened).ok()?;
            #[allow(clippy::unnecessary_cast)] // the type of the field differs between architectures
            let is_on_root = stat.st_dev as u64 == tree.device;
            is_on_root.then_some(stat.st_ino)
        };
        points.filter_map(number).collect()
    }

    fn is_entered(&self, device: u64) -> bool {
        self.met.lock().entered.values().any(|entered| entered.is_way_into(device))
    }
}

impl Entered {
    fn is_way_into(&self, device: u64) -> bool {
        self.device == device && self.way.is_some()
    }
}

/// The mark of the file system that an open node lies on.
fn mark_on(node: BorrowedFd<'_>, device: u64) -> u32 {
    let mut hasher = SipHasher13::new();
    hasher.write_u64(file_system_number(node).unwrap_or(device));
    hasher.finish() as u32
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode, mknodat, openat};
    use tempfile::TempDir;

    use super::super::super::tree::LOOK;
    use super::*;

    /// Devices that no file system here has.
    const HOME: u64 = 1 << 50;
    const ONE: u64 = HOME + 1;
    const OTHER: u64 = HOME + 2;

    /// A directory, a pipe and a link, which seem to be mounted in an export.
    struct Export {
        tree: Arc<Tree>,
        mounts: Mounts,
        /// The device on which they really lie.
        device: u64,
        _place: TempDir,
    }

    impl Export {
        fn new() -> Self {
            let place = tempfile::tempdir().expect("a directory");
            let path = place.path();
            std::fs::create_dir(path.join("directory")).expect("a directory in it");
            symlink("anywhere", path.join("link")).expect("a link");
            mknodat(CWD, path.join("pipe"), FileType::Fifo, Mode::RWXU, 0).expect("a pipe");
            let mut tree = Tree::open(path, true).expect("it opens");
            let device = std::mem::replace(&mut tree.device, HOME);
            let tree = Arc::new(tree);
            let mut mounts = Mounts::new(&tree, path);
            mounts.told_in = path.join("told");
            std::fs::write(&mounts.told_in, "").expect("writes");
            Self { tree, mounts, device, _place: place }
        }

        /// Makes the kernel's list say that these devices are mounted there.
        fn tell(&self, mounts: &[(u64, &str)]) {
            let line = |&(device, point): &(u64, &str)| {
                let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
                format!("1 1 {major}:{minor} / {}/{point} rw - any any rw\n", self.mounts.export.display())
            };
            let text: String = mounts.iter().map(line).collect();
            std::fs::write(&self.mounts.told_in, text).expect("writes");
        }

        /// The mark of a node that seems to lie on that device.
        fn mark_of(&self, name: &str, device: u64) -> Result<u32> {
            let node = openat(self.tree.root(), name, LOOK, Mode::empty()).expect("it is there");
            self.mounts.mark_of(node.as_fd(), device)
        }

        fn let_time_pass(&self) {
            (0..=AGE).for_each(|_| self.mounts.tick());
            let met = self.mounts.met.lock();
            assert!(met.entered.values().all(|entered| entered.way.is_none()), "nobody used it");
        }
    }

    #[test]
    fn a_pipe_that_is_mounted_alone_is_refused() {
        let export = Export::new();
        export.tell(&[(export.device, "pipe")]);
        assert_eq!(export.mark_of("pipe", export.device), Err(FsError::AccessDenied));
        // Once its file system has a way in it is a node like others.
        export.tell(&[(export.device, "pipe"), (export.device, "directory")]);
        export.mounts.tick();
        assert!(export.mark_of("pipe", export.device).is_ok());
    }

    #[test]
    fn a_symbolic_link_is_met_where_no_directory_of_its_file_system_was() {
        let export = Export::new();
        export.tell(&[(export.device, "directory")]);
        let mark = export.mark_of("link", export.device).expect("it has a mount point");
        export.let_time_pass();
        assert!(export.mounts.way_into(mark).is_ok());
        export.let_time_pass();
        assert_eq!(export.mark_of("link", export.device), Ok(mark));
    }

    #[test]
    fn what_has_no_mount_point_is_entered_from_its_nodes() {
        let export = Export::new();
        let mark = export.mark_of("directory", ONE).expect("a directory");
        export.let_time_pass();
        assert_eq!(export.mounts.way_into(mark).err(), Some(FsError::Stale));
        assert_eq!(export.mark_of("directory", ONE), Ok(mark));
        assert!(export.mounts.way_into(mark).is_ok());
    }

    #[test]
    fn of_two_file_systems_that_go_by_one_number_one_is_entered_as_long_as_it_is_mounted() {
        let export = Export::new();
        let mark = export.mark_of("directory", ONE).expect("a directory");
        export.tell(&[(ONE, "one"), (OTHER, "other")]);
        for _ in 0..2 {
            assert_eq!(export.mark_of("directory", OTHER), Err(FsError::AccessDenied));
            export.let_time_pass();
        }
        assert_eq!(export.mark_of("directory", ONE), Ok(mark));
        // The same device mounted anew, or its copy, as another device.
        export.tell(&[(OTHER, "other")]);
        export.let_time_pass();
        assert_eq!(export.mark_of("directory", OTHER), Ok(mark));
        export.tell(&[(ONE, "one"), (OTHER, "other")]);
        assert_eq!(export.mark_of("directory", ONE), Err(FsError::AccessDenied));
    }

    #[test]
    fn of_two_file_systems_that_go_by_one_number_the_first_is_entered_whichever_is_met_first() {
        let export = Export::new();
        export.tell(&[(export.device, "directory"), (OTHER, "other")]);
        assert_eq!(export.mark_of("directory", OTHER), Err(FsError::AccessDenied));
        assert!(export.mark_of("directory", export.device).is_ok());
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_not_gone() {
        let mut export = Export::new();
        let mark = export.mark_of("directory", ONE).expect("a directory");
        export.let_time_pass();
        // A directory cannot be read.
        export.mounts.told_in.pop();
        assert_eq!(export.mounts.way_into(mark).err(), Some(FsError::IsDirectory));
        assert_eq!(export.mark_of("directory", OTHER), Err(FsError::IsDirectory));
        assert_eq!(export.mark_of("directory", ONE), Ok(mark));
    }

    #[test]
    fn a_number_that_is_used_again_is_not_that_of_the_first_any_more() {
        let export = Export::new();
        let mark = export.mark_of("directory", ONE).expect("a directory");
        export.let_time_pass();
        let node = openat(CWD, "/proc", LOOK, Mode::empty()).expect("it is there");
        assert_ne!(export.mounts.mark_of(node.as_fd(), ONE), Ok(mark));
        assert_eq!(export.mounts.way_into(mark).err(), Some(FsError::Stale));
    }
}
