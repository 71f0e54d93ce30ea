//! Trees to copy: made at random, and seen so that two can be compared.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_vfs::{
    AddLink, Caller, Change, Content, Create, CreateFile, Data, Detail, FileKind, FileSystem, Handle,
    ListDirectory, MakeDirectory, MakeLink, MakeSpecial, Name, NewAttributes, Node, ReadFile, SetAttributes,
    SetTime, SpecialKind, Stability, Timestamp, WriteFile,
};

use super::random::Random;

/// The superuser does all in these tests.
pub const ROOT: &Caller = &Caller::ROOT;

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

/// A file system to fill and to look at.
#[derive(Clone)]
pub struct Files(pub Arc<dyn FileSystem>);

impl Files {
    pub fn root(&self) -> Node {
        let handle = self.0.root();
        Node { handle, attributes: self.0.attributes(ROOT, &handle).expect("the root is there") }
    }

    pub fn directory(&self, parent: &Handle, called: &str) -> Node {
        let new = NewAttributes::with_mode(0o755);
        self.0
            .make_directory(ROOT, MakeDirectory::new(parent, name(called), &new), &mut Change::default())
            .expect("made")
    }

    /// A file with data at some places and holes between.
    pub fn file(&self, parent: &Handle, called: &str, size: u64, data: &[(u64, Vec<u8>)]) -> Node {
        let how = Create::Guarded(NewAttributes { size: Some(0), ..NewAttributes::with_mode(0o644) });
        let node = self
            .0
            .create(ROOT, CreateFile::new(parent, name(called), &how), &mut Change::default())
            .expect("made");
        for (at, bytes) in data {
            let change = &mut Change::default();
            let written = self.0.write(
                ROOT,
                WriteFile::new(&node.handle, *at, Data::Bytes(bytes), Stability::FileSync),
                change,
            );
            assert_eq!(written.expect("written").count, bytes.len());
        }
        self.set(&node.handle, NewAttributes::with_size(size));
        self.look(parent, called).expect("there")
    }

    pub fn set(&self, node: &Handle, new: NewAttributes) {
        self.0
            .set_attributes(ROOT, SetAttributes::new(node, &new, None), &mut Change::default())
            .expect("set");
    }

    pub fn overwrite(&self, node: &Handle, data: &'static [u8]) {
        let (data, change) = (Data::Bytes(data), &mut Change::default());
        self.0.write(ROOT, WriteFile::new(node, 0, data, Stability::FileSync), change).expect("written");
    }

    pub fn set_time(&self, node: &Handle, seconds: i64, nanoseconds: u32) {
        let time = SetTime::To(Timestamp { seconds, nanoseconds });
        self.set(node, NewAttributes { modified: time, accessed: time, ..NewAttributes::default() });
    }

    pub fn link(&self, node: &Handle, parent: &Handle, called: &str) {
        self.0.link(ROOT, AddLink::new(node, parent, name(called)), &mut Change::default()).expect("linked");
    }

    pub fn symbolic_link(&self, parent: &Handle, called: &str, target: &str) -> Node {
        let new = NewAttributes::default();
        let change = &mut Change::default();
        self.0
            .make_link(ROOT, MakeLink::new(parent, name(called), target.as_bytes(), &new), change)
            .expect("made")
    }

    pub fn fifo(&self, parent: &Handle, called: &str) -> Node {
        let new = NewAttributes::with_mode(0o600);
        let change = &mut Change::default();
        self.0
            .make_special(ROOT, MakeSpecial::new(parent, name(called), SpecialKind::Fifo, &new), change)
            .expect("made")
    }

    pub fn look(&self, parent: &Handle, called: &str) -> Option<Node> {
        self.0.lookup(ROOT, parent, name(called)).ok().map(|found| found.node)
    }

    /// The node of a path below the root.
    pub fn at(&self, path: &str) -> Node {
        path.split('/').fold(self.root(), |node, part| {
            self.look(&node.handle, part).unwrap_or_else(|| panic!("{part} of {path} is there"))
        })
    }

    /// All data of a file.
    pub fn content(&self, node: &Node) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let mut buffer = Vec::new();
            let at = all.len() as u64;
            let outcome =
                self.0.read(ROOT, ReadFile::new(&node.handle, at, 1 << 20), &mut buffer).expect("read");
            match &outcome.content {
                Content::Appended(_) => all.extend_from_slice(&buffer),
                Content::Bytes(bytes) => all.extend_from_slice(bytes),
                Content::File(range) => drop(range.append_to(&mut all).expect("read")),
            }
            if outcome.end {
                return all;
            }
        }
    }

    pub fn names(&self, directory: &Handle) -> Vec<String> {
        let mut names = Vec::new();
        let mut sink = |entry: howdah_vfs::Entry<'_>| {
            names.push(String::from_utf8(entry.name.to_vec()).expect("text"));
            ControlFlow::Continue(())
        };
        let listing = self
            .0
            .read_directory(ROOT, ListDirectory::new(directory, 0, Detail::Names), &mut sink)
            .expect("listed");
        assert!(listing.end);
        names.retain(|name| name != "." && name != "..");
        names.sort();
        names
    }

    /// What is below a directory, by path.
    pub fn see(&self, directory: &Node) -> BTreeMap<String, Seen> {
        let (mut seen, mut first) = (BTreeMap::new(), HashMap::new());
        self.see_below(directory, "", &mut seen, &mut first);
        seen
    }

    fn see_below(
        &self,
        directory: &Node,
        path: &str,
        seen: &mut BTreeMap<String, Seen>,
        first: &mut HashMap<u64, String>,
    ) {
        for called in self.names(&directory.handle) {
            let node = self.look(&directory.handle, &called).expect("listed");
            let path = format!("{path}/{called}");
            let attributes = node.attributes;
            let same_as = first.entry(attributes.file).or_insert_with(|| path.clone()).clone();
            let has_data = attributes.kind == FileKind::Regular;
            let mut target = Vec::new();
            if attributes.kind == FileKind::SymbolicLink {
                self.0.read_link(ROOT, &node.handle, &mut target).expect("a link");
            }
            let data = if has_data { self.content(&node) } else { target };
            seen.insert(
                path.clone(),
                Seen {
                    kind: attributes.kind,
                    mode: if attributes.kind == FileKind::SymbolicLink { 0 } else { attributes.mode },
                    modified: attributes.modified,
                    same_as,
                    length: data.len(),
                    sum: data.iter().fold(0, |sum, &byte| sum.rotate_left(5) ^ u64::from(byte)),
                },
            );
            if attributes.kind == FileKind::Directory {
                self.see_below(&node, &path, seen, first);
            }
        }
    }
}

/// What a copy must have in common with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    kind: FileKind,
    mode: u32,
    modified: Timestamp,
    /// The first of the names of this node.
    same_as: String,
    length: usize,
    sum: u64,
}

/// Fills a directory with a tree that follows from the seed: `nodes` of all kinds, files of up to `largest` bytes.
pub fn grow(files: &Files, directory: &Node, nodes: usize, largest: u64, random: &mut Random) {
    let mut directories = vec![*directory];
    let mut regular: Vec<Node> = Vec::new();
    let mut made = Vec::new();
    for number in 0..nodes {
        let parent = directories[random.below(directories.len() as u64) as usize].handle;
        let called = format!("n{number}");
        let node = match random.below(10) {
            0 | 1 => {
                let node = files.directory(&parent, &called);
                directories.push(node);
                node
            }
            2 => files.symbolic_link(&parent, &called, &format!("../somewhere/{number}")),
            3 => files.fifo(&parent, &called),
            4 if !regular.is_empty() => {
                let first = regular[random.below(regular.len() as u64) as usize];
                files.link(&first.handle, &parent, &called);
                continue;
            }
            _ => {
                let size = random.below(largest);
                let data = pieces(size, random);
                let node = files.file(&parent, &called, size, &data);
                regular.push(node);
                node
            }
        };
        made.push(node);
    }
    for node in made.iter().rev() {
        if node.attributes.kind != FileKind::SymbolicLink {
            // Who is not the superuser must be able to go into what is to be copied, and to remove it afterwards.
            let least = if node.attributes.kind == FileKind::Directory { 0o700 } else { 0 };
            files.set(&node.handle, NewAttributes::with_mode((0o400 + random.below(0o400) as u32) | least));
        }
        files.set_time(
            &node.handle,
            random.below(2_000_000_000) as i64,
            random.below(1_000_000) as u32 * 1000,
        );
    }
}

/// Data for a file: all of it, or pieces with holes between them.
fn pieces(size: u64, random: &mut Random) -> Vec<(u64, Vec<u8>)> {
    if random.below(3) > 0 {
        return vec![(0, random.bytes(size as usize))];
    }
    (0..random.below(4))
        .filter_map(|_| {
            let at = random.below(size.max(1)) / 4096 * 4096;
            let length = random.below(20_000).min(size.saturating_sub(at));
            (length > 0).then(|| (at, random.bytes(length as usize)))
        })
        .collect()
}
