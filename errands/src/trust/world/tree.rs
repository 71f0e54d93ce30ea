//! The model: names and the nodes that they name, and what each call does to them. Knows no file system.

use std::collections::BTreeMap;
use std::sync::Arc;

use howdah_vfs::{FsError, Stability};

use super::act::{Act, split};
use super::content::Content;

/// A node, whatever its names. The territory's own directory is [`World::ROOT`].
pub type NodeId = u64;

/// What a node is.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "they are the kinds of nodes")]
pub enum Kind {
    File(Arc<Content>),
    Directory,
    Link(String),
    Pipe,
}

/// A node.
#[derive(Debug, Clone)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Its permission bits; a symbolic link has none.
    pub mode: u32,
}

/// Whether a call was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answered {
    /// It was: its promises hold.
    Yes,
    /// It was under way: it may have been carried out, and promised nothing.
    NotYet,
}

/// Everything in a territory.
#[derive(Debug, Clone)]
pub struct World {
    names: BTreeMap<String, NodeId>,
    nodes: BTreeMap<NodeId, Node>,
    next: NodeId,
    /// Whether what was written unstably cannot be lost: its loss is not what this campaign is about.
    keeps_unstable: bool,
}

impl World {
    /// The directory that all is in.
    pub const ROOT: NodeId = 0;
    /// The mode of everything that is made here.
    pub const MODE: u32 = 0o640;
    /// The mode of a directory.
    pub const DIRECTORY_MODE: u32 = 0o750;

    /// An empty one.
    pub fn new(keeps_unstable: bool) -> Self {
        Self { names: BTreeMap::new(), nodes: BTreeMap::new(), next: 1, keeps_unstable }
    }

    /// Bytes that are kept of its files.
    pub fn kept(&self) -> usize {
        let kept = |node: &Node| if let Kind::File(content) = &node.kind { content.kept() } else { 0 };
        self.nodes.values().map(kept).sum()
    }

    /// Every name.
    pub fn names(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.names.iter().map(|(path, id)| (path.as_str(), &self.nodes[id]))
    }

    /// The node that a path names.
    pub fn find(&self, path: &str) -> Option<(NodeId, &Node)> {
        let id = *self.names.get(path)?;
        Some((id, &self.nodes[&id]))
    }

    /// Whether a node has a name still.
    pub fn holds(&self, id: NodeId) -> bool {
        id == Self::ROOT || self.nodes.contains_key(&id)
    }

    /// The number of a directory that is there.
    pub fn directory(&self, path: &str) -> Option<NodeId> {
        match path {
            "" => Some(Self::ROOT),
            _ => self.find(path).filter(|(_, node)| matches!(node.kind, Kind::Directory)).map(|(id, _)| id),
        }
    }

    /// How many names a node has.
    pub fn links(&self, id: NodeId) -> usize {
        self.names.values().filter(|&&named| named == id).count()
    }

    /// The names of a node.
    pub fn names_of(&self, id: NodeId) -> impl Iterator<Item = &str> {
        self.names.iter().filter(move |(_, named)| **named == id).map(|(path, _)| path.as_str())
    }

    /// The names in a directory.
    pub fn entries(&self, directory: &str) -> impl Iterator<Item = &str> {
        self.names
            .keys()
            .map(|path| split(path))
            .filter(move |(parent, _)| *parent == directory)
            .map(|(_, name)| name)
    }

    /// How a call must be answered; none if it is not one to be made now.
    pub fn verdict(&self, act: &Act) -> Option<Result<(), FsError>> {
        let kind = |path: &str| self.find(path).map(|(_, node)| &node.kind);
        let place = |path: &str| self.directory(split(path).0);
        match act {
            Act::Create { path, .. }
            | Act::MakeDirectory { path }
            | Act::MakeLink { path, .. }
            | Act::MakePipe { path } => {
                place(path)?;
                Some(if kind(path).is_some() { Err(FsError::Exists) } else { Ok(()) })
            }
            Act::Remove { path } => {
                place(path)?;
                match kind(path) {
                    Some(Kind::Directory) => None,
                    Some(_) => Some(Ok(())),
                    None => Some(Err(FsError::NotFound)),
                }
            }
            Act::RemoveDirectory { path } => {
                place(path)?;
                match kind(path) {
                    Some(Kind::Directory) if self.entries(path).next().is_some() => {
                        Some(Err(FsError::NotEmpty))
                    }
                    Some(Kind::Directory) => Some(Ok(())),
                    Some(_) => None,
                    None => Some(Err(FsError::NotFound)),
                }
            }
            Act::Rename { from, to } => self.verdict_of_rename(from, to),
            Act::Link { from, to } => {
                place(to)?;
                matches!(kind(from)?, Kind::File(_)).then_some(())?;
                Some(if kind(to).is_some() { Err(FsError::Exists) } else { Ok(()) })
            }
            Act::SetSize { path, .. } | Act::Write { path, .. } | Act::Commit { path } => {
                matches!(kind(path)?, Kind::File(_)).then_some(Ok(()))
            }
            Act::SetMode { path, .. } => (!matches!(kind(path)?, Kind::Link(_))).then_some(Ok(())),
        }
    }

    fn verdict_of_rename(&self, from: &str, to: &str) -> Option<Result<(), FsError>> {
        self.directory(split(from).0)?;
        self.directory(split(to).0)?;
        let Some((id, node)) = self.find(from) else { return Some(Err(FsError::NotFound)) };
        let moves_directory = matches!(node.kind, Kind::Directory);
        if moves_directory && (to == from || to.starts_with(&format!("{from}/"))) {
            return None;
        }
        match self.find(to) {
            None => Some(Ok(())),
            // Two names of one node: nothing happens.
            Some((other, _)) if other == id => Some(Ok(())),
            Some((_, other)) => match (moves_directory, matches!(other.kind, Kind::Directory)) {
                (false, false) => Some(Ok(())),
                (true, true) if self.entries(to).next().is_none() => Some(Ok(())),
                (true, true) => Some(Err(FsError::NotEmpty)),
                _ => None,
            },
        }
    }

    /// Does what a call does that is carried out. Gives the number of what was made.
    pub fn apply(&mut self, act: &Act, answered: Answered) -> Option<NodeId> {
        let file = |content| Kind::File(Arc::new(content));
        match act {
            Act::Create { path, how: super::How::Exclusive(_) } => {
                // Until its attributes are set, such a file is for its owner alone.
                return Some(self.make(path, file(Content::default()), 0o600));
            }
            Act::Create { path, .. } => return Some(self.make(path, file(Content::default()), Self::MODE)),
            Act::MakeDirectory { path } => {
                return Some(self.make(path, Kind::Directory, Self::DIRECTORY_MODE));
            }
            Act::MakeLink { path, target } => return Some(self.make(path, Kind::Link(target.clone()), 0)),
            Act::MakePipe { path } => return Some(self.make(path, Kind::Pipe, Self::MODE)),
            Act::Remove { path } | Act::RemoveDirectory { path } => self.unname(path),
            Act::Rename { from, to } => self.rename(from, to),
            Act::Link { from, to } => {
                let id = self.names[from];
                self.names.insert(to.clone(), id);
            }
            Act::SetMode { path, mode } => self.change(path, |node| node.mode = *mode),
            Act::SetSize { path, size } => self.change_content(path, |content| match answered {
                Answered::Yes => content.resize(*size),
                Answered::NotYet => content.resize_openly(*size),
            }),
            Act::Write { path, at, bytes, stability } => {
                let stable = self.keeps_unstable || *stability != Stability::Unstable;
                self.change_content(path, |content| {
                    content.write(*at, bytes, stable && answered == Answered::Yes)
                });
            }
            Act::Commit { path } if answered == Answered::Yes => self.change_content(path, Content::settle),
            Act::Commit { .. } => {}
        }
        None
    }

    fn make(&mut self, path: &str, kind: Kind, mode: u32) -> NodeId {
        let id = self.next;
        self.next += 1;
        self.names.insert(path.to_owned(), id);
        self.nodes.insert(id, Node { kind, mode });
        id
    }

    fn unname(&mut self, path: &str) {
        if let Some(id) = self.names.remove(path)
            && self.links(id) == 0
        {
            self.nodes.remove(&id);
        }
    }

    fn rename(&mut self, from: &str, to: &str) {
        if self.names.get(from) == self.names.get(to) {
            return;
        }
        self.unname(to);
        let below = format!("{from}/");
        let moved: Vec<String> =
            self.names.keys().filter(|path| *path == from || path.starts_with(&below)).cloned().collect();
        for path in moved {
            let id = self.names.remove(&path).expect("it was just listed");
            self.names.insert(format!("{to}{}", &path[from.len()..]), id);
        }
    }

    fn change(&mut self, path: &str, change: impl FnOnce(&mut Node)) {
        if let Some(node) = self.names.get(path).and_then(|id| self.nodes.get_mut(id)) {
            change(node);
        }
    }

    fn change_content(&mut self, path: &str, change: impl FnOnce(&mut Content)) {
        self.change(path, |node| {
            if let Kind::File(content) = &mut node.kind {
                change(Arc::make_mut(content));
            }
        });
    }
}
