//! Names and directories that are being copied, and what is known of each.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, OnceLock};

use howdah_vfs::listing::Circle;
use howdah_vfs::{Handle, Node, Timestamp};
use parking_lot::Mutex;

use super::Side;
use super::at_once::Later;
use super::error::{CopyError, On, Step, Trouble};
use super::links::FileKey;
use super::times::are_near;

/// A name that is to be copied.
#[derive(Clone)]
pub(super) struct Entry {
    pub(super) parent: Arc<DirectoryJob>,
    /// The name at the destination; below the top it is the source's too.
    pub(super) name: Vec<u8>,
    /// The node at the source, if the listing had it.
    pub(super) node: Option<Node>,
    pub(super) part: LinkPart,
    /// How often it was begun anew because it changed meanwhile.
    pub(super) tries: u32,
    /// What is at the destination, if that was looked up a moment ago.
    pub(super) looked: Option<Box<Step<Looked>>>,
}

/// What has a name at the destination and, for files worth a journal, what an earlier copy left.
pub(super) type Looked = (Option<Node>, Option<Earlier>);

/// What an earlier copy left under the usual names: its partial file and its journal.
pub(super) type Earlier = (Option<Node>, Option<Node>);

/// What part a name has among the names of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkPart {
    /// Not asked yet.
    Unknown,
    /// The others of this file wait for its copy.
    First(FileKey),
    /// It is copied for itself: it is the only name, or the destination has no links.
    Alone,
}

impl Entry {
    /// Its path, as messages show it.
    pub(super) fn path(&self) -> Vec<u8> {
        self.parent.path_of(&self.name)
    }

    /// Its path below the root of the source, as patterns have it; its name at the destination if it is what was named.
    pub(super) fn path_in_source(&self) -> Vec<u8> {
        let mut names = vec![&self.name[..]];
        let mut at = &self.parent;
        // The root of a tree lies in a directory that has no source.
        while let Some(above) = at.parent.as_ref().filter(|above| above.node.is_some()) {
            names.push(&at.name);
            at = above;
        }
        names.reverse();
        names.join(&b'/')
    }

    /// A failed step as what it means for this name.
    pub(super) fn error(&self, trouble: Trouble) -> CopyError {
        self.parent.error(trouble, &self.name)
    }
}

/// Whether an entry is done with.
pub(super) enum Settled {
    Now,
    /// Somebody else will say so.
    Later,
    /// It becomes one more name of this copy.
    Linked(Box<Entry>, Handle),
}

/// A directory that is being copied; at the top, the destination directory of an item, which has no source.
pub(super) struct DirectoryJob {
    pub(super) parent: Option<Arc<DirectoryJob>>,
    pub(super) item: Arc<ItemFacts>,
    /// Its name, for people.
    pub(super) name: Vec<u8>,
    /// The directory at the source.
    pub(super) node: Option<Node>,
    /// The directory at the destination.
    pub(super) target: Node,
    /// Whether this copy made the directory, so that nothing is in it but what this copy made.
    pub(super) fresh: bool,
    /// Whether it bears the marker of a copy under way.
    pub(super) marked: bool,
    /// Where to read on.
    pub(super) cookie: AtomicU64,
    /// Whether that comes again.
    pub(super) circle: Mutex<Circle>,
    /// Its entries that are not settled, and one for the listing.
    pub(super) open: AtomicUsize,
    /// How often it was begun anew because another directory had replaced it.
    pub(super) tries: u32,
    /// What has its name by now, if it was replaced: copied in its place, when all entries are settled.
    pub(super) replacement: Mutex<Option<Entry>>,
}

/// What holds for all of one source.
pub(super) struct ItemFacts {
    pub(super) source: Arc<Side>,
    /// Its path, as messages show it.
    pub(super) path: Vec<u8>,
    /// The path of its destination's directory, as messages show it.
    pub(super) directory_path: Vec<u8>,
    pub(super) id: u64,
    /// The coarser time step of both sides, in nanoseconds. New files are copied without it.
    pub(super) step: Later<u64>,
    /// Whether the destination takes the writes of a file one after the other.
    pub(super) one_writer: bool,
    /// Whether the destination passes on ranges of files as they lie.
    pub(super) passes_files: bool,
    /// The file system that it begins on.
    pub(super) file_system: u64,
    /// When the mark of its copy was made, if it has one: as nothing that copies files can set it.
    pub(super) marked_at: OnceLock<Timestamp>,
    /// Whether a file was left that the next run resumes.
    pub(super) has_left_files: AtomicBool,
}

impl ItemFacts {
    /// Its copy has this mark.
    pub(super) fn is_marked_by(&self, mark: &Node) {
        let _ = self.marked_at.set(mark.attributes.changed);
    }

    /// Whether a mark is that of its copy. Any unfinished copy of this source has one of that name: one that was moved, or one to
    /// elsewhere that runs.
    pub(super) fn is_marked_as(&self, mark: &Node) -> bool {
        self.marked_at.get().is_some_and(|made| are_near(mark.attributes.changed, *made, *self.step))
    }
}

impl DirectoryJob {
    /// Stands for the destination directory of an item.
    pub(super) fn top(item: Arc<ItemFacts>, target: Node) -> Self {
        Self {
            parent: None,
            item,
            name: Vec::new(),
            node: None,
            target,
            fresh: false,
            marked: false,
            cookie: AtomicU64::new(0),
            circle: Mutex::default(),
            open: AtomicUsize::new(1),
            tries: 0,
            replacement: Mutex::default(),
        }
    }

    /// A directory in another one.
    pub(super) fn below(
        parent: &Arc<Self>,
        name: Vec<u8>,
        node: Node,
        target: Node,
        fresh: bool,
        marked: bool,
    ) -> Self {
        Self {
            parent: Some(Arc::clone(parent)),
            item: Arc::clone(&parent.item),
            name,
            node: Some(node),
            target,
            fresh,
            marked,
            cookie: AtomicU64::new(0),
            circle: Mutex::default(),
            open: AtomicUsize::new(1),
            tries: 0,
            replacement: Mutex::default(),
        }
    }

    /// An entry's path, as messages show it.
    pub(super) fn path_of(&self, name: &[u8]) -> Vec<u8> {
        match &self.parent {
            None => self.item.path.clone(),
            Some(parent) => join(parent.path_of(&self.name), name),
        }
    }

    /// The path of a name at the destination, as messages show it.
    pub(super) fn target_path_of(&self, name: &[u8]) -> Vec<u8> {
        match &self.parent {
            None => join(self.item.directory_path.clone(), name),
            // The directory of an item that becomes an existing directory has no name of its own.
            Some(parent) if self.name.is_empty() => parent.target_path_of(name),
            Some(parent) => join(parent.target_path_of(&self.name), name),
        }
    }

    /// A failed step as what it means for an entry: with the path on the side where it failed.
    pub(super) fn error(&self, trouble: Trouble, name: &[u8]) -> CopyError {
        trouble.of(match trouble.on {
            On::Source => self.path_of(name),
            On::Destination => self.target_path_of(name),
        })
    }

    /// The same for the directory itself.
    pub(super) fn own_error(&self, trouble: Trouble) -> CopyError {
        match &self.parent {
            Some(parent) => parent.error(trouble, &self.name),
            None => trouble.of(self.item.path.clone()),
        }
    }

    pub(super) fn source(&self) -> &Side {
        &self.item.source
    }
}

fn join(mut path: Vec<u8>, name: &[u8]) -> Vec<u8> {
    if !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(name);
    path
}
