//! A directory tree as POSIX has it, in memory: what each change of names must answer and leave behind.

use std::collections::BTreeMap;

use rustix::io::Errno;

/// Number of a node.
pub type Node = usize;

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Its names.
    Directory(BTreeMap<String, Node>),
    /// Its text.
    File(String),
    /// Its target.
    Symlink(String),
}

/// The tree. Paths are lists of names below the root.
#[derive(Debug)]
pub struct Model {
    nodes: Vec<Kind>,
}

type Path<'a> = &'a [String];

impl Model {
    /// An empty root.
    pub fn new() -> Self {
        Self { nodes: vec![Kind::Directory(BTreeMap::new())] }
    }

    /// What is at a path.
    pub fn find(&self, path: Path) -> Result<&Kind, Errno> {
        self.node(path).map(|node| &self.nodes[node])
    }

    /// How many names a file has.
    pub fn links(&self, path: Path) -> Result<u64, Errno> {
        let node = self.node(path)?;
        let count = |kind: &Kind| match kind {
            Kind::Directory(names) => names.values().filter(|entry| **entry == node).count(),
            _ => 0,
        };
        Ok(self.nodes.iter().map(count).sum::<usize>() as u64)
    }

    /// Makes a node that must not be there yet.
    pub fn make(&mut self, path: Path, kind: Kind) -> Result<(), Errno> {
        let (parent, name) = self.parent(path)?;
        if self.names(parent).contains_key(name) {
            return Err(Errno::EXIST);
        }
        self.nodes.push(kind);
        let node = self.nodes.len() - 1;
        self.names_mut(parent).insert(name.to_owned(), node);
        Ok(())
    }

    /// Replaces a file's text.
    pub fn rewrite(&mut self, path: Path, text: &str) -> Result<(), Errno> {
        let node = self.node(path)?;
        match &mut self.nodes[node] {
            Kind::File(old) => *old = text.to_owned(),
            Kind::Directory(_) => return Err(Errno::ISDIR),
            Kind::Symlink(_) => return Err(Errno::LOOP),
        }
        Ok(())
    }

    /// Removes a name that is not a directory's.
    pub fn unlink(&mut self, path: Path) -> Result<(), Errno> {
        let (parent, name) = self.parent(path)?;
        let node = *self.names(parent).get(name).ok_or(Errno::NOENT)?;
        if self.is_directory(node) {
            return Err(Errno::ISDIR);
        }
        self.forget(parent, name);
        Ok(())
    }

    /// Removes an empty directory.
    pub fn rmdir(&mut self, path: Path) -> Result<(), Errno> {
        let (parent, name) = self.parent(path)?;
        let node = *self.names(parent).get(name).ok_or(Errno::NOENT)?;
        match &self.nodes[node] {
            Kind::Directory(names) if names.is_empty() => self.forget(parent, name),
            Kind::Directory(_) => return Err(Errno::NOTEMPTY),
            _ => return Err(Errno::NOTDIR),
        }
        Ok(())
    }

    /// Gives a file another name.
    pub fn link(&mut self, from: Path, to: Path) -> Result<(), Errno> {
        let node = self.node(from)?;
        let (parent, name) = self.parent(to)?;
        if self.names(parent).contains_key(name) {
            return Err(Errno::EXIST);
        }
        if self.is_directory(node) {
            return Err(Errno::PERM);
        }
        self.names_mut(parent).insert(name.to_owned(), node);
        Ok(())
    }

    /// Moves a name, replacing what is there.
    pub fn rename(&mut self, from: Path, to: Path) -> Result<(), Errno> {
        let (from_parent, from_name) = self.parent(from)?;
        let (to_parent, to_name) = self.parent(to)?;
        let node = *self.names(from_parent).get(from_name).ok_or(Errno::NOENT)?;
        if to.len() > from.len() && to.starts_with(from) {
            return Err(Errno::INVAL);
        }
        if from.len() > to.len() && from.starts_with(to) {
            return Err(Errno::NOTEMPTY);
        }
        if let Some(replaced) = self.names(to_parent).get(to_name).copied() {
            if replaced == node {
                return Ok(());
            }
            match (self.is_directory(node), &self.nodes[replaced]) {
                (true, Kind::Directory(names)) if !names.is_empty() => return Err(Errno::NOTEMPTY),
                (true, Kind::File(_) | Kind::Symlink(_)) => return Err(Errno::NOTDIR),
                (false, Kind::Directory(_)) => return Err(Errno::ISDIR),
                _ => {}
            }
        }
        self.forget(from_parent, from_name);
        self.names_mut(to_parent).insert(to_name.to_owned(), node);
        Ok(())
    }

    fn node(&self, path: Path) -> Result<Node, Errno> {
        path.iter().try_fold(0, |node, name| match &self.nodes[node] {
            Kind::Directory(names) => names.get(name).copied().ok_or(Errno::NOENT),
            Kind::File(_) => Err(Errno::NOTDIR),
            // Every target in this test is nowhere.
            Kind::Symlink(_) => Err(Errno::NOENT),
        })
    }

    fn parent<'a>(&self, path: Path<'a>) -> Result<(Node, &'a str), Errno> {
        let (name, above) = path.split_last().ok_or(Errno::INVAL)?;
        let parent = self.node(above)?;
        match self.nodes[parent] {
            Kind::Directory(_) => Ok((parent, name)),
            Kind::File(_) => Err(Errno::NOTDIR),
            Kind::Symlink(_) => Err(Errno::NOENT),
        }
    }

    fn is_directory(&self, node: Node) -> bool {
        matches!(self.nodes[node], Kind::Directory(_))
    }

    fn names(&self, node: Node) -> &BTreeMap<String, Node> {
        match &self.nodes[node] {
            Kind::Directory(names) => names,
            _ => unreachable!("parent() gives directories only"),
        }
    }

    fn names_mut(&mut self, node: Node) -> &mut BTreeMap<String, Node> {
        match &mut self.nodes[node] {
            Kind::Directory(names) => names,
            _ => unreachable!("parent() gives directories only"),
        }
    }

    fn forget(&mut self, parent: Node, name: &str) {
        self.names_mut(parent).remove(name);
    }
}
