//! The watch on what other programs of this host change, for a directory.

use std::sync::{Arc, OnceLock};

use howdah_vfs::{FsError, Handle, LocalChangeObserver, LocalChanges, Result, WatchedNode};

use super::LocalFileSystem;
use super::syscall;

impl LocalFileSystem {
    /// Why changes by other programs of this host are not noticed, if they are not.
    pub fn local_changes_obstacle(&self) -> Option<&'static str> {
        if !self.tree.is_usual() {
            return Some("other hosts may change its file system, or it does not report changes");
        }
        (!can_listen()).then_some("the kernel reports no changes to this process (fanotify, Linux 5.13)")
    }
}

/// Whether the kernel tells this process of changes. It is asked once.
fn can_listen() -> bool {
    static CAN: OnceLock<bool> = OnceLock::new();
    *CAN.get_or_init(|| syscall::start_change_events().is_ok())
}

impl LocalChanges for LocalFileSystem {
    fn watch(&self, watched: WatchedNode<'_>, observer: Arc<dyn LocalChangeObserver>) -> Result<()> {
        self.identity.assume_root()?;
        let node = self.node(watched.node)?;
        // Of file systems that are mounted inside, nothing is known.
        if node.device() != Some(self.tree.device) {
            return Err(FsError::NotSupported);
        }
        self.identity.assume_root()?;
        self.local_watch.watch(&self.tree, &node, watched.has_children, observer)
    }

    fn is_watched(&self, node: &Handle) -> bool {
        self.local_watch.has(node)
    }

    fn tidy(&self) {
        let open = |node: &Handle| {
            self.identity.assume_root()?;
            self.node(node)
        };
        self.local_watch.tidy(&self.tree, open);
    }

    fn count(&self) -> usize {
        self.local_watch.count()
    }
}
