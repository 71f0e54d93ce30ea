//! Directories that the server delegates: nothing of them is asked again until somebody else changes one.

use std::fs::Permissions;
use std::ops::ControlFlow;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use howdah_client::Remote;
use howdah_client::connect::{ConnectOptions, connect};
use howdah_layers::{AttributeCache, AttributeCacheOptions};
use howdah_needs::{Lack, skipped};
use howdah_server::exports::DelegationPolicy;
use howdah_server::limits::WATCHED_CHILDREN_OF_DIRECTORY_MAX;
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::{
    Access, Caller, Change, Create, CreateFile, Data, Detail, FileKind, FileSystem, FsError, Handle,
    ListDirectory, MakeDirectory, Name, NewAttributes, SetAttributes, Stability, WriteFile,
};
use howdah_wire::nfs4::{bind_conn_to_session, delegreturn, get_dir_delegation, sequence};

use crate::injected::behind_put;
use crate::middleman::{Exchange, Fate, Middleman};
use crate::served::{EXPORT, Served, memory, serve_delegating, serve_memory, serve_with_policy};

const ME: Caller = Caller::ROOT;
const PATIENCE: Duration = Duration::from_secs(60);

fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}

fn make(fs: &dyn FileSystem, text: &str) {
    let how = Create::Guarded(NewAttributes::with_mode(0o666));
    fs.create(&ME, CreateFile::new(&fs.root(), name(text), &how), &mut Change::default()).expect("made");
}

/// A client with a cache, and that cache's clock in seconds.
struct Mounted {
    client: Arc<dyn Remote>,
    cache: AttributeCache,
    seconds: Arc<AtomicU64>,
}

impl Mounted {
    fn new(client: Arc<dyn Remote>) -> Self {
        let seconds = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&seconds);
        let stopwatch = Arc::new(move || Duration::from_secs(clock.load(Ordering::SeqCst)));
        let inner: Arc<dyn FileSystem> = Arc::clone(&client) as _;
        let cache = AttributeCache::around(inner, AttributeCacheOptions::default(), stopwatch);
        Self { client, cache, seconds }
    }

    /// All that is remembered grows old.
    fn age(&self) {
        self.seconds.fetch_add(1_000, Ordering::SeqCst);
    }

    fn names(&self) -> Vec<String> {
        let (mut names, root) = (Vec::new(), self.cache.root());
        let mut sink = |entry: howdah_vfs::Entry<'_>| {
            names.push(String::from_utf8_lossy(entry.name).into_owned());
            ControlFlow::Continue(())
        };
        let list = ListDirectory::new(&root, 0, Detail::Names);
        FileSystem::read_directory(&self.cache, &ME, list, &mut sink).expect("listed");
        names.sort();
        names
    }

    fn is_there(&self, text: &str) -> bool {
        match FileSystem::lookup(&self.cache, &ME, &self.cache.root(), name(text)) {
            Ok(_) => true,
            Err(FsError::NotFound) => false,
            Err(error) => panic!("{error}"),
        }
    }

    /// Calls that it made so far.
    fn calls(&self) -> u64 {
        self.client.channel().report().procedures.iter().map(|report| report.calls).sum()
    }

    /// Whether what follows makes no call.
    fn asks_nothing(&self, run: impl FnOnce()) -> bool {
        let before = self.calls();
        run();
        self.calls() == before
    }

    fn has_delegation(&self) -> bool {
        self.client.directory_delegations().is_some_and(|its| its.holds(&self.client.root()))
    }

    fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !is_so(self) {
            assert!(Instant::now() < end, "{what}");
            std::thread::yield_now();
        }
    }
}

fn through(middleman: &Middleman) -> Arc<dyn Remote> {
    let url = format!("nfs://{}{EXPORT}?version=4&lanes=1", middleman.address).parse().expect("a URL");
    connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The operation that a call is for.
fn operation(exchange: &Exchange<'_>) -> Option<u32> {
    let first = u32::from_be_bytes(*exchange.arguments.get(12..)?.first_chunk()?);
    if first == sequence::OPERATION { behind_put(exchange) } else { Some(first) }
}

#[test]
fn a_delegated_directory_is_not_asked_again_until_another_client_changes_it() {
    for (version, other_version) in [("4.2", "4.1"), ("4.1", "3")] {
        let served = serve_delegating(memory());
        let mounted = Mounted::new(served.client(&format!("version={version}")));
        let other = served.client(&format!("version={other_version}"));
        make(&*other, "one");
        let root = mounted.cache.root();
        FileSystem::access(&mounted.cache, &ME, &root, Access::READ | Access::LOOKUP).expect("rights");
        assert_eq!(mounted.names(), [".", "..", "one"]);
        assert!(!mounted.is_there("two"));
        assert!(mounted.has_delegation());
        for _ in 0..3 {
            mounted.age();
            assert!(mounted.asks_nothing(|| {
                assert_eq!(mounted.names(), [".", "..", "one"]);
                assert!(!mounted.is_there("two"));
                FileSystem::attributes(&mounted.cache, &ME, &root).expect("attributes");
                let rights = FileSystem::access(&mounted.cache, &ME, &root, Access::READ);
                assert_eq!(rights.expect("rights").0, Access::READ);
            }));
        }
        // Its own change leaves it the delegation.
        make(&mounted.cache, "own");
        assert!(mounted.has_delegation());
        mounted.age();
        assert!(mounted.is_there("own"));
        // The next call after another client's change sees it.
        make(&*other, "two");
        assert!(mounted.is_there("two") && !mounted.has_delegation());
        assert_eq!(mounted.names(), [".", "..", "one", "own", "two"]);
        mounted.age();
        assert!(!mounted.asks_nothing(|| _ = mounted.names()), "it rests after a recall");
    }
}

#[test]
fn each_change_of_the_directory_itself_is_seen_at_once() {
    let served = serve_delegating(memory());
    let mounted = Mounted::new(served.client("version=4"));
    let other = served.client("version=4");
    mounted.names();
    assert!(mounted.has_delegation());
    let (root, new) = (mounted.cache.root(), NewAttributes::with_mode(0o711));
    other.set_attributes(&ME, SetAttributes::new(&root, &new, None), &mut Change::default()).expect("set");
    let seen = FileSystem::attributes(&mounted.cache, &ME, &root).expect("attributes");
    assert_eq!(seen.mode & 0o777, 0o711);
}

#[test]
fn the_cache_has_forgotten_the_directory_before_the_server_hears_that_it_may_change() {
    let served = serve_delegating(memory());
    let middleman = Middleman::before(served.address);
    let mounted = Mounted::new(through(&middleman));
    let other = served.client("version=4");
    mounted.names();
    mounted.age();
    let root = mounted.cache.root();
    assert!(mounted.cache.knows_attributes(&root));
    let (sender, returned) = channel();
    middleman.judge(move |exchange| {
        if operation(exchange) == Some(delegreturn::OPERATION) {
            let _ = sender.send(());
        }
        Fate::Pass
    });
    make(&*other, "one");
    returned.recv_timeout(PATIENCE).expect("it is given back");
    assert!(!mounted.cache.knows_attributes(&root));
    assert!(mounted.is_there("one"));
}

#[test]
fn without_its_connection_nothing_is_delegated_until_it_is_asked_for_again() {
    let served = serve_delegating(memory());
    let middleman = Middleman::before(served.address);
    let mounted = Mounted::new(through(&middleman));
    mounted.names();
    assert!(mounted.has_delegation());
    let (sender, bound) = channel();
    middleman.judge(move |exchange| {
        if operation(exchange) == Some(bind_conn_to_session::OPERATION) {
            let _ = sender.send(());
        }
        Fate::Pass
    });
    middleman.cut();
    bound.recv_timeout(PATIENCE).expect("the next connection is bound");
    mounted.until("all are given up", |mounted| !mounted.has_delegation());
    mounted.age();
    assert!(!mounted.asks_nothing(|| _ = mounted.names()));
    // Those that were given up are given back, and then there may be others.
    mounted.until("it is delegated again", |mounted| {
        mounted.age();
        mounted.names();
        mounted.has_delegation()
    });
    mounted.age();
    mounted.until("it counts", |mounted| mounted.asks_nothing(|| _ = mounted.names()));
}

#[test]
fn a_client_that_leaves_keeps_nobody_waiting() {
    let served = serve_delegating(memory());
    let mounted = Mounted::new(served.client("version=4"));
    let other = served.client("version=4");
    mounted.names();
    assert!(mounted.has_delegation());
    drop(mounted);
    let began = Instant::now();
    make(&*other, "one");
    // A recall that nobody answers takes a lease.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn a_server_that_delegates_no_directories_is_asked_once() {
    let served: Served = serve_memory();
    let middleman = Middleman::before(served.address);
    let asked = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&asked);
    middleman.judge(move |exchange| {
        let is_it = operation(exchange) == Some(get_dir_delegation::OPERATION);
        counted.fetch_add(u64::from(is_it), Ordering::SeqCst);
        Fate::Pass
    });
    let mounted = Mounted::new(through(&middleman));
    for _ in 0..3 {
        assert_eq!(mounted.names(), [".", ".."]);
        mounted.age();
        FileSystem::attributes(&mounted.cache, &ME, &mounted.cache.root()).expect("attributes");
    }
    assert!(!mounted.has_delegation());
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

fn write(fs: &dyn FileSystem, text: &str, data: &[u8]) {
    let file = FileSystem::lookup(fs, &ME, &fs.root(), name(text)).expect("it is there").node.handle;
    let write = WriteFile::new(&file, 0, Data::Bytes(data), Stability::FileSync);
    fs.write(&ME, write, &mut Change::default()).expect("written");
}

impl Mounted {
    /// Sizes of all files, as `ls -l` asks for them.
    fn sizes(&self) -> Vec<(String, u64)> {
        let (mut sizes, root) = (Vec::new(), self.cache.root());
        let mut sink = |entry: howdah_vfs::Entry<'_>| {
            let size = entry.node.expect("a node").attributes.size;
            sizes.push((String::from_utf8_lossy(entry.name).into_owned(), size));
            ControlFlow::Continue(())
        };
        let list = ListDirectory::new(&root, 0, Detail::Nodes);
        FileSystem::read_directory(&self.cache, &ME, list, &mut sink).expect("listed");
        sizes.retain(|(name, _)| !name.starts_with('.'));
        sizes.sort();
        sizes
    }

    /// Its size, as `stat` asks for it.
    fn size(&self, text: &str) -> u64 {
        let found =
            FileSystem::lookup(&self.cache, &ME, &self.cache.root(), name(text)).expect("it is there");
        FileSystem::attributes(&self.cache, &ME, &found.node.handle).expect("attributes").size
    }

    /// Lists, with the rights that it takes to look names up in memory.
    fn start(&self) {
        FileSystem::access(&self.cache, &ME, &self.cache.root(), Access::READ | Access::LOOKUP)
            .expect("rights");
        self.sizes();
        assert!(self.covers_files());
    }

    fn covers_files(&self) -> bool {
        let delegations = self.client.directory_delegations();
        delegations.is_some_and(|its| its.covers_children(&self.client.root()))
    }
}

#[test]
fn attributes_in_a_delegated_directory_are_not_asked_again_until_another_client_changes_one() {
    // Of files that were there, and of those that the client made itself.
    for (other_version, changed) in [("4.2", "f123"), ("3", "f123"), ("3", "own"), ("4.1", "own")] {
        let served = serve_delegating(memory());
        let mounted = Mounted::new(served.client("version=4"));
        let other = served.client(&format!("version={other_version}"));
        let files: Vec<String> = (0..300).map(|number| format!("f{number:03}")).collect();
        files.iter().for_each(|text| make(&*other, text));
        mounted.start();
        for _ in 0..3 {
            mounted.age();
            assert!(mounted.asks_nothing(|| {
                assert_eq!(mounted.sizes().len(), 300);
                files.iter().for_each(|text| assert_eq!(mounted.size(text), 0));
            }));
        }
        // What it changes itself it knows, and keeps the delegation.
        write(&mounted.cache, "f007", b"own");
        make(&mounted.cache, "own");
        mounted.sizes();
        mounted.age();
        assert!(mounted.asks_nothing(|| assert_eq!((mounted.size("f007"), mounted.size("own")), (3, 0))));
        assert!(mounted.covers_files());
        // The next call after another client's change sees it.
        write(&*other, changed, b"other");
        assert!(!mounted.has_delegation());
        assert_eq!(mounted.size(changed), 5);
    }
}

impl Mounted {
    /// As `ls -lR` goes through a tree. How many nodes there are.
    fn walk(&self, directory: &Handle) -> usize {
        let (mut count, mut below) = (0, Vec::new());
        let mut sink = |entry: howdah_vfs::Entry<'_>| {
            if !matches!(entry.name, b"." | b"..") {
                let node = entry.node.expect("a node");
                count += 1;
                below.extend((node.attributes.kind == FileKind::Directory).then_some(node.handle));
            }
            ControlFlow::Continue(())
        };
        let list = ListDirectory::new(directory, 0, Detail::Nodes);
        FileSystem::read_directory(&self.cache, &ME, list, &mut sink).expect("listed");
        count + below.iter().map(|directory| self.walk(directory)).sum::<usize>()
    }
}

#[test]
fn a_second_walk_of_ten_thousand_files_makes_no_call() {
    const DIRECTORIES: usize = 100;
    const FILES: usize = 100;
    let fs = memory();
    let (new, how) = (NewAttributes::with_mode(0o777), Create::Guarded(NewAttributes::with_mode(0o666)));
    for number in 0..DIRECTORIES {
        let (root, text) = (fs.root(), format!("d{number}"));
        let make = MakeDirectory { directory: &root, name: name(&text), new: &new };
        let directory = fs.make_directory(&ME, make, &mut Change::default()).expect("made").handle;
        for number in 0..FILES {
            let text = format!("f{number}");
            let create = CreateFile::new(&directory, name(&text), &how);
            FileSystem::create(&*fs, &ME, create, &mut Change::default()).expect("made");
        }
    }
    let served = serve_with_policy(fs, DelegationPolicy::WhereNoticed);
    let mounted = Mounted::new(served.client("version=4.2"));
    let (root, other) = (mounted.cache.root(), served.client("version=3"));
    // As the kernel asks before it lists.
    FileSystem::attributes(&mounted.cache, &ME, &root).expect("attributes");
    assert_eq!(mounted.walk(&root), DIRECTORIES * (FILES + 1));
    mounted.age();
    assert!(mounted.asks_nothing(|| assert_eq!(mounted.walk(&root), DIRECTORIES * (FILES + 1))));
    // Another client makes a file: what is listed once more is its directory, and the one above.
    let directory = other.lookup(&ME, &other.root(), name("d7")).expect("there").node.handle;
    let create = CreateFile::new(&directory, name("new"), &how);
    other.create(&ME, create, &mut Change::default()).expect("made");
    let before = mounted.calls();
    assert_eq!(mounted.walk(&root), DIRECTORIES * (FILES + 1) + 1);
    assert!(mounted.calls() - before < 20, "{} calls", mounted.calls() - before);
}

#[test]
fn attributes_in_a_directory_of_too_many_files_age() {
    let served = serve_delegating(memory());
    let mounted = Mounted::new(served.client("version=4"));
    let other = served.client("version=4");
    let (me, root, new) = (ME, other.root(), NewAttributes::with_mode(0o777));
    for number in 0..=WATCHED_CHILDREN_OF_DIRECTORY_MAX {
        let text = format!("d{number}");
        let make = MakeDirectory { directory: &root, name: name(&text), new: &new };
        other.make_directory(&me, make, &mut Change::default()).expect("made");
    }
    mounted.sizes();
    assert!(mounted.has_delegation() && !mounted.covers_files());
    mounted.age();
    assert!(!mounted.asks_nothing(|| _ = mounted.size("d1")));
}

/// Another process of the server's host does something in the exported directory.
fn by_others(directory: &Path, script: &str) {
    let status = Command::new("sh").args(["-c", script]).current_dir(directory).status();
    assert!(status.is_ok_and(|status| status.success()), "{script}");
}

#[test]
fn what_a_program_of_the_servers_host_changes_is_seen_within_a_second() {
    let place = tempfile::tempdir().expect("a directory");
    let fs = LocalFileSystem::open(place.path(), Options::default()).expect("a local directory");
    std::fs::set_permissions(place.path(), Permissions::from_mode(0o777)).expect("opened to all");
    if let Some(why) = fs.local_changes_obstacle() {
        skipped(Lack::Kernel, format_args!("{why}"));
        return;
    }
    let served = serve_with_policy(Arc::new(fs), DelegationPolicy::WhereNoticed);
    let mounted = Mounted::new(served.client("version=4"));
    let root = mounted.cache.root();
    FileSystem::access(&mounted.cache, &ME, &root, Access::READ | Access::LOOKUP).expect("rights");
    assert_eq!(mounted.names(), [".", ".."]);
    assert!(mounted.has_delegation() && !mounted.is_there("new"));
    // What the client itself changes leaves it the delegation.
    make(&mounted.cache, "own");
    assert!(mounted.is_there("own") && mounted.has_delegation());
    mounted.age();
    assert!(mounted.asks_nothing(|| assert!(!mounted.is_there("new"))));
    let began = Instant::now();
    by_others(place.path(), "touch new");
    mounted.until("it is seen", |mounted| mounted.is_there("new"));
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    assert!(!mounted.has_delegation());
}

#[test]
fn attributes_that_a_program_of_the_servers_host_changes_are_seen_within_a_second() {
    // In files with one name and with several, and in directories.
    for change in ["echo more >> file", "chmod 600 file", "echo more >> ../link", "touch directory/new"] {
        let place = tempfile::tempdir().expect("a directory");
        let export = place.path().join("export");
        std::fs::create_dir(&export).expect("made");
        std::fs::set_permissions(&export, Permissions::from_mode(0o777)).expect("opened to all");
        by_others(&export, "touch file && mkdir directory");
        if change.contains("link") {
            by_others(&export, "ln file ../link");
        }
        let fs = LocalFileSystem::open(&export, Options::default()).expect("a local directory");
        if let Some(why) = fs.local_changes_obstacle() {
            skipped(Lack::Kernel, format_args!("{why}"));
            return;
        }
        let served = serve_with_policy(Arc::new(fs), DelegationPolicy::WhereNoticed);
        let mounted = Mounted::new(served.client("version=4"));
        mounted.start();
        let text = if change.contains("directory") { "directory" } else { "file" };
        let look = |mounted: &Mounted| {
            let root = mounted.cache.root();
            let node = FileSystem::lookup(&mounted.cache, &ME, &root, name(text)).expect("it is there").node;
            node.attributes.changed
        };
        let before = look(&mounted);
        mounted.age();
        assert!(mounted.asks_nothing(|| assert_eq!(look(&mounted), before)), "{change}");
        let began = Instant::now();
        by_others(&export, change);
        mounted.until(change, |mounted| look(mounted) != before);
        assert!(began.elapsed() < Duration::from_secs(1), "{change}: {:?}", began.elapsed());
    }
}
