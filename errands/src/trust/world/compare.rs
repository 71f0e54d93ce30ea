//! Compares a real directory with the model: every name, what it names, and every byte.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use super::act::{Act, join};
use super::tree::{Answered, Kind, Node, World};

/// What is found of a territory.
pub struct Found {
    nodes: BTreeMap<String, (Metadata, Vec<u8>)>,
}

impl Found {
    /// Reads all of a directory.
    pub fn read(directory: &Path) -> io::Result<Self> {
        let mut found = Self { nodes: BTreeMap::new() };
        found.walk(directory, "")?;
        Ok(found)
    }

    fn walk(&mut self, directory: &Path, below: &str) -> io::Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let metadata = fs::symlink_metadata(&path)?;
            let name = join(below, &name);
            let bytes = match metadata.file_type() {
                kind if kind.is_file() => fs::read(&path)?,
                kind if kind.is_symlink() => fs::read_link(&path)?.into_os_string().into_encoded_bytes(),
                _ => Vec::new(),
            };
            if metadata.is_dir() {
                self.walk(&path, &name)?;
            }
            self.nodes.insert(name, (metadata, bytes));
        }
        Ok(())
    }

    /// Bytes of files that were read.
    pub fn bytes(&self) -> u64 {
        self.nodes.values().map(|(_, bytes)| bytes.len() as u64).sum()
    }

    /// Whether this may be found where `world` was answered for and `pending` was under way; else what is wrong.
    pub fn judge(&self, world: &World, pending: Option<&Act>) -> Result<(), String> {
        let wrong = match self.equals(world) {
            Ok(()) => return Ok(()),
            Err(wrong) => wrong,
        };
        let Some(act) = pending.filter(|act| world.verdict(act) == Some(Ok(()))) else { return Err(wrong) };
        let mut after = world.clone();
        after.apply(act, Answered::NotYet);
        self.equals(&after)
            .map_err(|also| format!("{wrong}; or, with the call under way ({}), {also}", named(act)))
    }

    fn equals(&self, world: &World) -> Result<(), String> {
        for (path, node) in world.names() {
            let (metadata, bytes) = self.nodes.get(path).ok_or_else(|| format!("{path} is not there"))?;
            equal(node, metadata, bytes).map_err(|wrong| format!("{path} {wrong}"))?;
            let (id, _) = world.find(path).expect("it was just listed");
            self.same_node(world, id, path, metadata)?;
        }
        match self.nodes.keys().find(|path| world.find(path).is_none()) {
            Some(path) => Err(format!("{path} is there and should not be")),
            None => Ok(()),
        }
    }

    /// Names of one node are names of one node, and it has no others.
    fn same_node(&self, world: &World, id: u64, path: &str, metadata: &Metadata) -> Result<(), String> {
        if metadata.is_dir() {
            return Ok(());
        }
        let links = world.links(id) as u64;
        if metadata.nlink() != links {
            return Err(format!("{path} has {} links instead of {links}", metadata.nlink()));
        }
        for other in world.names_of(id) {
            if self.nodes.get(other).is_none_or(|(other, _)| other.ino() != metadata.ino()) {
                return Err(format!("{path} and {other} are not the same file"));
            }
        }
        Ok(())
    }
}

fn equal(node: &Node, metadata: &Metadata, bytes: &[u8]) -> Result<(), String> {
    let kind = metadata.file_type();
    let fits = match &node.kind {
        Kind::File(_) => kind.is_file(),
        Kind::Directory => kind.is_dir(),
        Kind::Link(_) => kind.is_symlink(),
        Kind::Pipe => kind.is_fifo(),
    };
    if !fits {
        return Err(format!("is {kind:?} instead of a {}", word(&node.kind)));
    }
    match &node.kind {
        Kind::File(content) => content.judge(bytes)?,
        Kind::Link(target) if target.as_bytes() != bytes => {
            return Err(format!("points to {} instead of {target}", bytes.escape_ascii()));
        }
        _ => {}
    }
    let mode = metadata.mode() & 0o7777;
    if mode != node.mode && !kind.is_symlink() {
        return Err(format!("has mode {mode:o} instead of {:o}", node.mode));
    }
    Ok(())
}

fn word(kind: &Kind) -> &'static str {
    match kind {
        Kind::File(_) => "file",
        Kind::Directory => "directory",
        Kind::Link(_) => "symbolic link",
        Kind::Pipe => "pipe",
    }
}

/// A call in short.
pub fn named(act: &Act) -> String {
    match act {
        Act::Write { path, at, bytes, stability } => {
            format!("WRITE of {} bytes at {at} of {path}, {stability:?}", bytes.len())
        }
        other => format!("{other:?}"),
    }
}
