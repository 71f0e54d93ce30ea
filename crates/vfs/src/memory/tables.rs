//! The state: nodes by number, how handles name them, and the few figures that all share.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use super::entries::Entries;
use super::node::{Body, Directory, Node};
use super::number::Number;
use super::xattr_map::Xattrs;
use super::{Clock, MemoryOptions};
use crate::{
    Attributes, Before, Change, DeviceNumber, FsError, Handle, Name, Result, SpecialKind, Timestamp,
};

/// The root directory.
pub(super) const ROOT: Number = 1;

pub(super) struct Tables {
    pub(super) nodes: HashMap<Number, Node>,
    next: Number,
    /// Distinguishes this file system's handles from those of any other.
    instance: u64,
    clock: Clock,
    /// Changes when uncommitted data may have been lost.
    pub(super) verifier: u64,
    pub(super) budget: Option<u64>,
    /// Bytes in use: file data in whole pages, nodes and names.
    pub(super) used: u64,
    pub(super) most_links: u32,
}

/// Bytes that a node takes beside its data, and a name beside its letters: about what the tables hold for them.
const NODE: u64 = 384;
const ENTRY: u64 = 160;

/// A number nobody can guess, without asking this floor for a source of randomness.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

impl Tables {
    pub(super) fn new(options: MemoryOptions) -> Self {
        let MemoryOptions { clock, budget, most_links, root_mode } = options;
        let now = clock();
        let directory = Directory { parent: ROOT, entries: Entries::new() };
        let root = Node {
            mode: root_mode,
            user: 0,
            group: 0,
            links: 2,
            accessed: now,
            modified: now,
            changed: now,
            created: now,
            xattrs: Xattrs::default(),
            body: Body::Directory(directory),
        };
        let (instance, verifier) = (random(), random());
        let nodes = HashMap::from([(ROOT, root)]);
        Self { nodes, next: ROOT + 1, instance, clock, verifier, budget, used: 0, most_links }
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(super) fn handle(&self, number: Number) -> Handle {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.instance.to_be_bytes());
        bytes[8..].copy_from_slice(&number.to_be_bytes());
        Handle::new(&bytes).expect("16 bytes are fewer than a handle holds")
    }

    /// The node that a handle names.
    pub(super) fn find(&self, handle: &Handle) -> Result<Number> {
        let bytes: &[u8; 16] = handle.as_bytes().try_into().map_err(|_| FsError::BadHandle)?;
        let value = u128::from_be_bytes(*bytes);
        let (instance, number) = ((value >> 64) as u64, value as u64);
        if instance != self.instance || !self.nodes.contains_key(&number) {
            return Err(FsError::Stale);
        }
        Ok(number)
    }

    pub(super) fn node(&self, number: Number) -> Result<&Node> {
        self.nodes.get(&number).ok_or(FsError::Stale)
    }

    pub(super) fn node_mut(&mut self, number: Number) -> Result<&mut Node> {
        self.nodes.get_mut(&number).ok_or(FsError::Stale)
    }

    pub(super) fn add(&mut self, node: Node) -> Number {
        let number = self.next;
        self.next += 1;
        self.used += node_bytes(&node);
        self.nodes.insert(number, node);
        number
    }

    /// Takes `count` names from a node, which goes with the last.
    pub(super) fn unlink(&mut self, number: Number, count: u32, now: Timestamp) {
        let Some(node) = self.nodes.get_mut(&number) else { return };
        node.links = node.links.saturating_sub(count);
        node.changed = now;
        if node.links == 0 {
            self.used -= node_bytes(node);
            if let Body::Regular(file) = &node.body {
                self.used -= file.pages.used();
            }
            self.nodes.remove(&number);
        }
    }

    /// Refuses a new node of this name, or a new name of a node, if there is no room for it.
    pub(super) fn require_room(&self, node: Option<&Node>, name: Name<'_>) -> Result<()> {
        let wanted = node.map_or(0, node_bytes) + entry_bytes(name);
        if wanted > self.free() { Err(FsError::NoSpace) } else { Ok(()) }
    }

    /// Lets a name in a directory lead to a node.
    pub(super) fn put_entry(&mut self, directory: Number, name: Name<'_>, node: Number) -> Result<()> {
        let entries = &mut self.node_mut(directory)?.directory_mut()?.entries;
        let is_new = entries.get(name.as_bytes()).is_none();
        entries.put(name.as_bytes(), node);
        self.used += if is_new { entry_bytes(name) } else { 0 };
        Ok(())
    }

    /// Takes a name out of a directory that has it.
    pub(super) fn take_entry(&mut self, directory: Number, name: Name<'_>) -> Result<()> {
        self.node_mut(directory)?.directory_mut()?.entries.take(name.as_bytes());
        self.used -= entry_bytes(name);
        Ok(())
    }

    /// Bytes that may still come into use.
    pub(super) fn free(&self) -> u64 {
        self.budget.map_or(u64::MAX, |budget| budget.saturating_sub(self.used))
    }

    pub(super) fn attributes(&self, number: Number) -> Result<Attributes> {
        let node = self.node(number)?;
        let (size, used, device) = match &node.body {
            Body::Regular(file) => (file.size, file.pages.used(), DeviceNumber::default()),
            // A directory has no size of its own; a page looks as it does elsewhere.
            Body::Directory(_) => {
                (super::pages::PAGE as u64, super::pages::PAGE as u64, DeviceNumber::default())
            }
            Body::Link(target) => (target.len() as u64, 0, DeviceNumber::default()),
            Body::Special(SpecialKind::BlockDevice(device) | SpecialKind::CharacterDevice(device)) => {
                (0, 0, *device)
            }
            Body::Special(_) => (0, 0, DeviceNumber::default()),
        };
        Ok(Attributes {
            change: node.changed.as_change(),
            kind: node.kind(),
            mode: node.mode,
            links: node.links,
            user: node.user,
            group: node.group,
            size,
            used,
            device,
            file_system: self.instance,
            file: number,
            accessed: node.accessed,
            modified: node.modified,
            changed: node.changed,
            created: Some(node.created),
        })
    }

    pub(super) fn as_node(&self, number: Number) -> Result<crate::Node> {
        Ok(crate::Node { handle: self.handle(number), attributes: self.attributes(number)? })
    }

    /// Runs an operation on the node that a handle names, and returns what it changed, whether it succeeds or not.
    pub(super) fn changing<T>(
        &mut self,
        handle: &Handle,
        change: &mut Change,
        operation: impl FnOnce(&mut Self, Number) -> Result<T>,
    ) -> Result<T> {
        let number = self.find(handle)?;
        change.before = self.attributes(number).ok().as_ref().map(Before::from);
        let outcome = operation(self, number);
        change.after = self.attributes(number).ok();
        outcome
    }
}

fn node_bytes(node: &Node) -> u64 {
    let target = if let Body::Link(target) = &node.body { target.len() as u64 } else { 0 };
    NODE + target + node.xattrs.used()
}

fn entry_bytes(name: Name<'_>) -> u64 {
    ENTRY + name.as_bytes().len() as u64
}
