//! A program that changes names through a mount, and what it was answered: a tree, and the change that is under way.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;
use std::sync::Arc;

use howdah_random::Random;

/// A tree with more names than this is not made larger.
const NAMES_MAX: usize = 60;
/// What is appended to a file.
const MORE: &[u8] = b"more";

/// A tree: what has which name. Two names may be of one file.
#[derive(Debug, Clone, Default)]
pub struct Names {
    names: BTreeMap<String, u64>,
    nodes: BTreeMap<u64, Node>,
    next: u64,
}

/// What has a name.
#[derive(Clone, PartialEq, Eq)]
pub enum Node {
    Directory,
    File { mode: u32, data: Arc<Vec<u8>> },
    Link(String),
}

impl Node {
    /// Where the bytes of two files begin to differ, and what they are there.
    fn differs_at(&self, wanted: &Self) -> Option<String> {
        let (Self::File { data: found, .. }, Self::File { data: wanted, .. }) = (self, wanted) else {
            return None;
        };
        let at = found.iter().zip(wanted.iter()).position(|(found, wanted)| found != wanted)?;
        let some = |data: &[u8]| data[at..data.len().min(at + 8)].to_vec();
        Some(format!(", from byte {at}: {:?} in the place of {:?}", some(found), some(wanted)))
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory => formatter.write_str("a directory"),
            Self::File { mode, data } => write!(formatter, "a file of {} bytes, mode {mode:o}", data.len()),
            Self::Link(target) => write!(formatter, "a link to {target}"),
        }
    }
}

/// The states that a tree may be in: as all answered changes left it, and as the one that was not answered would.
pub type States = Vec<Names>;

impl Names {
    /// Every path and what is there.
    pub fn tree(&self) -> BTreeMap<&str, &Node> {
        self.names.iter().map(|(path, node)| (path.as_str(), &self.nodes[node])).collect()
    }

    fn make(&mut self, path: &str, node: Node) {
        self.next += 1;
        self.names.insert(path.to_owned(), self.next);
        self.nodes.insert(self.next, node);
    }

    fn all(&self, fits: impl Fn(&Node) -> bool) -> Vec<String> {
        self.names.iter().filter(|(_, node)| fits(&self.nodes[node])).map(|(path, _)| path.clone()).collect()
    }

    fn append(&mut self, path: &str, more: &[u8]) {
        if let Some(Node::File { data, .. }) = self.nodes.get_mut(&self.names[path]) {
            Arc::make_mut(data).extend_from_slice(more);
        }
    }

    /// This tree, with the data of the file that was written between two others.
    pub fn with_written(&self, before: &Self, after: &Self) -> Option<Self> {
        let data_of = |names: &Self, number: u64| match names.nodes.get(&number) {
            Some(Node::File { data, .. }) => Some(Arc::clone(data)),
            _ => None,
        };
        let is_written = |number: &&u64| {
            data_of(before, **number).is_some_and(|data| data_of(after, **number) != Some(data))
        };
        let written = after.nodes.keys().find(is_written)?;
        let (mut own, new) = (self.clone(), data_of(after, *written)?);
        let Some(Node::File { data, .. }) = own.nodes.get_mut(written) else { return None };
        *data = new;
        Some(own)
    }

    /// How a tree that was found differs from this one, if it does.
    pub fn difference(&self, there: &FoundTree) -> Option<String> {
        let (wanted, mut differ) = (self.tree(), Vec::new());
        for (path, node) in &there.0 {
            match wanted.get(path.as_str()) {
                Some(its) if *its == node => {}
                its => {
                    let what = its.and_then(|its| node.differs_at(its)).unwrap_or_default();
                    differ.push(format!("{path} is {node:?} and should be {its:?}{what}"));
                }
            }
        }
        let lost = wanted.iter().filter(|(path, _)| !there.0.contains_key(**path));
        differ.extend(lost.map(|(path, node)| format!("{path} is missing: {node:?}")));
        (!differ.is_empty()).then(|| differ.join("; "))
    }

    /// Makes one change below a directory, and says whether it was made durable. `states` is what the tree may be like from the
    /// moment of the call until its answer.
    pub fn change(&mut self, root: &Path, random: &mut Random, states: &mut States) -> io::Result<bool> {
        let mut directories = self.all(|node| *node == Node::Directory);
        directories.push(String::new());
        let files = self.all(|node| matches!(node, Node::File { .. }));
        let above = &directories[random.index(directories.len())];
        let name = format!("n{}", random.below(15));
        let free = if above.is_empty() { name } else { format!("{above}/{name}") };
        let is_free = !self.names.contains_key(&free) && self.names.len() < NAMES_MAX;
        let file = if files.is_empty() { None } else { Some(files[random.index(files.len())].clone()) };
        let at = |path: &str| root.join(path);
        let mut is_durable = false;
        *states = vec![self.clone()];
        match (random.below(13), file) {
            (0..=4, _) if is_free => {
                let mut data = vec![0; random.below(20_000) as usize];
                data.iter_mut().for_each(|byte| *byte = random.below(256) as u8);
                self.make(&free, Node::File { mode: 0o640, data: Arc::default() });
                states.push(self.clone());
                let data = Arc::new(data);
                self.nodes.insert(self.next, Node::File { mode: 0o640, data: Arc::clone(&data) });
                states.push(self.clone());
                let mut file = OpenOptions::new().write(true).create_new(true).mode(0o640).open(at(&free))?;
                file.write_all(&data)?;
                // What close refuses is no answer either.
                is_durable = random.one_in(8);
                if is_durable { file.sync_all() } else { nix::unistd::close(file).map_err(io::Error::from) }
            }
            (5, _) if is_free => {
                self.make(&free, Node::Directory);
                states.push(self.clone());
                fs::create_dir(at(&free))
            }
            (6, _) if is_free => {
                let target = format!("t{}", random.below(100));
                self.make(&free, Node::Link(target.clone()));
                states.push(self.clone());
                symlink(target, at(&free))
            }
            (7, file) => {
                // Links that stayed would take all names in the end, and nothing would change any more.
                let links = self.all(|node| matches!(node, Node::Link(_)));
                let removable: Vec<_> = file.into_iter().chain(links).collect();
                if removable.is_empty() {
                    return Ok(false);
                }
                let path = &removable[random.index(removable.len())];
                self.names.remove(path);
                states.push(self.clone());
                fs::remove_file(at(path))
            }
            (8 | 9, Some(path)) => {
                let other = files[random.index(files.len())].clone();
                let to = if is_free && random.one_in(2) { free } else { other };
                if self.names.get(&path) == self.names.get(&to) {
                    return Ok(false);
                }
                let node = self.names.remove(&path).expect("it is there");
                self.names.insert(to.clone(), node);
                states.push(self.clone());
                fs::rename(at(&path), at(&to))
            }
            (10, Some(path)) if is_free => {
                self.names.insert(free.clone(), self.names[&path]);
                states.push(self.clone());
                fs::hard_link(at(&path), at(&free))
            }
            (11, Some(path)) => {
                let new = [0o600, 0o640, 0o644][random.index(3)];
                if let Some(Node::File { mode, .. }) = self.nodes.get_mut(&self.names[&path]) {
                    *mode = new;
                }
                states.push(self.clone());
                fs::set_permissions(at(&path), fs::Permissions::from_mode(new))
            }
            (12, Some(path)) => {
                let mut torn = self.clone();
                torn.append(&path, &[0; MORE.len()]);
                self.append(&path, MORE);
                // Until it is answered, a server that loses its power may have the new size and not the data.
                states.extend([torn, self.clone()]);
                let mut file = OpenOptions::new().append(true).open(at(&path))?;
                file.write_all(MORE)?;
                nix::unistd::close(file)?;
                states.remove(1);
                Ok(())
            }
            _ => {
                let is_empty = |path: &&String| {
                    let below = format!("{path}/");
                    !path.is_empty() && !self.names.keys().any(|name| name.starts_with(&below))
                };
                let Some(path) = directories.iter().find(is_empty) else { return Ok(false) };
                self.names.remove(path);
                states.push(self.clone());
                fs::remove_dir(at(path))
            }
        }?;
        Ok(is_durable)
    }
}

/// What was found in a directory.
pub struct FoundTree(BTreeMap<String, Node>);

impl From<&Names> for FoundTree {
    /// What would be found if this was there.
    fn from(names: &Names) -> Self {
        Self(names.tree().into_iter().map(|(path, node)| (path.to_owned(), node.clone())).collect())
    }
}

impl FoundTree {
    /// Reads all of it.
    pub fn below(root: &Path) -> io::Result<Self> {
        let mut there = BTreeMap::new();
        look(root, "", &mut there)?;
        Ok(Self(there))
    }
}

fn look(root: &Path, below: &str, into: &mut BTreeMap<String, Node>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        let found = entry.path().symlink_metadata()?;
        let node = if found.is_dir() {
            look(root, &path, into)?;
            Node::Directory
        } else if found.is_symlink() {
            Node::Link(fs::read_link(entry.path())?.to_string_lossy().into_owned())
        } else {
            Node::File { mode: found.permissions().mode() & 0o7777, data: Arc::new(fs::read(entry.path())?) }
        };
        into.insert(path, node);
    }
    Ok(())
}
