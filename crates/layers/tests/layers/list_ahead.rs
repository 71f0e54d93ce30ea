//! What a program waits for that walks a tree of a server which is far away.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, ThreadId};
use std::time::Duration;

use howdah_layers::{AttributeCacheOptions, Cached, CachingOptions};
use howdah_vfs::layer::{Call, Delayed, Metered};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Access, Caller, Change, Create, CreateFile, Detail, Entry, FileKind, FileSystem, FsError, Handle,
    ListDirectory, MakeDirectory, Name, NewAttributes,
};

const HOUR: Duration = Duration::from_secs(3600);
const ME: Caller = Caller::ROOT;
const DIRECTORIES: usize = 200;
const FILES: usize = 20;

/// A server with a tree, far away; and how many calls the program itself waited for.
struct Far {
    server: Arc<Metered>,
    fs: Cached,
    waited: Arc<AtomicU64>,
}

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn directory(fs: &dyn FileSystem, above: &Handle, text: &str) -> Handle {
    let new = NewAttributes::with_mode(0o755);
    fs.make_directory(&ME, MakeDirectory::new(above, name(text), &new), &mut Change::default())
        .expect("made")
        .handle
}

fn file(fs: &dyn FileSystem, above: &Handle, text: &str) {
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    fs.create(&ME, CreateFile::new(above, name(text), &how), &mut Change::default()).expect("made");
}

/// A tree of directories of files: `width` of them in each of some.
fn far(width: usize) -> Far {
    let server = Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::new(|| Duration::ZERO)));
    let mut above = server.root();
    for number in 0..DIRECTORIES {
        if number % width == 0 && width < DIRECTORIES {
            above = directory(&*server, &server.root(), &format!("part{number:03}"));
        }
        let directory = directory(&*server, &above, &format!("dir{number:03}"));
        (0..FILES).for_each(|number| file(&*server, &directory, &format!("file{number}")));
    }
    let (waited, program) = (Arc::new(AtomicU64::new(0)), thread::current().id());
    let counted = Arc::clone(&waited);
    let travel = move |delay: Duration| {
        let is_program = |thread: ThreadId| thread == program;
        counted.fetch_add(u64::from(is_program(thread::current().id())), Ordering::Relaxed);
        thread::sleep(delay);
    };
    let way = Delayed::around(Arc::clone(&server) as _, Duration::from_millis(5), Arc::new(travel));
    // However slow this machine is, nothing ages.
    let attributes = AttributeCacheOptions {
        file_min: HOUR,
        directory_min: HOUR,
        file_max: HOUR,
        directory_max: HOUR,
        ..Default::default()
    };
    let options = CachingOptions { attributes, ..CachingOptions::default() };
    Far { server, fs: Cached::around(Arc::new(way), options), waited }
}

impl Far {
    fn waited(&self) -> u64 {
        self.waited.load(Ordering::Relaxed)
    }

    fn listed(&self) -> u64 {
        self.server.snapshot().of(Call::ReadDirectory).count
    }

    /// `ls -lR`: asks for rights, lists, and looks each name up. Gives how many files there are.
    fn walk(&self, directory: &Handle) -> usize {
        let (granted, _) = self.fs.access(&ME, directory, Access::READ).expect("an answer");
        assert!(granted.contains(Access::READ));
        let mut entries = Vec::new();
        let mut sink = |entry: Entry<'_>| {
            if !entry.name.starts_with(b".") {
                entries.push((entry.name.to_vec(), *entry.node.expect("an answer")));
            }
            ControlFlow::Continue(())
        };
        self.fs
            .read_directory(&ME, ListDirectory::new(directory, 0, Detail::Nodes), &mut sink)
            .expect("listed");
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut files = 0;
        for (text, node) in &entries {
            let found = self.fs.lookup(&ME, directory, Name::parse(text).expect("a name")).expect("found");
            assert_eq!(found.node.handle, node.handle);
            files += usize::from(node.attributes.kind == FileKind::Regular);
        }
        let below = entries.iter().filter(|(_, node)| node.attributes.kind == FileKind::Directory);
        files + below.map(|(_, node)| self.walk(&node.handle)).sum::<usize>()
    }
}

#[test]
fn a_walk_waits_for_a_few_round_trips() {
    for width in [DIRECTORIES, 10, 1] {
        let far = far(width);
        assert_eq!(far.walk(&far.fs.root()), DIRECTORIES * FILES);
        let (waited, listed) = (far.waited(), far.listed());
        assert!(waited <= 12, "{waited} calls were waited for, {width} directories in each");
        let all = (DIRECTORIES + if width < DIRECTORIES { DIRECTORIES / width } else { 0 } + 1) as u64;
        assert_eq!(listed, all, "each directory was listed once");
        assert_eq!(far.walk(&far.fs.root()), DIRECTORIES * FILES);
        assert_eq!((far.waited(), far.listed()), (waited, listed), "again it takes nothing");
        let report = far.fs.report().listing;
        // What was listed before the walk's order was known does not count as used.
        assert!(4 * report.used >= 3 * all && report.listed <= all, "{report:?}");
    }
}

#[test]
fn names_that_are_looked_up_in_a_tree_are_few_round_trips() {
    let far = far(DIRECTORIES);
    let root = far.fs.root();
    let status = || {
        for number in 0..DIRECTORIES {
            let directory =
                far.fs.lookup(&ME, &root, name(&format!("dir{number:03}"))).expect("found").node.handle;
            for number in 0..FILES {
                far.fs.lookup(&ME, &directory, name(&format!("file{number}"))).expect("found");
            }
            let ignored = far.fs.lookup(&ME, &directory, name(".gitignore"));
            assert_eq!(ignored.map(drop), Err(FsError::NotFound));
        }
    };
    status();
    let waited = far.waited();
    assert!(waited <= 24, "{waited} calls were waited for");
    status();
    assert_eq!(far.waited(), waited, "again it takes nothing");
}

#[test]
fn one_directory_is_listed_alone() {
    let far = far(DIRECTORIES);
    let mut first = None;
    let mut sink = |entry: Entry<'_>| {
        first = first.or(entry.node.filter(|_| !entry.name.starts_with(b".")).map(|node| node.handle));
        ControlFlow::Continue(())
    };
    far.fs.access(&ME, &far.fs.root(), Access::READ).expect("an answer");
    far.fs
        .read_directory(&ME, ListDirectory::new(&far.fs.root(), 0, Detail::Nodes), &mut sink)
        .expect("listed");
    far.fs.lookup(&ME, &first.expect("one"), name("file0")).expect("found");
    assert_eq!((far.listed(), far.fs.report().listing.listed), (1, 0));
}
