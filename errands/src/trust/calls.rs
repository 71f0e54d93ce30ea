//! The calls of a worker on a file system: by the handles that it got when the nodes were made, and never asks for again.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use howdah_vfs::{
    AddLink, Caller, Change, CommitFile, Content, Create, CreateFile, Data, Detail, FileSystem, FsError,
    Handle, ListDirectory, MakeDirectory, MakeLink, MakeSpecial, Name, NewAttributes, Node, ReadFile,
    SetAttributes, SpecialKind, Stability, WriteFile,
};

use super::territory::Territory;
use super::world::{Act, How, NodeId, World, split};

/// What a call that went well returned.
pub enum Told {
    /// The handle of what was made.
    Made(Handle),
    /// How much was written, how durable it is, and the verifier.
    Written(usize, Stability, [u8; 8]),
    /// The verifier.
    Committed([u8; 8]),
    /// No more than that.
    Nothing,
}

/// A client, a territory, and the handles of its nodes.
pub struct Calls {
    fs: Arc<dyn FileSystem>,
    caller: Caller,
    territory: Arc<Territory>,
    handles: HashMap<NodeId, Handle>,
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a worker's names are plain")
}

impl Calls {
    /// On this client.
    ///
    /// # Errors
    /// What the lookup of the territory is refused with.
    pub fn new(fs: Arc<dyn FileSystem>, caller: Caller, territory: Arc<Territory>) -> Result<Self, FsError> {
        let home = fs.lookup(&caller, &fs.root(), name(&territory.name))?.node.handle;
        let handles = HashMap::from([(World::ROOT, home)]);
        Ok(Self { fs, caller, territory, handles })
    }

    /// Keeps the handle of a new node.
    pub fn keep(&mut self, id: NodeId, handle: Handle) {
        self.handles.insert(id, handle);
    }

    /// Forgets the handles of nodes that are there no more; `is_there` says which are.
    pub fn forget(&mut self, is_there: impl Fn(NodeId) -> bool) {
        self.handles.retain(|&id, _| is_there(id));
    }

    /// What is there by the name that a call was to give.
    pub fn find(&self, act: &Act) -> Result<Handle, FsError> {
        match act {
            Act::Create { path, .. }
            | Act::MakeDirectory { path }
            | Act::MakeLink { path, .. }
            | Act::MakePipe { path } => {
                let (directory, name) = self.place(path);
                Ok(self.fs.lookup(&self.caller, &directory, name)?.node.handle)
            }
            _ => Err(FsError::Invalid),
        }
    }

    fn handle(&self, path: &str) -> Handle {
        let state = self.territory.state();
        let id = if path.is_empty() { World::ROOT } else { state.world.find(path).expect("it is there").0 };
        self.handles[&id]
    }

    /// The handle of the directory that a path is in, and the name there.
    fn place<'p>(&self, path: &'p str) -> (Handle, Name<'p>) {
        let (directory, last) = split(path);
        (self.handle(directory), name(last))
    }

    /// Makes it.
    pub fn make(&self, act: &Act) -> Result<Told, FsError> {
        let (fs, caller, change) = (&self.fs, &self.caller, &mut Change::default());
        let made = |node: Node| Told::Made(node.handle);
        match act {
            Act::Create { path, how } => {
                let (directory, name) = self.place(path);
                let how = match how {
                    How::Guarded => Create::Guarded(NewAttributes::with_mode(World::MODE)),
                    How::Exclusive(verifier) => Create::Exclusive(*verifier),
                };
                fs.create(caller, CreateFile::new(&directory, name, &how), change).map(made)
            }
            Act::MakeDirectory { path } => {
                let (directory, name) = self.place(path);
                let new = NewAttributes::with_mode(World::DIRECTORY_MODE);
                fs.make_directory(caller, MakeDirectory::new(&directory, name, &new), change).map(made)
            }
            Act::MakeLink { path, target } => {
                let (directory, name) = self.place(path);
                fs.make_link(
                    caller,
                    MakeLink::new(&directory, name, target.as_bytes(), &NewAttributes::default()),
                    change,
                )
                .map(made)
            }
            Act::MakePipe { path } => {
                let (directory, name) = self.place(path);
                let new = NewAttributes::with_mode(World::MODE);
                fs.make_special(caller, MakeSpecial::new(&directory, name, SpecialKind::Fifo, &new), change)
                    .map(made)
            }
            Act::Remove { path } => {
                let (directory, name) = self.place(path);
                fs.remove(caller, &directory, name, change).map(|()| Told::Nothing)
            }
            Act::RemoveDirectory { path } => {
                let (directory, name) = self.place(path);
                fs.remove_directory(caller, &directory, name, change).map(|()| Told::Nothing)
            }
            Act::Rename { from, to } => {
                let (from, to) = (self.place(from), self.place(to));
                let changes = (change, &mut Change::default());
                fs.rename(caller, (&from.0, from.1), (&to.0, to.1), changes).map(|()| Told::Nothing)
            }
            Act::Link { from, to } => {
                let (directory, name) = self.place(to);
                fs.link(caller, AddLink::new(&self.handle(from), &directory, name), change)
                    .map(|_| Told::Nothing)
            }
            Act::SetSize { path, size } => self.set(path, NewAttributes::with_size(*size as u64)),
            Act::SetMode { path, mode } => self.set(path, NewAttributes::with_mode(*mode)),
            Act::Write { path, at, bytes, stability } => {
                let data = Data::Shared(bytes.clone());
                let written = fs.write(
                    caller,
                    WriteFile::new(&self.handle(path), *at as u64, data, *stability),
                    change,
                )?;
                if written.stability < *stability {
                    return Err(FsError::ServerFault);
                }
                Ok(Told::Written(written.count, written.stability, written.verifier))
            }
            Act::Commit { path } => fs
                .commit(caller, CommitFile::new(&self.handle(path), 0, 0), change)
                .map(|done| Told::Committed(done.verifier)),
        }
    }

    fn set(&self, path: &str, new: NewAttributes) -> Result<Told, FsError> {
        let change = &mut Change::default();
        self.fs
            .set_attributes(&self.caller, SetAttributes::new(&self.handle(path), &new, None), change)
            .map(|()| Told::Nothing)
    }

    /// The first bytes of a file.
    pub fn read(&self, path: &str, count: usize) -> Result<Vec<u8>, FsError> {
        read(&*self.fs, &self.caller, &self.handle(path), 0, count)
    }

    /// The names in a directory.
    pub fn list(&self, path: &str) -> Result<Vec<String>, FsError> {
        let (mut names, mut cookie) = (Vec::new(), 0);
        let directory = self.handle(path);
        loop {
            let listing = self.fs.read_directory(
                &self.caller,
                ListDirectory::new(&directory, cookie, Detail::Names),
                &mut |entry| {
                    cookie = entry.cookie;
                    names.push(String::from_utf8_lossy(entry.name).into_owned());
                    ControlFlow::Continue(())
                },
            )?;
            if listing.end {
                names.retain(|name| name != "." && name != "..");
                return Ok(names);
            }
        }
    }
}

/// What a READ gives.
pub fn read(
    fs: &dyn FileSystem,
    caller: &Caller,
    file: &Handle,
    at: u64,
    count: usize,
) -> Result<Vec<u8>, FsError> {
    let mut buffer = Vec::new();
    let outcome = fs.read(caller, ReadFile::new(file, at, count), &mut buffer)?;
    match outcome.content {
        Content::Appended(_) => Ok(buffer),
        Content::Bytes(bytes) => Ok(bytes.to_vec()),
        Content::File(range) => range.append_to(&mut buffer).map(|_| buffer).map_err(|_| FsError::Io),
    }
}
