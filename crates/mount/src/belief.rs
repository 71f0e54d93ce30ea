//! What the kernel believes for ever where nobody else changes the tree, and how that ends.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

use fuser::{INodeNo, Notifier};
use parking_lot::Mutex;

use crate::limits::TOP_NAMES_MAX;
use crate::nodes::ROOT;

/// Longer than any mount.
pub const FOR_EVER: Duration = Duration::from_secs(10 * 365 * 86_400);

/// Whether the kernel believes answers for ever.
pub struct Belief {
    holds: AtomicBool,
    /// Names count for one user only: the kernel would let others pass directories by them.
    keeps_names: bool,
    /// The names of the top directory that the kernel got. It forgets what is below a name with the name.
    top: Mutex<HashSet<Vec<u8>>>,
}

impl Belief {
    /// At the beginning of a mount.
    pub fn new(is_alone: bool, keeps_names: bool) -> Self {
        Self { holds: AtomicBool::new(is_alone), keeps_names, top: Mutex::default() }
    }

    /// Whether it holds now.
    pub fn holds(&self) -> bool {
        self.holds.load(SeqCst)
    }

    /// Whether the kernel may believe for ever the next answer about a name, also that there is none.
    pub fn keeps(&self, parent: u64, name: &[u8]) -> bool {
        if !self.holds() || !self.keeps_names {
            return false;
        }
        if parent != ROOT {
            return true;
        }
        let mut top = self.top.lock();
        if top.contains(name) {
            return true;
        }
        let has_room = top.len() < TOP_NAMES_MAX;
        has_room && top.insert(name.to_vec())
    }

    /// A node gets another name, which the kernel believes for as long as the old one.
    pub fn renamed(&self, parent: u64, name: &[u8]) {
        if self.holds() && self.keeps_names && parent == ROOT {
            self.top.lock().insert(name.to_vec());
        }
    }

    /// It holds no more: the kernel forgets names, and attributes of these nodes. Blocks while a request for the top directory runs, so
    /// that no thread may call this that answers requests.
    pub fn end(&self, notifier: &Notifier, nodes: &[u64]) {
        self.holds.store(false, SeqCst);
        let top = std::mem::take(&mut *self.top.lock());
        let note = |outcome: std::io::Result<()>| {
            if let Err(error) = outcome {
                tracing::debug!(%error, "the kernel did not forget");
            }
        };
        // Once more at the end: an answer that was on its way at the beginning may have come in between.
        for _ in 0..2 {
            top.iter().for_each(|name| note(notifier.inval_entry(INodeNo(ROOT), OsStr::from_bytes(name))));
            // A negative offset leaves pages, which the next open judges.
            nodes.iter().for_each(|&number| note(notifier.inval_inode(INodeNo(number), -1, 0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_the_top_directory_are_bounded() {
        let belief = Belief::new(true, true);
        for number in 0..2 * TOP_NAMES_MAX {
            let is_kept = belief.keeps(ROOT, number.to_string().as_bytes());
            assert_eq!(is_kept, number < TOP_NAMES_MAX);
        }
        assert!(belief.keeps(ROOT, b"0") && belief.keeps(ROOT + 1, b"any"));
        assert!(!Belief::new(true, false).keeps(ROOT + 1, b"any"), "other users may use the mount");
        assert!(!Belief::new(false, true).keeps(ROOT + 1, b"any"));
    }
}
