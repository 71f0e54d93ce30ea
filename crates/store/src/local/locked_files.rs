//! The open files that hold locks of NFS clients.
//!
//! One open file description per file holds what all NFS clients together have locked: locks of one description never exclude each
//! other, and end with it. So it lives beside the cache of nodes, which closes what it likes.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use howdah_vfs::Handle;
use parking_lot::Mutex;

/// File systems (`statfs.f_type`) that ask another host or process for each lock. That may take long, and all clients' locks would
/// wait for it; and on a head of a cluster that lost its address, locks would be in the way of those who reclaim them elsewhere. FUSE, NFS,
/// CIFS and SMB, Ceph, 9P, Lustre, GFS2, OCFS2, AFS, GPFS, BeeGFS.
const REMOTE: [u64; 12] = [
    0x6573_5546,
    0x6969,
    0xff53_4d42,
    0xfe53_4d42,
    0x00c3_6400,
    0x0102_1997,
    0x0bd0_0bd0,
    0x0116_1970,
    0x7461_636f,
    0x5346_414f,
    0x4750_4653,
    0x1983_0326,
];

/// The descriptors that hold locks.
pub(super) struct LockedFiles {
    files: Mutex<HashMap<Handle, Arc<OwnedFd>>>,
    /// How many there may be.
    most: usize,
    /// Whether the kernel keeps locks of this file system by itself.
    is_local: bool,
}

impl LockedFiles {
    /// None yet. `kind`: the file system's `f_type`.
    pub(super) fn new(most: usize, kind: u64) -> Self {
        Self { files: Mutex::default(), most, is_local: !REMOTE.contains(&kind) }
    }

    /// Whether the kernel keeps locks of this file system by itself.
    pub(super) fn is_local(&self) -> bool {
        self.is_local
    }

    /// The descriptor that holds locks of a file.
    pub(super) fn get(&self, node: &Handle) -> Option<Arc<OwnedFd>> {
        self.files.lock().get(node).cloned()
    }

    /// Keeps a descriptor for a file, or gives the one that is there; `None` if there are too many.
    pub(super) fn keep(&self, node: &Handle, file: OwnedFd) -> Option<Arc<OwnedFd>> {
        let mut files = self.files.lock();
        let has_room = files.len() < self.most;
        match files.entry(*node) {
            Entry::Occupied(there) => Some(Arc::clone(there.get())),
            Entry::Vacant(place) => has_room.then(|| Arc::clone(place.insert(Arc::new(file)))),
        }
    }

    /// Takes the descriptor of a file out.
    pub(super) fn remove(&self, node: &Handle) -> Option<Arc<OwnedFd>> {
        self.files.lock().remove(node)
    }
}
