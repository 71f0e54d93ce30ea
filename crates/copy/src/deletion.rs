//! Removing what sources do not have, when all is copied: two trees are walked beside each other, from what they are now. Knows nothing
//! of the copy but its options.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use howdah_vfs::{FileKind, FsError, NewAttributes, Node, SetTime};
use parking_lot::Mutex;

use super::at_once::at_once;
use super::crew::Crew;
use super::error::{Cause, CopyError, On};
use super::naming::is_ours;
use super::removal::{Budget, Change, NAMES_MAX, Names, OnChange, Removal, SourceRoot, below, names};
use super::{CopyOptions, CopyTarget, Item, Side, StopSign};

/// A source directory and where it went.
pub(super) struct Tree {
    source: Arc<Side>,
    node: Node,
    target: CopyTarget,
    /// The paths of both, as messages show them.
    path: Vec<u8>,
    directory_path: Vec<u8>,
}

impl Tree {
    /// Those of items that are directories.
    pub(super) fn of(items: &[Item]) -> Vec<Self> {
        let directories = items.iter().filter(|item| item.node.attributes.kind == FileKind::Directory);
        let tree = |item: &Item| Self {
            source: Arc::clone(&item.source),
            node: item.node,
            target: item.target.clone(),
            path: item.path.clone(),
            directory_path: item.directory_path.clone(),
        };
        directories.map(tree).collect()
    }

    /// A path below the destination, as messages show it.
    fn shown(&self, path: &[u8]) -> Vec<u8> {
        let root = match &self.target {
            CopyTarget::Directory(_) => self.directory_path.clone(),
            CopyTarget::Entry { name, .. } => below(&self.directory_path, name),
        };
        if path.is_empty() { root } else { below(&root, path) }
    }

    /// What is never removed of it.
    pub(super) fn root(&self) -> SourceRoot {
        let attributes = &self.node.attributes;
        (self.source.realm, attributes.file_system, attributes.file)
    }
}

/// What a source does not have: a name in a directory that both sides have.
struct Extra {
    pair: Arc<Pair>,
    name: Vec<u8>,
    node: Node,
}

/// What one directory has too much.
type ExtrasOf<'a> = (Arc<Pair>, Vec<(&'a Tree, Extra)>);

/// What all trees have too much.
#[derive(Default)]
pub(super) struct Extras<'a>(Vec<(&'a Tree, Extra)>);

impl Extras<'_> {
    /// How the destination of a source is shown to people that is empty, of whose copy something would be removed.
    pub(super) fn emptied(&self) -> Option<Vec<u8>> {
        let is_emptied = |(_, extra): &&(&Tree, Extra)| extra.pair.is_empty_root;
        self.0.iter().find(is_emptied).map(|(tree, _)| tree.shown(b""))
    }
}

/// A directory that both sides have.
struct Pair {
    source: Node,
    target: Node,
    /// Its path below the root of the source, empty for the root.
    path: Vec<u8>,
    /// That of the root at the destination.
    file_system: u64,
    /// Whether the source is empty as a whole.
    is_empty_root: bool,
}

impl<'a> Extras<'a> {
    /// Those of each directory, which come one after the other.
    fn by_directory(self) -> Vec<ExtrasOf<'a>> {
        let mut directories: Vec<ExtrasOf<'a>> = Vec::new();
        for (tree, extra) in self.0 {
            match directories.last_mut() {
                Some((pair, extras)) if Arc::ptr_eq(pair, &extra.pair) => extras.push((tree, extra)),
                _ => directories.push((Arc::clone(&extra.pair), vec![(tree, extra)])),
            }
        }
        directories
    }
}

/// What is removed of a destination.
pub(super) struct Deletion<'a> {
    destination: &'a Side,
    options: &'a CopyOptions,
    stop: &'a StopSign,
    crew: &'a Crew,
    /// Roots of sources, which are never removed.
    sources: &'a [SourceRoot],
    left: &'a Budget,
}

/// A directory is not looked into any further.
struct Ended;

impl<'a> Deletion<'a> {
    /// Removes nothing yet.
    pub(super) fn new(
        destination: &'a Side,
        options: &'a CopyOptions,
        stop: &'a StopSign,
        (sources, left, crew): (&'a [SourceRoot], &'a Budget, &'a Crew),
    ) -> Self {
        Self { destination, options, stop, crew, sources, left }
    }

    /// Finds what the source of a tree does not have. Ends where the source cannot be read.
    pub(super) fn find<'t>(&self, tree: &'t Tree, extras: &mut Extras<'t>, on_change: &OnChange<'_>) {
        let root = match &tree.target {
            CopyTarget::Directory(node) => Some(*node),
            CopyTarget::Entry { directory, name } => self.destination.find(directory, name).ok().flatten(),
        };
        let Some(root) = root.filter(|node| node.attributes.kind == FileKind::Directory) else { return };
        let file_system = root.attributes.file_system;
        let walk = Walk { deletion: self, tree, file_system, on_change };
        let mut found = Vec::new();
        let (source, target, path) = (tree.node, root, Vec::new());
        let mut left = vec![Pair { source, target, path, file_system, is_empty_root: false }];
        while let Some(pair) = left.pop() {
            let ended = walk.directory(pair, &mut left, &mut found);
            if self.stop.is_set() || ended.is_err() {
                return;
            }
        }
        extras.0.extend(found.into_iter().map(|extra| (tree, extra)));
    }

    /// Removes what was found.
    pub(super) fn remove(&self, extras: Extras<'_>, on_change: &OnChange<'_>) {
        self.crew.all(extras.by_directory(), |(pair, extras)| {
            let is_changed = AtomicBool::new(false);
            self.crew.all(extras, |(tree, extra)| {
                let Extra { name, node, .. } = &extra;
                let walk = Walk { deletion: self, tree, file_system: pair.file_system, on_change };
                let path = below(&pair.path, name);
                let is_gone =
                    walk.with_removal(|removal| removal.remove((&pair.target, name), node, &path, 0));
                is_changed.fetch_or(is_gone, Ordering::Relaxed);
                is_gone
            });
            if is_changed.into_inner() {
                self.give_times(&pair);
            }
            true
        });
    }

    /// What was removed changed the time of the directory, which the copy had set.
    fn give_times(&self, pair: &Pair) {
        let attributes = &pair.source.attributes;
        let (accessed, modified) = (SetTime::To(attributes.accessed), SetTime::To(attributes.modified));
        if self.options.preserve.times && !self.options.dry_run {
            let times = NewAttributes { accessed, modified, ..NewAttributes::default() };
            // Another user's directory may be emptied and not be changed otherwise, as in the copy.
            let _ = self.destination.set(&pair.target.handle, &times);
        }
    }
}

/// One tree.
struct Walk<'a> {
    deletion: &'a Deletion<'a>,
    tree: &'a Tree,
    /// That of the root at the destination.
    file_system: u64,
    on_change: &'a OnChange<'a>,
}

impl Walk<'_> {
    /// Finds what one directory has too much, and puts the directories that both have on the list.
    fn directory(&self, pair: Pair, left: &mut Vec<Pair>, extras: &mut Vec<Extra>) -> Result<(), Ended> {
        let on_change = self.on_change;
        let source = &self.tree.source;
        let (known, there) = at_once(
            || names(source, pair.source.handle),
            || names(self.deletion.destination, pair.target.handle),
        );
        // It is gone since it was listed above. The next run removes what is left of it.
        if !pair.path.is_empty() && matches!(known, Err(Cause::Refused(FsError::Stale | FsError::NotFound))) {
            return Ok(());
        }
        let known = known.map_err(|cause| {
            on_change(Change::Failed(&error("list", On::Source, self.source_path(&pair.path), cause)));
            Ended
        })?;
        let is_empty_root = pair.path.is_empty() && known.is_empty();
        let pair = Arc::new(Pair { is_empty_root, ..pair });
        let there = match there {
            Ok(there) => there,
            Err(cause) => {
                on_change(Change::Failed(&error("list", On::Destination, self.path(&pair.path), cause)));
                return Ok(());
            }
        };
        let spelled = match self.spelled_otherwise(&pair, &known, &there) {
            Ok(spelled) => spelled,
            Err((name, refused)) => {
                let (path, cause) = (self.path(&below(&pair.path, &name)), Cause::Refused(refused));
                on_change(Change::Failed(&error("look up", On::Destination, path, cause)));
                return Ok(());
            }
        };
        let mut there: Vec<(Vec<u8>, Option<Node>)> = there.into_iter().collect();
        there.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, node) in there {
            if self.deletion.stop.is_set() {
                return Err(Ended);
            }
            let path = below(&pair.path, &name);
            let found = self.with_removal(|removal| removal.node(pair.target.handle, &name, node, &path));
            let Some(node) = found else { continue };
            let known_as =
                known.get_key_value(&name).or_else(|| known.get_key_value(spelled.get(&place(&node))?));
            match known_as {
                None if self.with_removal(|removal| removal.leaves(&name, &node, &path)) => {}
                None if extras.len() == NAMES_MAX => {
                    let path = self.path(&path);
                    on_change(Change::Failed(&error("delete", On::Destination, path, Cause::TooMany)));
                    return Err(Ended);
                }
                None => extras.push(Extra { pair: Arc::clone(&pair), name, node }),
                Some((name, other)) => {
                    let other = other.or_else(|| source.find(&pair.source.handle, name).ok().flatten());
                    if let Some(other) = other.as_ref().filter(|other| self.is_entered(other, &node, &path)) {
                        let (source, target, file_system) = (*other, node, self.file_system);
                        left.push(Pair { source, target, path, file_system, is_empty_root: false });
                    }
                }
            }
        }
        Ok(())
    }

    /// Names of the source that the destination lists in another spelling (it folds letters, or composes them otherwise), by what they
    /// lead to. Asked only where something would be removed. Fails with the first name that cannot be looked up.
    fn spelled_otherwise(
        &self,
        pair: &Pair,
        known: &Names,
        there: &Names,
    ) -> Result<HashMap<Place, Vec<u8>>, (Vec<u8>, FsError)> {
        if there.keys().all(|name| known.contains_key(name) || is_ours(name)) {
            return Ok(HashMap::new());
        }
        let (found, failed) = (Mutex::new(HashMap::new()), Mutex::new(None));
        let missing: Vec<&Vec<u8>> = known.keys().filter(|name| !there.contains_key(*name)).collect();
        self.deletion.crew.all(missing, |name| {
            match self.deletion.destination.find(&pair.target.handle, name) {
                Ok(Some(node)) => _ = found.lock().insert(place(&node), name.clone()),
                Ok(None) => {}
                Err(refused) => *failed.lock() = Some((name.clone(), refused)),
            }
            true
        });
        failed.into_inner().map_or_else(|| Ok(found.into_inner()), Err)
    }

    /// Whether both are directories that the copy went into.
    fn is_entered(&self, source: &Node, target: &Node, path: &[u8]) -> bool {
        let options = self.deletion.options;
        let is_here = source.attributes.file_system == self.tree.node.attributes.file_system;
        let are_directories = [source, target].iter().all(|node| node.attributes.kind == FileKind::Directory);
        are_directories && (is_here || !options.one_file_system) && !options.patterns.excludes(path, true)
    }

    /// Removes below this tree's root.
    fn with_removal<T>(&self, work: impl FnOnce(&Removal<'_>) -> T) -> T {
        let deletion = self.deletion;
        let shown = |path: &[u8]| self.path(path);
        work(&Removal {
            side: deletion.destination,
            options: deletion.options,
            stop: deletion.stop,
            crew: deletion.crew,
            sources: deletion.sources,
            file_system: self.file_system,
            takes_unfinished: false,
            left: deletion.left,
            shown: &shown,
            on_change: self.on_change,
        })
    }

    /// A path at the destination, as messages show it.
    fn path(&self, path: &[u8]) -> Vec<u8> {
        self.tree.shown(path)
    }

    fn source_path(&self, path: &[u8]) -> Vec<u8> {
        if path.is_empty() { self.tree.path.clone() } else { below(&self.tree.path, path) }
    }
}

/// The identity of a node on its side: file system and number.
type Place = (u64, u64);

fn place(node: &Node) -> Place {
    (node.attributes.file_system, node.attributes.file)
}

fn error(step: &'static str, on: On, path: Vec<u8>, cause: Cause) -> CopyError {
    CopyError { step, on, path, cause, left: None }
}
