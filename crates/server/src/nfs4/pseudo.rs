//! The pseudo file system (RFC 8881 7.3): read-only directories that lead from the root to every export, so that one tree
//! holds all of them.

use std::sync::{Arc, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::copies::Copies;
use howdah_random::spread;
use howdah_vfs::{Handle, Timestamp};

use crate::exports::{Export, Exports, Identity};
use crate::{Peer, SealedHandle};

/// The id that stands in the handles of pseudo directories in place of an export's.
const EXPORT_ID: u32 = u32::MAX;
/// The cookies 0, 1 and 2 mean something else (RFC 8881 18.23.3).
const FIRST_COOKIE: u64 = 3;

/// A directory of the tree, by its place in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PseudoDirectory(usize);

/// All pseudo directories. The first is the root.
#[derive(Debug)]
pub struct PseudoTree {
    places: Vec<Place>,
    made: Timestamp,
}

/// A directory of the tree.
#[derive(Debug)]
struct Place {
    /// From the root, with a slash before each part; the root's is empty.
    path: String,
    parent: usize,
    /// In the order of their names.
    children: Vec<usize>,
    /// The export whose root covers it.
    export: Option<u32>,
}

/// What stands behind a name of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Behind {
    /// A directory that leads on.
    Directory(PseudoDirectory),
    /// The root of the export with this id, and the directory that it covers.
    Export(u32, PseudoDirectory),
}

impl Behind {
    /// The directory of the tree.
    pub fn directory(self) -> PseudoDirectory {
        let (Self::Directory(directory) | Self::Export(_, directory)) = self;
        directory
    }
}

/// An entry of a pseudo directory.
pub struct PseudoEntry<'t> {
    /// Its name.
    pub name: &'t str,
    /// Where a listing goes on behind it.
    pub cookie: u64,
    /// What it is.
    pub behind: Behind,
}

/// The tree of the exports as they were the last time.
#[derive(Debug)]
pub struct TreeOfExports(Copies<Option<(Weak<Exports>, Arc<PseudoTree>)>>);

impl Default for TreeOfExports {
    fn default() -> Self {
        Self(Copies::new(None))
    }
}

impl TreeOfExports {
    /// The tree of these exports.
    pub fn of(&self, exports: &Arc<Exports>) -> Arc<PseudoTree> {
        type Kept = Option<(Weak<Exports>, Arc<PseudoTree>)>;
        let is_its = |of: &Weak<Exports>| std::ptr::eq(of.as_ptr(), Arc::as_ptr(exports));
        let tree = |kept: &Kept| kept.as_ref().filter(|(of, _)| is_its(of)).map(|(_, tree)| Arc::clone(tree));
        if let Some(tree) = self.0.look(tree) {
            return tree;
        }
        let tree = Arc::new(PseudoTree::of(exports.iter().map(|export| (export.name(), export.id()))));
        self.0.replace(&Some((Arc::downgrade(exports), Arc::clone(&tree))));
        tree
    }
}

impl PseudoTree {
    /// The root.
    pub const ROOT: PseudoDirectory = PseudoDirectory(0);

    /// The tree of exports with these names and ids.
    fn of<'e>(exports: impl Iterator<Item = (&'e str, u32)>) -> Self {
        let root = Place { path: String::new(), parent: 0, children: Vec::new(), export: None };
        let mut tree = Self { places: vec![root], made: now() };
        for (name, id) in exports {
            let place =
                name.split('/').filter(|part| !part.is_empty()).fold(0, |at, part| tree.step(at, part));
            tree.places[place].export = Some(id);
        }
        for at in 0..tree.places.len() {
            let mut children = std::mem::take(&mut tree.places[at].children);
            children.sort_by(|one, other| tree.places[*one].path.cmp(&tree.places[*other].path));
            tree.places[at].children = children;
        }
        tree
    }

    /// The child of that name, made if need be.
    fn step(&mut self, parent: usize, name: &str) -> usize {
        let path = format!("{}/{name}", self.places[parent].path);
        if let Some(at) = self.places.iter().position(|place| place.path == path) {
            return at;
        }
        self.places.push(Place { path, parent, children: Vec::new(), export: None });
        let child = self.places.len() - 1;
        self.places[parent].children.push(child);
        child
    }

    /// When the tree was made: at the start, and after each reload.
    pub fn made(&self) -> Timestamp {
        self.made
    }

    /// What the root is: an export may cover it.
    pub fn root(&self) -> Behind {
        self.behind(0)
    }

    fn behind(&self, at: usize) -> Behind {
        match self.places[at].export {
            Some(export) => Behind::Export(export, PseudoDirectory(at)),
            None => Behind::Directory(PseudoDirectory(at)),
        }
    }

    /// What stands behind a name in a directory.
    pub fn find(&self, directory: PseudoDirectory, name: &[u8]) -> Option<Behind> {
        let mut children = self.places[directory.0].children.iter();
        children.find(|child| self.name(**child).as_bytes() == name).map(|child| self.behind(*child))
    }

    /// The directory above; the root's is the root. `None`: an export covers it, and its root is that directory.
    pub fn parent(&self, directory: PseudoDirectory) -> Behind {
        self.behind(self.places[directory.0].parent)
    }

    /// The entries behind a cookie.
    pub fn entries(&self, directory: PseudoDirectory, cookie: u64) -> impl Iterator<Item = PseudoEntry<'_>> {
        let skipped = if cookie < FIRST_COOKIE { 0 } else { cookie - FIRST_COOKIE + 1 };
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        let children = self.places[directory.0].children.iter().enumerate().skip(skipped);
        children.map(|(position, child)| PseudoEntry {
            name: self.name(*child),
            cookie: FIRST_COOKIE + position as u64,
            behind: self.behind(*child),
        })
    }

    /// The directory that an export's root covers.
    pub fn covered_by(&self, export: u32) -> Option<PseudoDirectory> {
        self.places.iter().position(|place| place.export == Some(export)).map(PseudoDirectory)
    }

    /// Its file number, the same over restarts.
    pub fn file(&self, directory: PseudoDirectory) -> u64 {
        number(&self.places[directory.0].path)
    }

    /// Its number of links: itself, its name, and each directory in it.
    pub fn links(&self, directory: PseudoDirectory) -> u32 {
        u32::try_from(self.places[directory.0].children.len())
            .map_or(u32::MAX, |children| children.saturating_add(2))
    }

    /// What clients get for its handle.
    pub fn seal(&self, exports: &Exports, directory: PseudoDirectory) -> SealedHandle {
        let inner = Handle::new(&self.file(directory).to_be_bytes()).expect("eight bytes fit");
        exports.seal_as(EXPORT_ID, &inner)
    }

    /// Whether a handle with this id in the place of an export's is a pseudo directory's.
    pub fn has(id: u32) -> bool {
        id == EXPORT_ID
    }

    /// The directory that a handle names.
    ///
    /// # Errors
    /// It leads nowhere now.
    pub fn open(&self, handle: &Handle) -> Result<PseudoDirectory, GoneDirectory> {
        let found = (0..self.places.len())
            .find(|at| number(&self.places[*at].path).to_be_bytes() == *handle.as_bytes());
        found.map(PseudoDirectory).ok_or(GoneDirectory)
    }

    /// Whether something below, or the directory's own export, lets this client in: nobody is shown what leads nowhere.
    pub fn is_shown(&self, exports: &Exports, behind: Behind, peer: &Peer, identity: &Identity) -> bool {
        self.leads(exports, behind.directory().0, &|export| export.knows(peer, identity))
    }

    /// The exports below a directory, not the one that covers it.
    pub fn exports_below(&self, directory: PseudoDirectory) -> Vec<u32> {
        let (mut found, mut open) = (Vec::new(), self.places[directory.0].children.clone());
        while let Some(at) = open.pop() {
            found.extend(self.places[at].export);
            open.extend(&self.places[at].children);
        }
        found
    }

    fn leads(&self, exports: &Exports, at: usize, admits: &dyn Fn(&Export) -> bool) -> bool {
        let place = &self.places[at];
        place.export.and_then(|id| exports.find(id)).is_some_and(admits)
            || place.children.iter().any(|child| self.leads(exports, *child, admits))
    }

    fn name(&self, at: usize) -> &str {
        self.places[at].path.rsplit('/').next().unwrap_or_default()
    }
}

/// A pseudo directory that is there no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GoneDirectory;

/// A number for a path, by FNV-1a: the same in every run, and two paths of one server will hardly share one.
fn number(path: &str) -> u64 {
    let hash = path.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // Some clients take 0 for no number.
    spread(hash).max(1)
}

fn now() -> Timestamp {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: now.as_secs().cast_signed(), nanoseconds: now.subsec_nanos() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> PseudoTree {
        PseudoTree::of([("/srv/data", 1), ("/srv", 2), ("/home/b", 3), ("/home/a", 4)].into_iter())
    }

    #[test]
    fn no_directory_has_the_number_0() {
        let tree = tree();
        assert!((0..tree.places.len()).all(|at| tree.file(PseudoDirectory(at)) != 0));
    }

    #[test]
    fn a_reload_gives_the_tree_another_time() {
        let (trees, exports) = (TreeOfExports::default(), [(); 2].map(|()| Arc::new(Exports::default())));
        let made = |exports| trees.of(exports).made();
        let first = made(&exports[0]);
        assert_eq!(made(&exports[0]), first);
        // The clock may tick slowly.
        while now() == first {}
        assert!(made(&exports[1]) > first);
    }

    #[test]
    fn every_export_is_reached_from_the_root() {
        let tree = tree();
        let Behind::Directory(root) = tree.root() else { panic!("no export covers it") };
        let Some(Behind::Directory(home)) = tree.find(root, b"home") else { panic!("it leads on") };
        let Some(Behind::Export(3, b)) = tree.find(home, b"b") else { panic!("an export") };
        assert_eq!(tree.parent(b), Behind::Directory(home));
        assert_eq!(tree.covered_by(3), Some(b));
        let Some(Behind::Export(2, srv)) = tree.find(root, b"srv") else { panic!("an export") };
        assert!(matches!(tree.find(srv, b"data"), Some(Behind::Export(1, _))), "one within another");
        assert_eq!(tree.find(root, b"data"), None);
    }

    #[test]
    fn an_export_named_by_a_slash_is_the_root() {
        let tree = PseudoTree::of([("/", 7), ("/more", 8)].into_iter());
        assert_eq!(tree.root(), Behind::Export(7, PseudoTree::ROOT));
    }

    #[test]
    fn a_listing_goes_on_where_it_stopped() {
        let tree = tree();
        let Some(Behind::Directory(home)) = tree.find(PseudoTree::ROOT, b"home") else {
            panic!("it leads on")
        };
        let list =
            |cookie| tree.entries(home, cookie).map(|entry| (entry.name, entry.cookie)).collect::<Vec<_>>();
        assert_eq!(list(0), [("a", 3), ("b", 4)]);
        assert_eq!(list(3), [("b", 4)]);
        assert_eq!(list(4), []);
        assert_eq!(list(u64::MAX), []);
    }

    #[test]
    fn handles_outlive_a_change_of_exports() {
        let (tree, exports) = (tree(), Exports::default());
        let Some(Behind::Directory(home)) = tree.find(PseudoTree::ROOT, b"home") else {
            panic!("it leads on")
        };
        let sealed = tree.seal(&exports, home);
        let (id, handle) = exports.open(sealed.as_wire()).expect("ours");
        assert_eq!((PseudoTree::has(id), tree.open(&handle)), (true, Ok(home)));
        let other = PseudoTree::of([("/home/c", 1)].into_iter());
        let there = other.open(&handle).expect("still there");
        assert_eq!(other.file(there), tree.file(home));
        let gone = PseudoTree::of([("/other", 1)].into_iter());
        assert_eq!(gone.open(&handle), Err(GoneDirectory));
    }
}
