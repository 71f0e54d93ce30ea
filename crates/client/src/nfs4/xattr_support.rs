//! Which file systems of a mount have extended attributes: each is asked once, when somebody wants to know.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_vfs::Handle;
use parking_lot::Mutex;

/// File systems that are remembered. Those met later are not asked.
const FILE_SYSTEMS_MAX: usize = 1024;

/// What is known of the file systems that were met, the root's among them.
pub(super) struct XattrSupport {
    root: u64,
    /// One has them. Others refuse for themselves.
    is_found: AtomicBool,
    met: Mutex<Met>,
}

struct Met {
    file_systems: HashSet<u64>,
    /// A node of each that is yet to be asked.
    unasked: Vec<Handle>,
}

impl XattrSupport {
    /// Only the root's file system was met.
    pub(super) fn new(root: Handle, file_system: u64) -> Self {
        let met = Met { file_systems: HashSet::from([file_system]), unasked: vec![root] };
        Self { root: file_system, is_found: AtomicBool::new(false), met: Mutex::new(met) }
    }

    /// Notes a node: it may be the first one of its file system.
    pub(super) fn meet(&self, node: Handle, file_system: u64) {
        if file_system == self.root || self.is_found.load(Ordering::Relaxed) {
            return;
        }
        let mut met = self.met.lock();
        if met.file_systems.len() < FILE_SYSTEMS_MAX && met.file_systems.insert(file_system) {
            met.unasked.push(node);
        }
    }

    /// Whether one of them has extended attributes. `ask`: what the server says of a node; one that does not answer may have them.
    pub(super) fn is_there(&self, ask: impl Fn(&Handle) -> Option<bool>) -> bool {
        while !self.is_found.load(Ordering::Relaxed) {
            let Some(node) = self.met.lock().unasked.pop() else { return false };
            match ask(&node) {
                Some(true) => self.is_found.store(true, Ordering::Relaxed),
                Some(false) => {}
                None => {
                    self.met.lock().unasked.push(node);
                    return true;
                }
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u8) -> Handle {
        Handle::new(&[number]).expect("short")
    }

    #[test]
    fn each_file_system_is_asked_once_until_one_has_them() {
        let support = XattrSupport::new(node(1), 1);
        assert!(support.is_there(|_| None), "no answer");
        assert!(!support.is_there(|_| Some(false)));
        for file_system in [1, 2, 2] {
            support.meet(node(file_system), file_system.into());
        }
        let asked = Mutex::new(Vec::new());
        let ask = |asked_node: &Handle| {
            asked.lock().push(*asked_node);
            Some(*asked_node == node(3))
        };
        assert!(!support.is_there(ask));
        support.meet(node(3), 3);
        assert!(support.is_there(ask) && support.is_there(ask));
        assert_eq!(*asked.lock(), [2, 3].map(node));
    }
}
