//! Removing a name with all that is in it. Knows nothing of sources but which directories are theirs.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use howdah_vfs::listing::{BatchError, Batches};
use howdah_vfs::{Detail, FileKind, FsError, Handle, Node};

use super::crew::Crew;
use super::error::{Cause, CopyError, On};
use super::naming::is_ours;
use super::{CopyOptions, Side, StopSign};

/// The most names of one directory that are held in memory.
pub(super) const NAMES_MAX: usize = 1 << 21;

/// The deepest that directories are removed in each other: as deep as paths that programs can use (Linux' PATH_MAX).
const DEEPEST: usize = 2048;

/// What a deletion reports.
pub(super) enum Change<'a> {
    /// This is gone; in a dry run it would be.
    Removed(&'a [u8]),
    /// This is not.
    Failed(&'a CopyError),
}

/// What hears of changes.
pub(super) type OnChange<'a> = dyn Fn(Change<'_>) + Sync + 'a;

/// A root of a source: realm, file system and number.
pub(super) type SourceRoot = (u64, u64, u64);

/// How many names may be removed.
pub(super) struct Budget {
    left: Option<AtomicU64>,
    /// Whether the limit was logged.
    is_told: AtomicBool,
}

impl Budget {
    /// So many, or any number.
    pub(super) fn new(most: Option<u64>) -> Self {
        Self { left: most.map(AtomicU64::new), is_told: AtomicBool::new(false) }
    }

    /// Takes one; says whether there was one.
    fn take(&self) -> bool {
        let less = |left: u64| left.checked_sub(1);
        self.left.as_ref().is_none_or(|left| left.fetch_update(Relaxed, Relaxed, less).is_ok())
    }

    /// Gives one back that was not used.
    fn give_back(&self) {
        if let Some(left) = &self.left {
            left.fetch_add(1, Relaxed);
        }
    }
}

/// Removes names below one root at the destination.
pub(super) struct Removal<'a> {
    pub(super) side: &'a Side,
    pub(super) options: &'a CopyOptions,
    pub(super) stop: &'a StopSign,
    pub(super) crew: &'a Crew,
    /// These are never removed.
    pub(super) sources: &'a [SourceRoot],
    /// Where the copy stays in one file system, what is on another one stays.
    pub(super) file_system: u64,
    /// Whether what unfinished copies left goes, too.
    pub(super) takes_unfinished: bool,
    /// How many names may go still.
    pub(super) left: &'a Budget,
    /// How a path below the root is shown to people.
    pub(super) shown: &'a (dyn Fn(&[u8]) -> Vec<u8> + Sync),
    pub(super) on_change: &'a OnChange<'a>,
}

impl Removal<'_> {
    /// Removes a name with all that is in it. Says whether it is gone: what a pattern leaves out stays, and so does its directory.
    pub(super) fn remove(
        &self,
        (directory, name): (&Node, &[u8]),
        node: &Node,
        path: &[u8],
        depth: usize,
    ) -> bool {
        if self.stop.is_set() || self.leaves(name, node, path) {
            return false;
        }
        let is_mounted = node.attributes.file_system != directory.attributes.file_system;
        let removed = match node.attributes.kind == FileKind::Directory {
            _ if self.is_source(node) => Err(Cause::IsSource),
            true if depth > DEEPEST => Err(Cause::TooDeep),
            true => match self.empty(node, path, depth) {
                Ok(false) => return false,
                Ok(true) => {
                    self.remove_one(is_mounted, || self.side.remove_directory(&directory.handle, name))
                }
                Err(cause) => Err(cause),
            },
            false => self.remove_one(is_mounted, || self.side.remove(&directory.handle, name)),
        };
        match removed {
            Ok(()) => (self.on_change)(Change::Removed(&(self.shown)(path))),
            // Once, and not for each name.
            Err(Cause::DeletedEnough) if self.left.is_told.swap(true, Relaxed) => {}
            Err(cause) => self.failed("delete", path, cause),
        }
        removed.is_ok()
    }

    /// Whether a name stays though the source does not have it.
    pub(super) fn leaves(&self, name: &[u8], node: &Node, path: &[u8]) -> bool {
        let (options, is_directory) = (self.options, node.attributes.kind == FileKind::Directory);
        // Another file system is mounted there.
        let is_elsewhere = options.one_file_system && node.attributes.file_system != self.file_system;
        let is_unfinished = is_ours(name) && !self.takes_unfinished;
        is_elsewhere || is_unfinished || options.patterns.excludes(path, is_directory)
    }

    /// Removes one name, if one more may go. One that does not go after all does not count.
    fn remove_one(
        &self,
        is_mounted: bool,
        remove: impl FnOnce() -> Result<(), FsError>,
    ) -> Result<(), Cause> {
        if !self.left.take() {
            return Err(Cause::DeletedEnough);
        }
        let removed = if self.options.dry_run { Ok(()) } else { remove() };
        if removed.is_err() {
            self.left.give_back();
        }
        removed.map_err(|refused| match refused {
            // Servers have no other word for a mount point.
            FsError::AccessDenied | FsError::Io if is_mounted => Cause::MountPoint,
            refused => Cause::Refused(refused),
        })
    }

    /// Removes what is in a directory; says whether all of it is gone.
    fn empty(&self, node: &Node, path: &[u8], depth: usize) -> Result<bool, Cause> {
        let names: Vec<_> = names(self.side, node.handle)?.into_iter().collect();
        Ok(self.crew.all(names, |(name, listed)| {
            let path = below(path, &name);
            let found = self.node(node.handle, &name, listed, &path);
            found.is_some_and(|found| self.remove((node, &name), &found, &path, depth + 1))
        }))
    }

    /// The node of a name, if it is there and may be looked up.
    pub(super) fn node(
        &self,
        directory: Handle,
        name: &[u8],
        listed: Option<Node>,
        path: &[u8],
    ) -> Option<Node> {
        match listed.map_or_else(|| self.side.find(&directory, name), |node| Ok(Some(node))) {
            Ok(found) => found,
            Err(refused) => {
                self.failed("look up", path, Cause::Refused(refused));
                None
            }
        }
    }

    fn failed(&self, step: &'static str, path: &[u8], cause: Cause) {
        let path = (self.shown)(path);
        (self.on_change)(Change::Failed(&CopyError { step, on: On::Destination, path, cause, left: None }));
    }

    fn is_source(&self, node: &Node) -> bool {
        let id = (self.side.realm, node.attributes.file_system, node.attributes.file);
        self.sources.contains(&id)
    }
}

/// All names of a directory, with their nodes as far as the listing has them.
pub(super) type Names = HashMap<Vec<u8>, Option<Node>>;

/// Lists a directory.
pub(super) fn names(side: &Side, directory: Handle) -> Result<Names, Cause> {
    let mut batches = Batches::new(&*side.file_system, &side.caller, directory, Detail::Nodes, false);
    let mut all = HashMap::new();
    let wants = |name: &[u8]| !matches!(name, b"." | b"..");
    while let Some(batch) = batches.next(wants).map_err(|error| match error {
        BatchError::Refused(refused) => Cause::Refused(refused),
        BatchError::TooMany | BatchError::Circle => Cause::EndlessListing,
    })? {
        all.extend(batch);
        if all.len() > NAMES_MAX {
            return Err(Cause::TooMany);
        }
    }
    Ok(all)
}

/// The path of a name below another one; the root has none.
pub(super) fn below(path: &[u8], name: &[u8]) -> Vec<u8> {
    match path {
        b"" => name.to_vec(),
        path if path.ends_with(b"/") => [path, name].concat(),
        path => [path, b"/", name].concat(),
    }
}
