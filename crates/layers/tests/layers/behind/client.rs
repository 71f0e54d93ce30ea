//! Programs on a file system: by handles, each call in one line.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use howdah_layers::{BehindOptions, Cached, CachingOptions, NamesBehind};
use howdah_vfs::layer::Stopwatch;
use howdah_vfs::{
    AddLink, Caller, Change, Consistency, Content, Create, CreateFile, Data, Detail, FileKind, FileSystem,
    Handle, ListDirectory, MakeDirectory, Name, NewAttributes, Node, ReadFile, Result, SetAttributes,
    Stability, WriteFile,
};

/// The longest file that is read.
const LONGEST: usize = 1 << 16;

/// A clock that can be put forward.
#[derive(Clone)]
pub struct Clock {
    start: Instant,
    ahead: Arc<AtomicU64>,
}

impl Clock {
    pub fn new() -> Self {
        Self { start: Instant::now(), ahead: Arc::default() }
    }

    pub fn put_forward(&self, by: Duration) {
        self.ahead.fetch_add(by.as_millis() as u64, Ordering::Relaxed);
    }

    fn stopwatch(&self) -> Stopwatch {
        let its = self.clone();
        Arc::new(move || its.start.elapsed() + Duration::from_millis(its.ahead.load(Ordering::Relaxed)))
    }
}

/// What the programs of one user do.
pub struct Client<'f, F> {
    pub files: &'f F,
    pub user: Caller,
}

impl<'f> Client<'f, NamesBehind> {
    /// A layer around all caches, around a server.
    pub fn layer(
        server: Arc<dyn FileSystem>,
        caching: CachingOptions,
        options: BehindOptions,
        clock: &Clock,
    ) -> NamesBehind {
        let cached = Arc::new(Cached::around(server, caching));
        NamesBehind::around(Arc::clone(&cached) as _, cached, options, [7; 16], clock.stopwatch())
            .expect("threads")
    }

    /// A file is closed.
    pub fn close(&self, node: &Handle) -> Result<()> {
        self.files.closed(&self.user, node).map(drop)
    }

    /// Makes one of each kind at the server, so that the layer knows what new nodes are like.
    pub fn learn(&self) {
        let root = self.fs().root();
        self.make(&root, "learnt").expect("made");
        self.mkdir(&root, "learnt-directory").expect("made");
        self.remove(&root, "learnt").expect("removed");
        self.rmdir(&root, "learnt-directory").expect("removed");
        self.files.settle_all();
    }
}

impl<'f, F: FileSystem> Client<'f, F> {
    pub fn new(files: &'f F, user: Caller) -> Self {
        Self { files, user }
    }

    pub fn fs(&self) -> &'f dyn FileSystem {
        self.files
    }

    pub fn look(&self, directory: &Handle, name: &str) -> Result<Node> {
        Ok(self.fs().lookup(&self.user, directory, parsed(name))?.node)
    }

    /// A new file, by O_EXCL.
    pub fn make(&self, directory: &Handle, name: &str) -> Result<Handle> {
        let how = Create::Guarded(NewAttributes::with_mode(0o644));
        let create = CreateFile::new(directory, parsed(name), &how);
        Ok(self.fs().create(&self.user, create, &mut Change::default())?.handle)
    }

    pub fn mkdir(&self, directory: &Handle, name: &str) -> Result<Handle> {
        let new = NewAttributes::with_mode(0o777);
        let make = MakeDirectory::new(directory, parsed(name), &new);
        Ok(self.fs().make_directory(&self.user, make, &mut Change::default())?.handle)
    }

    pub fn write(&self, node: &Handle, offset: u64, data: &[u8]) -> Result<()> {
        let write = WriteFile::new(node, offset, Data::Bytes(data), Stability::Unstable);
        self.fs().write(&self.user, write, &mut Change::default()).map(drop)
    }

    pub fn cut(&self, node: &Handle, size: u64) -> Result<()> {
        self.set(node, &NewAttributes::with_size(size))
    }

    pub fn set(&self, node: &Handle, new: &NewAttributes) -> Result<()> {
        let set = SetAttributes::new(node, new, None);
        self.fs().set_attributes(&self.user, set, &mut Change::default())
    }

    pub fn remove(&self, directory: &Handle, name: &str) -> Result<()> {
        self.fs().remove(&self.user, directory, parsed(name), &mut Change::default())
    }

    pub fn rmdir(&self, directory: &Handle, name: &str) -> Result<()> {
        self.fs().remove_directory(&self.user, directory, parsed(name), &mut Change::default())
    }

    pub fn rename(&self, from: (&Handle, &str), to: (&Handle, &str)) -> Result<()> {
        let (from, to) = ((from.0, parsed(from.1)), (to.0, parsed(to.1)));
        self.fs().rename(&self.user, from, to, (&mut Change::default(), &mut Change::default()))
    }

    pub fn link(&self, node: &Handle, directory: &Handle, name: &str) -> Result<()> {
        let link = AddLink::new(node, directory, parsed(name));
        self.fs().link(&self.user, link, &mut Change::default()).map(drop)
    }

    pub fn read(&self, node: &Handle) -> Result<Vec<u8>> {
        content_of(self.fs(), &self.user, node)
    }
}

pub fn content_of(fs: &dyn FileSystem, caller: &Caller, node: &Handle) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    match fs.read(caller, ReadFile::new(node, 0, LONGEST), &mut data)?.content {
        Content::Bytes(bytes) => Ok(bytes.to_vec()),
        _ => Ok(data),
    }
}

/// The names of a directory, with the nodes that a lookup finds and what the listing says of them.
pub fn names_of(fs: &dyn FileSystem, caller: &Caller, directory: &Handle) -> Result<Vec<(String, Node)>> {
    let (mut names, mut cookie) = (Vec::new(), 0);
    loop {
        let list = ListDirectory::new(directory, cookie, Detail::Nodes);
        let listing = fs.read_directory(caller, list, &mut |entry| {
            cookie = entry.cookie;
            if entry.name != b"." && entry.name != b".." {
                names.push(String::from_utf8_lossy(entry.name).into_owned());
            }
            ControlFlow::Continue(())
        })?;
        if listing.end {
            break;
        }
    }
    names.sort();
    let look = |name: String| {
        let node = fs.lookup(caller, directory, parsed(&name))?.node;
        Ok((name, node))
    };
    names.into_iter().map(look).collect()
}

pub fn is_directory(node: &Node) -> bool {
    node.attributes.kind == FileKind::Directory
}

pub fn parsed(name: &str) -> Name<'_> {
    Name::parse(name.as_bytes()).expect("a name")
}
