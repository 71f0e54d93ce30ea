//! Opening handles without the kernel's help: the index says where a node was last seen, a search finds it elsewhere,
//! and what is there is compared with the handle before it is taken for the node.

use std::hash::Hasher;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use howdah_vfs::{FsError, Handle, Name, Result};
use rustix::io::Errno;
use siphasher::sip::SipHasher13;

use super::super::cache::NodeCache;
use super::super::errno::refusal;
use super::super::open_error::OpenError;
use super::super::tree::{LOOK, Tree};
use super::form::Form;
use super::index::{Index, Place};
use super::kernel::Maker;
use super::scan::Searcher;

/// The deepest node that is found. Paths that programs can use are no deeper.
const DEEPEST: usize = 2048;

/// The longest path that is walked by one call (Linux' PATH_MAX without its NUL).
const LONGEST_PATH: usize = 4095;

/// Finds the nodes of handles.
pub(in super::super) struct Finder {
    tree: Arc<Tree>,
    maker: Maker,
    root: Handle,
    index: Arc<Index>,
    searcher: Searcher,
}

/// What came of following the index.
enum Followed {
    Node(OwnedFd),
    /// It is not there, or the index does not know.
    Lost,
}

impl Finder {
    /// A finder for a tree, whose index lies in the state directory.
    pub(in super::super) fn open(
        tree: &Arc<Tree>,
        maker: &Maker,
        root: Handle,
        state: Option<&Path>,
    ) -> std::result::Result<Self, OpenError> {
        let index = Arc::new(Index::open(state, &root)?);
        let searcher = Searcher::start(tree, maker, root, &index).map_err(|cause| {
            OpenError::new("starting the search for handles in", state.unwrap_or(Path::new("memory")), cause)
        })?;
        Ok(Self { tree: Arc::clone(tree), maker: maker.clone(), root, index, searcher })
    }

    /// Opens the node of a handle to look at it.
    pub(in super::super) fn find(&self, node: &Handle, nodes: &NodeCache) -> Result<OwnedFd> {
        // Bytes that were never a handle are not worth a search.
        Form::parse(node)?;
        if let Followed::Node(found) = self.follow(node, nodes)? {
            return Ok(found);
        }
        self.searcher.search(node)?;
        match self.follow(node, nodes)? {
            Followed::Node(found) => Ok(found),
            // It moved again since.
            Followed::Lost => Err(FsError::Delay),
        }
    }

    /// Goes where the index says, down from the nearest directory that is open.
    fn follow(&self, node: &Handle, nodes: &NodeCache) -> Result<Followed> {
        let mut names = Vec::new();
        let mut at = *node;
        let start = loop {
            let Some(place) = self.index.find(&at).filter(|_| names.len() < DEEPEST) else {
                return Ok(Followed::Lost);
            };
            names.push(place.name);
            at = place.directory;
            if at == self.root {
                break None;
            }
            if let Some(open) = nodes.get(&at) {
                break Some(open);
            }
        };
        let start = start.as_ref().map_or(self.tree.root(), |open| open.descriptor());
        match self.walk(start, &names) {
            Ok(found) => Ok(if self.maker.of(found.as_fd())? == *node {
                Followed::Node(found)
            } else {
                Followed::Lost
            }),
            Err(Errno::ACCESS) => Err(FsError::AccessDenied),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::XDEV | Errno::STALE) => {
                Ok(Followed::Lost)
            }
            Err(errno) => Err(refusal(errno)),
        }
    }

    /// Walks down. The last name comes first.
    fn walk(&self, start: BorrowedFd<'_>, names: &[Box<[u8]>]) -> rustix::io::Result<OwnedFd> {
        let mut reached: Option<OwnedFd> = None;
        let mut path = Vec::new();
        for (left, name) in names.iter().enumerate().rev() {
            if path.len() + 1 + name.len() > LONGEST_PATH {
                let from = reached.as_ref().map_or(start, |reached| reached.as_fd());
                reached = Some(self.tree.open_beneath(from, &path, LOOK)?);
                path.clear();
            }
            if !path.is_empty() {
                path.push(b'/');
            }
            path.extend_from_slice(name);
            if left == 0 {
                let from = reached.as_ref().map_or(start, |reached| reached.as_fd());
                return self.tree.open_beneath(from, &path, LOOK);
            }
        }
        Err(Errno::NOENT)
    }

    /// A node was seen under a name.
    pub(in super::super) fn on_seen(&self, node: &Handle, directory: &Handle, name: Name<'_>) {
        if *node == self.root {
            return;
        }
        self.index.record(node, Place { directory: *directory, name: name.as_bytes().into() });
        self.searcher.on_seen(node);
    }

    /// A node's last name is gone.
    pub(in super::super) fn on_gone(&self, node: &Handle) {
        self.index.remove(node);
        self.searcher.on_gone(node);
    }
}

/// A digest of a place: two of the same digest are taken for one place, and if they are not, a search sets it right.
pub(in super::super) fn digest(directory: &Handle, name: Name<'_>) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write(directory.as_bytes());
    hasher.write(name.as_bytes());
    hasher.finish()
}
