//! The nodes and names that programs see before the server has them. Knows no file system and no clock.

use std::collections::HashMap;

use howdah_vfs::{Attributes, Caller, FsError, Handle, NewAttributes, SetTime, Timestamp};

use super::held_data::HeldData;
use super::order::{ChangeNumber, NodeNumber};

/// File numbers of nodes that the server does not have yet, from here on. The kernel's side of a mount has its own from 2^62 on.
const FILES: u64 = 1 << 61;
/// Bytes of a handle that was made here: a key and the node's number.
const HANDLE: usize = 24;

/// What is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MadeNode {
    File,
    Directory,
    /// A symbolic link that points there.
    Link(Box<[u8]>),
}

/// A node that was made here and is not safe on the server yet.
#[derive(Debug)]
pub struct Coming {
    /// As programs see it.
    pub attributes: Attributes,
    pub what: MadeNode,
    pub caller: Caller,
    /// The change that makes it.
    pub make: ChangeNumber,
    /// The server's handle, if an earlier process made it there.
    pub made: Option<Handle>,
    pub data: HeldData,
    /// What is to be set when its data is there.
    pub unset: NewAttributes,
    /// Whether the call that makes it was sent: what is set from then on goes to `unset`.
    pub is_sent: bool,
    /// Whether a program saw its times.
    pub was_seen: bool,
    /// Its permissions were set after it was made, since the server had given it others.
    pub mode_was_set: bool,
}

/// Where a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// The server does not have it yet.
    Here,
    /// The server has it by this handle.
    There(Handle),
    /// The server refused to make it.
    Nowhere(FsError),
}

/// What a program was shown of a node before the server had it, and sees for good: git reads all files again if it changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pinned {
    /// The file number: the server's, and the one that programs see.
    pub file: (u64, u64),
    /// While the server says that it changed at the first time, programs see the second.
    pub changed: (Timestamp, Timestamp),
    /// The same of its data.
    pub modified: (Timestamp, Timestamp),
}

/// A change of a node that the server does not have yet.
#[derive(Debug, Clone)]
pub enum Patch {
    /// Attributes are set, at this time.
    Set(NewAttributes, Timestamp),
    /// It has so many names since this time.
    Links(u32, Timestamp),
}

/// A node that is known here.
#[derive(Debug)]
pub struct LoggedNode {
    /// The handle that programs have of it.
    pub shown: Handle,
    pub at: Whereabouts,
    pub coming: Option<Box<Coming>>,
    pub patches: Vec<(ChangeNumber, Patch)>,
    pub pinned: Option<Pinned>,
    /// Where it was made or last moved to, of one that was made here.
    pub place: Option<(NodeNumber, Vec<u8>)>,
    /// The change that takes its last name away.
    pub gone: Option<ChangeNumber>,
    /// Its data is not on the server as programs were answered: it must not get a name that others rely on.
    pub broken: Option<FsError>,
    /// Why a change of it was refused, until a program hears of it.
    pub failure: Option<FsError>,
    /// Counts up when a change of it is over.
    pub version: u64,
    /// Bytes that were written since it was last made safe.
    pub unsafe_bytes: u64,
    /// The verifier that they were written with.
    pub verifier: Option<[u8; 8]>,
    /// Changes and names that need it.
    uses: usize,
}

/// The names of a directory that are not yet as the server has them.
#[derive(Debug, Default)]
pub struct PendingNames {
    pub entries: HashMap<Vec<u8>, Overlaid>,
    /// When names were last changed here.
    pub changed: Timestamp,
    /// Its links with the subdirectories that were made and removed here, if any were.
    pub links: Option<u32>,
}

/// Where a name leads.
#[derive(Debug, Clone, Copy)]
pub struct Overlaid {
    /// `None`: it is gone.
    pub node: Option<NodeNumber>,
    /// The last change of it.
    pub by: ChangeNumber,
}

/// All of them.
#[derive(Debug)]
pub struct PendingTree {
    key: [u8; 16],
    next: NodeNumber,
    nodes: HashMap<NodeNumber, LoggedNode>,
    by_shown: HashMap<Handle, NodeNumber>,
    by_real: HashMap<Handle, NodeNumber>,
    /// File numbers that programs see, by the server's.
    files: HashMap<u64, u64>,
    names: HashMap<NodeNumber, PendingNames>,
    /// All names of directories that were made here, and the nodes that have them; none where the server is to be asked.
    own: HashMap<NodeNumber, HashMap<Vec<u8>, Option<NodeNumber>>>,
}

impl PendingTree {
    /// Nothing. The key must be another one for each log: handles of one mean nothing to another.
    pub fn new(key: [u8; 16]) -> Self {
        let (nodes, by_shown, by_real, files) = Default::default();
        let (names, own) = Default::default();
        Self { key, next: 1, nodes, by_shown, by_real, files, names, own }
    }

    /// The node of a handle that programs have, if anything is known of it here.
    pub fn find(&self, shown: &Handle) -> Option<NodeNumber> {
        self.by_shown.get(shown).copied()
    }

    /// The node of a handle that the server gave, if it was made here.
    pub fn find_real(&self, real: &Handle) -> Option<NodeNumber> {
        self.by_real.get(real).copied()
    }

    /// The same; a node of the server is known from now on, until its last change is over.
    pub fn enter(&mut self, shown: &Handle) -> NodeNumber {
        if let Some(id) = self.find(shown) {
            return id;
        }
        let id = self.take_number();
        self.insert(id, *shown, Whereabouts::There(*shown));
        id
    }

    /// A node that is made here.
    pub fn make(&mut self) -> (NodeNumber, Handle, u64) {
        let id = self.take_number();
        let shown = self.own_handle(id);
        self.insert(id, shown, Whereabouts::Here);
        (id, shown, FILES + id)
    }

    fn own_handle(&self, id: NodeNumber) -> Handle {
        let mut bytes = [0; HANDLE];
        bytes[..16].copy_from_slice(&self.key);
        bytes[16..].copy_from_slice(&id.to_be_bytes());
        Handle::new(&bytes).expect("it is short")
    }

    /// Whether a handle is of a node that was made here.
    pub fn is_own(&self, shown: &Handle) -> bool {
        let bytes = shown.as_bytes();
        bytes.len() == HANDLE && bytes[..16] == self.key
    }

    /// A directory is made here: nothing is in it.
    pub fn own_directory(&mut self, id: NodeNumber) {
        self.own.insert(id, HashMap::new());
    }

    /// A name of a directory leads here from now on, or nowhere.
    pub fn own_name(&mut self, directory: NodeNumber, name: &[u8], node: Option<NodeNumber>) {
        let Some(own) = self.own.get_mut(&directory) else { return };
        match node {
            Some(_) => own.insert(name.to_vec(), node),
            None => own.remove(name),
        };
    }

    /// Where a name of a directory leads, only the server knows.
    pub fn disown_name(&mut self, directory: NodeNumber, name: &[u8]) {
        if let Some(own) = self.own.get_mut(&directory) {
            own.insert(name.to_vec(), None);
        }
    }

    /// The node that has a name is gone, or may be: what was in it, only the server knows.
    pub fn disown_in(&mut self, directory: NodeNumber, name: &[u8]) {
        if let Some(Some(node)) = self.owned(directory, name) {
            self.own.remove(&node);
        }
    }

    /// Others may have put something into a directory that was to be made here: its names, only the server knows.
    pub fn disown_all(&mut self, directory: NodeNumber) {
        self.own.remove(&directory);
    }

    /// A change of a name is over. A node of the server is not known from now on.
    pub fn keep_own_only(&mut self, directory: NodeNumber, name: &[u8]) {
        if let Some(Some(node)) = self.owned(directory, name)
            && self.nodes.get(&node).is_none_or(|known| !self.is_own(&known.shown))
        {
            self.disown_name(directory, name);
        }
    }

    /// Where a name of a directory leads that was made here: inside, none is nowhere. Outside, none is where the server is to be asked.
    pub fn owned(&self, directory: NodeNumber, name: &[u8]) -> Option<Option<NodeNumber>> {
        match self.own.get(&directory)?.get(name) {
            None => Some(None),
            Some(Some(node)) => Some(Some(*node)),
            Some(None) => None,
        }
    }

    /// Whether nothing is in a directory that was made here, as far as nobody else uses it.
    pub fn owns_nothing(&self, directory: NodeNumber) -> bool {
        let is_free = |names: &PendingNames| names.entries.values().all(|overlaid| overlaid.node.is_none());
        self.own.get(&directory).is_some_and(HashMap::is_empty) && self.names(directory).is_none_or(is_free)
    }

    fn take_number(&mut self) -> NodeNumber {
        self.next += 1;
        self.next
    }

    fn insert(&mut self, id: NodeNumber, shown: Handle, at: Whereabouts) {
        let known = LoggedNode {
            shown,
            at,
            coming: None,
            patches: Vec::new(),
            pinned: None,
            place: None,
            gone: None,
            broken: None,
            failure: None,
            version: 0,
            unsafe_bytes: 0,
            verifier: None,
            uses: 0,
        };
        self.nodes.insert(id, known);
        self.by_shown.insert(shown, id);
    }

    /// What is known of a node.
    pub fn get(&self, id: NodeNumber) -> Option<&LoggedNode> {
        self.nodes.get(&id)
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, id: NodeNumber) -> Option<&mut LoggedNode> {
        self.nodes.get_mut(&id)
    }

    /// The server has made a node.
    pub fn made(&mut self, id: NodeNumber, real: Handle) {
        if let Some(known) = self.nodes.get_mut(&id) {
            known.at = Whereabouts::There(real);
            self.by_real.insert(real, id);
        }
    }

    /// Programs see the second file number where the server says the first.
    pub fn number(&mut self, server: u64, shown: u64) {
        self.files.insert(server, shown);
    }

    /// The file number that programs see.
    pub fn file(&self, server: u64) -> u64 {
        self.files.get(&server).copied().unwrap_or(server)
    }

    /// A change needs these nodes.
    pub fn hold(&mut self, nodes: impl IntoIterator<Item = NodeNumber>) {
        for id in nodes {
            if let Some(known) = self.nodes.get_mut(&id) {
                known.uses += 1;
            }
        }
    }

    /// It needs them no more. Of a node of the server nothing stays.
    pub fn release(&mut self, nodes: impl IntoIterator<Item = NodeNumber>) {
        for id in nodes {
            let Some(known) = self.nodes.get_mut(&id) else { continue };
            known.uses = known.uses.saturating_sub(1);
            known.version += 1;
            self.forget(id);
        }
    }

    /// Whether a change needs a node.
    pub fn is_needed(&self, id: NodeNumber) -> bool {
        self.nodes.get(&id).is_some_and(|known| known.uses > 0)
    }

    /// No node gets this number any more.
    pub fn skip_number(&mut self, id: NodeNumber) {
        self.next = self.next.max(id);
    }

    /// A node that an earlier process made, or was about to.
    pub fn remake(&mut self, id: NodeNumber) {
        if self.nodes.contains_key(&id) {
            return;
        }
        let shown = self.own_handle(id);
        self.insert(id, shown, Whereabouts::Here);
    }

    /// Forgets a node of the server of which nothing is pending.
    pub fn forget(&mut self, id: NodeNumber) {
        let Some(known) = self.nodes.get(&id) else { return };
        let is_needed = known.uses > 0 || known.failure.is_some() || known.verifier.is_some();
        if !is_needed && known.gone.is_some() {
            return self.unmake(id);
        }
        if !is_needed && known.at == Whereabouts::There(known.shown) && !self.names.contains_key(&id) {
            let shown = known.shown;
            self.nodes.remove(&id);
            self.by_shown.remove(&shown);
        }
    }

    /// A node that was made here never gets to be.
    pub fn unmake(&mut self, id: NodeNumber) {
        self.names.remove(&id);
        self.own.remove(&id);
        if let Some(known) = self.nodes.remove(&id) {
            self.by_shown.remove(&known.shown);
            if let Whereabouts::There(real) = known.at {
                self.by_real.remove(&real);
            }
            if let Some(Pinned { file, .. }) = known.pinned
                && self.files.get(&file.0) == Some(&file.1)
            {
                self.files.remove(&file.0);
            }
        }
    }

    /// Names of a directory that are not yet as the server has them.
    pub fn names(&self, directory: NodeNumber) -> Option<&PendingNames> {
        self.names.get(&directory)
    }

    /// Where a name leads, if that is not yet as the server has it.
    pub fn name(&self, directory: NodeNumber, name: &[u8]) -> Option<Overlaid> {
        self.names.get(&directory)?.entries.get(name).copied()
    }

    /// A name leads elsewhere from now on.
    pub fn set_name(&mut self, directory: NodeNumber, name: &[u8], overlaid: Overlaid, time: Timestamp) {
        self.own_name(directory, name, overlaid.node);
        let names = self.names.entry(directory).or_default();
        names.entries.insert(name.to_vec(), overlaid);
        names.changed = names.changed.max(time);
    }

    /// A directory has so many subdirectories more, or fewer, than the server says: of its attributes, those are its links. A file system
    /// that does not count subdirectories says 1.
    pub fn count(&mut self, directory: NodeNumber, links: u32, more: i32) {
        if let Some(names) = self.names.get_mut(&directory).filter(|_| more != 0 && links > 1) {
            names.links = Some(names.links.unwrap_or(links).saturating_add_signed(more));
        }
    }

    /// The server has made or removed a subdirectory that was not pending.
    pub fn recount(&mut self, directory: NodeNumber, more: i32) {
        if let Some(links) = self.names.get_mut(&directory).and_then(|names| names.links.as_mut()) {
            *links = links.saturating_add_signed(more);
        }
    }

    /// A change of a name is over: the server's word counts from now on.
    pub fn settle_name(&mut self, directory: NodeNumber, name: &[u8], by: ChangeNumber) {
        let Some(names) = self.names.get_mut(&directory) else { return };
        if names.entries.get(name).is_some_and(|overlaid| overlaid.by == by) {
            names.entries.remove(name);
        }
        if names.entries.is_empty() {
            self.names.remove(&directory);
        }
    }
}

impl LoggedNode {
    /// Why the server refused to make it, or refused the data that it was made with: it takes nothing any more.
    pub fn refused(&self) -> Option<FsError> {
        match self.at {
            Whereabouts::Nowhere(error) => Some(error),
            Whereabouts::Here | Whereabouts::There(_) => self.broken.filter(|_| self.coming.is_some()),
        }
    }

    /// What programs see of it, and of its names if it is a directory, where the server says this.
    pub fn shown(&self, mut attributes: Attributes, names: Option<&PendingNames>) -> Attributes {
        if let Some(pinned) = self.pinned {
            attributes.file = pinned.file.1;
            let (server, shown) = pinned.changed;
            attributes.changed =
                if attributes.changed == server { shown } else { attributes.changed.max(shown) };
            if attributes.modified == pinned.modified.0 {
                attributes.modified = pinned.modified.1;
            }
        }
        self.pending(attributes, names)
    }

    /// The same of one that the server does not have yet.
    pub fn pending(&self, mut attributes: Attributes, names: Option<&PendingNames>) -> Attributes {
        let names_changed = names.map(|names| names.changed);
        if let Some(names) = names {
            attributes.modified = attributes.modified.max(names.changed);
            attributes.changed = attributes.changed.max(names.changed);
            attributes.links = names.links.unwrap_or(attributes.links);
        }
        for (_, patch) in &self.patches {
            let time = match patch {
                Patch::Set(new, time) => {
                    // Names that were changed later gave the directory another time.
                    let is_older = names_changed.is_some_and(|changed| changed > *time);
                    let modified = if is_older { SetTime::Keep } else { new.modified };
                    apply(&mut attributes, &NewAttributes { modified, ..*new }, *time);
                    time
                }
                Patch::Links(links, time) => {
                    attributes.links = *links;
                    time
                }
            };
            attributes.changed = attributes.changed.max(*time);
        }
        attributes
    }
}

/// Sets attributes as a server would; the size only of what holds no data.
pub fn apply(attributes: &mut Attributes, new: &NewAttributes, now: Timestamp) {
    attributes.mode = new.mode.map_or(attributes.mode, |mode| mode & 0o7777);
    attributes.user = new.user.unwrap_or(attributes.user);
    attributes.group = new.group.unwrap_or(attributes.group);
    if let Some(size) = new.size {
        attributes.size = size;
        attributes.modified = now;
    }
    for (set, time) in [(new.accessed, &mut attributes.accessed), (new.modified, &mut attributes.modified)] {
        match set {
            SetTime::Keep => {}
            SetTime::Now => *time = now,
            SetTime::To(to) => *time = to,
        }
    }
}

/// Both sets of attributes in one: what comes later counts.
pub fn joined(first: &NewAttributes, then: &NewAttributes) -> NewAttributes {
    let time = |first, then| if then == SetTime::Keep { first } else { then };
    NewAttributes {
        mode: then.mode.or(first.mode),
        user: then.user.or(first.user),
        group: then.group.or(first.group),
        size: then.size.or(first.size),
        accessed: time(first.accessed, then.accessed),
        modified: time(first.modified, then.modified),
    }
}
