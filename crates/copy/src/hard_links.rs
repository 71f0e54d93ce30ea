//! Files with several names: the first is copied, the others wait for the copy.

use std::sync::Arc;

use howdah_vfs::{Handle, Node};
use parking_lot::Mutex;

use super::links::{Claim, LinkTable};
use super::stack::Stack;
use super::task::Task;
use super::tasks::{Entry, LinkPart};

/// The names that wait.
pub(super) struct HardLinks {
    table: Mutex<LinkTable<Entry>>,
    stack: Arc<Stack<Task>>,
}

impl HardLinks {
    /// No file is known to have several names.
    pub(super) fn new(stack: Arc<Stack<Task>>) -> Self {
        Self { table: Mutex::new(LinkTable::new()), stack }
    }

    /// What to do with a name of a file that has several. The first one becomes the one that others wait for.
    pub(super) fn claim(&self, entry: Entry, node: &Node) -> Claim<Entry> {
        let key = LinkTable::<Entry>::key(entry.parent.source(), &node.attributes);
        match self.table.lock().claim(key, node.attributes.links, entry) {
            Claim::Copy(first) => Claim::Copy(Entry { part: LinkPart::First(key), ..first }),
            other => other,
        }
    }

    /// A copy is there: the other names of the file can be made.
    pub(super) fn on_copied(&self, entry: &Entry, copy: Handle) {
        if let LinkPart::First(key) = entry.part {
            let waiting = self.table.lock().on_copied(key, copy);
            self.stack.push_all(waiting.into_iter().map(|entry| Task::Link(entry, copy)));
        }
    }

    /// There is no copy: another name of the file is copied in its place.
    pub(super) fn on_not_copied(&self, entry: &Entry) {
        let LinkPart::First(key) = entry.part else { return };
        let next = self.table.lock().on_failed(key);
        if let Some(next) = next {
            self.stack.push(Task::Entry(Entry { part: LinkPart::First(key), looked: None, ..next }));
        }
    }
}
