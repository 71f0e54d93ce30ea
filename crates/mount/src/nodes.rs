//! The nodes that the kernel knows by number.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use howdah_vfs::{Attributes, Caller, FsError, Handle, Node, Timestamp};
use parking_lot::Mutex;

use crate::held_locks::NodeLocks;
use crate::owned::Owned;
use crate::refused::{Answer, Refused};
use crate::unset::Unset;

/// The root's number, by FUSE.
pub const ROOT: u64 = 1;
/// Numbers from here on are ours; those below are the file system's own.
const OWN: u64 = 1 << 62;
/// The number shown for names whose node is unknown. No node has it.
pub const NOBODY: u64 = OWN - 1;
/// Numbers from here on are for nodes of file systems below that of the mount, whose own numbers may be the same.
const ELSEWHERE: u64 = 1 << 61;

/// A node that the kernel knows.
pub struct KernelNode {
    /// Its number, which is its file number unless another node has that.
    pub number: u64,
    /// Its name below.
    pub handle: Handle,
    /// Open files of it.
    pub opens: AtomicUsize,
    /// Of a directory: how often names were taken from it through this mount.
    pub names_lost: AtomicU64,
    /// What is known of its content.
    pub content: Mutex<Knowledge>,
    /// Held by the one who makes its data durable: others wait for the result.
    pub flushing: Mutex<()>,
    /// Held by the one who sets what is not set yet.
    pub settling: Mutex<()>,
    /// Held by a write to its end.
    pub appending: Mutex<()>,
    /// Who locked something of it at the server.
    pub locks: NodeLocks,
}

/// What is known of the content of a file.
#[derive(Default)]
pub struct Knowledge {
    /// As it was when it was last opened, or closed after writing: pages of then are good while it is still so.
    pub seen: Option<Seen>,
    /// The verifier of data that was written and not made durable.
    pub unstable: Option<[u8; 8]>,
    /// How often data was written that the server need not have yet.
    pub writes: u64,
    /// How many of these writes are in the attributes that the server sent last.
    pub told: u64,
    /// Who wrote that data last, and may commit it.
    pub writer: Option<Caller>,
    /// A server lost data that it had not made durable.
    pub lost: bool,
    /// A failure was reported, and data may still be held: the next flush makes it durable, whatever the verifier was.
    pub again: bool,
    /// How often data could not be made durable, and why it could not be the last time. Each open file reports it once.
    pub failures: u64,
    pub failure: Option<Refused>,
    /// Who made it through this mount and has not closed it yet.
    pub maker: Option<Caller>,
    /// Attributes that were set and that the server has not got yet.
    pub unset: Unset,
    /// Of a directory: its owner and group when its attributes were last set.
    pub owned: Option<Owned>,
    /// The name that it has until it is closed, after it was removed while open.
    pub silly: Option<Silly>,
}

impl Knowledge {
    /// Whether data was written since the server sent attributes: those that are known are made up.
    pub fn is_made_up(&self) -> bool {
        self.writes != self.told
    }

    /// Whether its attributes are the server's last word, and change only by what the kernel asks for.
    pub fn is_settled(&self) -> bool {
        let is_durable = self.unstable.is_none() && !self.again && !self.is_made_up();
        is_durable && self.unset.is_empty() && self.silly.is_none()
    }

    /// The server sent attributes with so many writes in them.
    pub fn was_told(&mut self, writes: u64) {
        self.told = self.told.max(writes);
    }

    /// The reply to a change of ours said what the file is like: the latest counts.
    pub fn saw(&mut self, after: Option<Attributes>) {
        let Some(after) = after else { return };
        if self.seen.is_none_or(|seen| seen.version < after.version()) {
            self.seen = Some(Seen::from(&after));
        }
    }

    /// Something could not be made durable: every open file reports it once.
    pub fn failed(&mut self, refused: Refused) {
        self.failures += 1;
        self.failure = Some(refused);
    }
}

/// How a file was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    version: (Timestamp, u64),
    size: u64,
    modified: Timestamp,
}

impl From<&Attributes> for Seen {
    fn from(attributes: &Attributes) -> Self {
        Self { version: attributes.version(), size: attributes.size, modified: attributes.modified }
    }
}

/// A name to be removed at the last close.
#[derive(Debug, Clone)]
pub struct Silly {
    /// Where.
    pub directory: Handle,
    /// The name.
    pub name: Vec<u8>,
    /// Who removed the file.
    pub caller: Caller,
}

impl KernelNode {
    fn new(number: u64, handle: Handle) -> Self {
        Self {
            number,
            handle,
            opens: AtomicUsize::new(0),
            names_lost: AtomicU64::new(0),
            content: Mutex::default(),
            flushing: Mutex::default(),
            settling: Mutex::default(),
            appending: Mutex::default(),
            locks: NodeLocks::default(),
        }
    }

    /// Distinguishes two nodes of one number.
    pub fn generation(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.handle.hash(&mut hasher);
        hasher.finish() & u64::from(u32::MAX)
    }

    /// Its attributes as programs see them: with those that are not set yet, and a file without a name but ours has one link less.
    pub fn as_seen(&self, attributes: Attributes) -> Attributes {
        let content = self.content.lock();
        let mut attributes = content.unset.shown(attributes);
        if content.silly.is_some() {
            attributes.links = attributes.links.saturating_sub(1);
        }
        attributes
    }
}

/// All of them: as many as the kernel remembers, which forgets what it needs no more.
pub struct Nodes {
    tables: Mutex<Tables>,
    /// The file system whose numbers are shown as they are: that of the first node.
    file_system: OnceLock<u64>,
    root: Arc<KernelNode>,
    /// Open files of all nodes: while there are none, nothing that is removed is open.
    pub opens: AtomicUsize,
}

struct Tables {
    by_number: HashMap<u64, (Arc<KernelNode>, u64)>,
    by_handle: HashMap<Handle, u64>,
    next: u64,
}

impl Nodes {
    /// Only the root.
    pub fn new(root: Handle) -> Self {
        let root = Arc::new(KernelNode::new(ROOT, root));
        let by_number = HashMap::from([(ROOT, (Arc::clone(&root), 1))]);
        let by_handle = HashMap::from([(root.handle, ROOT)]);
        let tables = Mutex::new(Tables { by_number, by_handle, next: OWN });
        Self { tables, file_system: OnceLock::new(), root, opens: AtomicUsize::new(0) }
    }

    /// The number that a node has unless another one has that. Programs take two names of one number for one file, so files of several file
    /// systems must have different ones, also if the kernel forgets one of them.
    pub fn number_of(&self, attributes: &Attributes) -> u64 {
        let Attributes { file_system, file, .. } = *attributes;
        if *self.file_system.get_or_init(|| file_system) == file_system {
            return file;
        }
        let mut hasher = DefaultHasher::new();
        (file_system, file).hash(&mut hasher);
        ELSEWHERE | hasher.finish() & (ELSEWHERE - 1)
    }

    /// The node of a number.
    pub fn of(&self, number: u64) -> Answer<Arc<KernelNode>> {
        if number == ROOT {
            return Ok(Arc::clone(&self.root));
        }
        let tables = self.tables.lock();
        let known = tables.by_number.get(&number).map(|(known, _)| Arc::clone(known));
        Ok(known.ok_or(FsError::Stale)?)
    }

    /// The node of a handle, if the kernel knows it.
    pub fn with(&self, handle: &Handle) -> Option<Arc<KernelNode>> {
        let tables = self.tables.lock();
        let number = tables.by_handle.get(handle)?;
        tables.by_number.get(number).map(|(known, _)| Arc::clone(known))
    }

    /// The kernel gets a node, once more.
    pub fn enter(&self, node: &Node) -> Arc<KernelNode> {
        let mut tables = self.tables.lock();
        if let Some(number) = tables.by_handle.get(&node.handle).copied()
            && let Some((known, lookups)) = tables.by_number.get_mut(&number)
        {
            *lookups += 1;
            return Arc::clone(known);
        }
        let file = self.number_of(&node.attributes);
        let is_free = (ROOT + 1..NOBODY).contains(&file) && !tables.by_number.contains_key(&file);
        let number = if is_free { file } else { tables.next };
        tables.next += u64::from(!is_free);
        let known = Arc::new(KernelNode::new(number, node.handle));
        tables.by_handle.insert(node.handle, number);
        tables.by_number.insert(number, (Arc::clone(&known), 1));
        known
    }

    /// The kernel forgets so many times that it got a node.
    pub fn forget(&self, number: u64, times: u64) {
        let mut tables = self.tables.lock();
        let Some((known, lookups)) = tables.by_number.get_mut(&number) else { return };
        *lookups = lookups.saturating_sub(times);
        if *lookups == 0 && number != ROOT {
            let handle = known.handle;
            tables.by_number.remove(&number);
            tables.by_handle.remove(&handle);
        }
    }

    /// The numbers of all.
    pub fn numbers(&self) -> Vec<u64> {
        self.tables.lock().by_number.keys().copied().collect()
    }

    /// Whether any file is open.
    pub fn any_open(&self) -> bool {
        self.opens.load(Relaxed) > 0
    }

    /// Those with data that is not durable, or attributes that are not set yet.
    pub fn unstable(&self) -> Vec<Arc<KernelNode>> {
        let tables = self.tables.lock();
        let all = tables.by_number.values().map(|(known, _)| known);
        let is_unstable = |known: &&Arc<KernelNode>| {
            let content = known.content.lock();
            content.unstable.is_some() || content.again || !content.unset.is_empty()
        };
        all.filter(is_unstable).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::FileSystem;
    use howdah_vfs::memory::MemoryFileSystem;

    use super::*;

    fn node(handle: u8, file: u64) -> Node {
        let memory = MemoryFileSystem::new();
        let attributes = memory.attributes(&Caller::ROOT, &memory.root()).expect("there");
        Node {
            handle: Handle::new(&[handle]).expect("short"),
            attributes: Attributes { file, file_system: 1, ..attributes },
        }
    }

    #[test]
    fn a_node_is_known_as_long_as_the_kernel_remembers_it() {
        let nodes = Nodes::new(node(0, 9).handle);
        let known = nodes.enter(&node(1, 7));
        assert_eq!((known.number, nodes.enter(&node(1, 7)).number), (7, 7));
        nodes.forget(7, 1);
        assert!(nodes.of(7).is_ok());
        nodes.forget(7, 1);
        assert!(nodes.of(7).is_err());
        assert!(nodes.with(&known.handle).is_none());
        nodes.forget(ROOT, 99);
        assert_eq!(nodes.tables.lock().by_number.len(), 1);
    }

    #[test]
    fn a_write_while_attributes_are_told_makes_up_others() {
        let mut content = Knowledge::default();
        assert!(!content.is_made_up());
        content.writes += 1;
        let asked = content.writes;
        assert!(content.is_made_up(), "until the server has answered");
        content.writes += 1;
        content.was_told(asked);
        assert!(content.is_made_up());
        content.was_told(content.writes);
        content.was_told(asked);
        assert!(!content.is_made_up(), "an answer that comes late is an old one");
    }

    /// A program may know a number longer than the kernel does.
    #[test]
    fn a_file_of_another_file_system_has_one_number_that_no_file_of_the_first_has() {
        let nodes = Nodes::new(node(0, 9).handle);
        let elsewhere = |handle: u8, file: u64| {
            let node = node(handle, file);
            let file_system = node.attributes.file_system + 1;
            Node { attributes: Attributes { file_system, ..node.attributes }, ..node }
        };
        let first = nodes.enter(&node(1, 7)).number;
        nodes.forget(first, 1);
        let other = nodes.enter(&elsewhere(2, 7)).number;
        assert_eq!((first, other), (7, nodes.number_of(&elsewhere(2, 7).attributes)));
        nodes.forget(other, 1);
        assert_eq!((nodes.enter(&node(1, 7)).number, nodes.enter(&elsewhere(2, 7)).number), (7, other));
        assert_ne!(nodes.enter(&elsewhere(3, 8)).number, other);
    }

    #[test]
    fn two_nodes_never_have_one_number() {
        let nodes = Nodes::new(node(0, 9).handle);
        let numbers = [node(1, 7), node(2, 7), node(3, ROOT), node(4, 0), node(5, u64::MAX), node(6, NOBODY)];
        let mut numbers: Vec<u64> = numbers.iter().map(|node| nodes.enter(node).number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), 6);
        assert!(!numbers.contains(&NOBODY));
        assert_ne!(nodes.enter(&node(1, 7)).generation(), nodes.enter(&node(2, 7)).generation());
    }
}
