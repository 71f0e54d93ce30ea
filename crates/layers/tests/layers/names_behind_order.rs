//! In which order names that are written behind reach the server, and what becomes of those that it refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use howdah_layers::{BehindOptions, Cached, CachingOptions, NamesBehind, Settle};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{
    AddLink, Attributes, Caller, Change, CommitFile, Consistency, Create, CreateFile, Data, FileSystem,
    FsError, Handle, MakeDirectory, Name, NewAttributes, Node, ReadFile, Result, SetAttributes, SetTime,
    Stability, Timestamp, WriteFile, Written,
};
use parking_lot::{Condvar, Mutex};

const ME: Caller = Caller::ROOT;

/// A server that writes down what it is asked to change, and waits or refuses as a test wants.
#[derive(Default)]
struct Server {
    memory: MemoryFileSystem,
    asked: Mutex<Vec<String>>,
    /// While this is set, calls that change names wait.
    is_slow: Mutex<bool>,
    woken: Condvar,
    /// Names whose making is refused, and why.
    refuses: Mutex<Vec<(Vec<u8>, FsError)>>,
    /// Whether no data is taken.
    is_full: Mutex<bool>,
    /// Names whose making succeeds, though its reply is lost.
    loses: Mutex<Vec<Vec<u8>>>,
}

impl Server {
    fn note(&self, what: &str, name: &[u8]) {
        let mut is_slow = self.is_slow.lock();
        while *is_slow {
            self.woken.wait(&mut is_slow);
        }
        self.asked.lock().push(format!("{what} {}", name.escape_ascii()));
    }

    fn slow(&self, is_slow: bool) {
        *self.is_slow.lock() = is_slow;
        self.woken.notify_all();
    }

    fn full(&self, is_full: bool) {
        *self.is_full.lock() = is_full;
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().clone()
    }

    fn place_of(&self, what: &str) -> usize {
        let asked = self.asked();
        asked.iter().position(|line| line == what).unwrap_or_else(|| panic!("{what} is not among {asked:?}"))
    }

    fn refusal(&self, name: Name<'_>) -> Result<()> {
        let refuses = self.refuses.lock();
        refuses.iter().find(|(its, _)| its == name.as_bytes()).map_or(Ok(()), |(_, why)| Err(*why))
    }
}

impl Layer for Server {
    fn inner(&self) -> &dyn FileSystem {
        &self.memory
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.memory)
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        self.note("create", create.name.as_bytes());
        self.refusal(create.name)?;
        let made = self.memory.create(caller, create, change)?;
        let mut loses = self.loses.lock();
        match loses.iter().position(|name| name == create.name.as_bytes()) {
            Some(place) => {
                loses.remove(place);
                Err(FsError::TimedOut)
            }
            None => Ok(made),
        }
    }

    fn make_directory(&self, caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Result<Node> {
        self.note("mkdir", make.name.as_bytes());
        self.refusal(make.name)?;
        self.memory.make_directory(caller, make, change)
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        self.note("write", b"");
        if *self.is_full.lock() {
            return Err(FsError::NoSpace);
        }
        self.memory.write(caller, write, change)
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.note("set", b"");
        self.memory.set_attributes(caller, set, change)
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        self.note("remove", name.as_bytes());
        self.memory.remove(caller, directory, name, change)
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        self.note("rename", to.1.as_bytes());
        self.memory.rename(caller, from, to, changes)
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        self.note("link", link.name.as_bytes());
        self.memory.link(caller, link, change)
    }
}

/// A server, and the layer of a client of it that has learnt already how nodes are made there.
struct World {
    server: Arc<Server>,
    files: NamesBehind,
    root: Handle,
    /// A directory that the server made.
    first: Handle,
}

impl World {
    fn new() -> Self {
        Self::before(Server::default())
    }

    fn before(server: Server) -> Self {
        let server = Arc::new(server);
        let cached = Arc::new(Cached::around(Arc::clone(&server) as _, CachingOptions::default()));
        let start = Instant::now();
        let root = Some(server.root());
        let options = BehindOptions { gather: Duration::from_secs(3600), root, ..BehindOptions::default() };
        let files = NamesBehind::around(
            Arc::clone(&cached) as _,
            cached,
            options,
            [7; 16],
            Arc::new(move || start.elapsed()),
        );
        let files = files.expect("threads");
        let root = FileSystem::root(&files);
        let mut world = Self { server, files, root, first: root };
        // The first of each kind is made by the server.
        world.create(&root, "first").expect("made");
        let first = world.mkdir(&root, "first-directory").expect("made");
        world.create(&first.handle, "first").expect("made");
        world.first = first.handle;
        world.files.settle(&ME, Settle::All).expect("safe");
        world.server.asked.lock().clear();
        world
    }

    fn fs(&self) -> &dyn FileSystem {
        &self.files
    }

    fn create(&self, directory: &Handle, name: &str) -> Result<Node> {
        let how = Create::Guarded(NewAttributes::with_mode(0o644));
        self.fs().create(&ME, CreateFile::new(directory, parsed(name), &how), &mut Change::default())
    }

    fn mkdir(&self, directory: &Handle, name: &str) -> Result<Node> {
        let new = NewAttributes::with_mode(0o755);
        self.fs().make_directory(
            &ME,
            MakeDirectory::new(directory, parsed(name), &new),
            &mut Change::default(),
        )
    }

    fn write(&self, node: &Handle, data: &[u8]) -> Result<Written> {
        let write = WriteFile::new(node, 0, Data::Bytes(data), Stability::Unstable);
        self.fs().write(&ME, write, &mut Change::default())
    }

    fn close(&self, node: &Handle) -> Result<()> {
        self.files.closed(&ME, node).map(drop)
    }

    fn file(&self, directory: &Handle, name: &str, data: &[u8]) -> Node {
        let node = self.create(directory, name).expect("made");
        self.write(&node.handle, data).expect("taken");
        self.close(&node.handle).expect("closed");
        node
    }

    fn remove(&self, directory: &Handle, name: &str) -> Result<()> {
        self.fs().remove(&ME, directory, parsed(name), &mut Change::default())
    }

    fn rename(&self, from: (&Handle, &str), to: (&Handle, &str)) -> Result<()> {
        let (from, to) = ((from.0, parsed(from.1)), (to.0, parsed(to.1)));
        self.fs().rename(&ME, from, to, (&mut Change::default(), &mut Change::default()))
    }

    fn settle(&self) {
        self.files.settle_all();
    }

    /// What the server has under a path.
    fn there(&self, path: &[&str]) -> Result<Vec<u8>> {
        let memory = &self.server.memory;
        let mut handle = memory.root();
        for name in path {
            handle = memory.lookup(&ME, &handle, parsed(name))?.node.handle;
        }
        let mut data = Vec::new();
        memory.read(&ME, ReadFile::new(&handle, 0, 1 << 20), &mut data)?.copied(&mut data).map(|_| ())?;
        Ok(data)
    }
}

fn parsed(name: &str) -> Name<'_> {
    Name::parse(name.as_bytes()).expect("a name")
}

#[test]
fn what_is_made_gets_there_parents_first_while_programs_go_on() {
    let world = World::new();
    world.server.slow(true);
    let directory = world.mkdir(&world.root, "tree").expect("at once");
    let below = world.mkdir(&directory.handle, "below").expect("at once");
    world.file(&below.handle, "file", b"data");
    assert!(world.server.asked().is_empty(), "the server has not answered anything");
    assert_eq!(world.files.report().waiting, 3);
    world.server.slow(false);
    world.settle();
    assert_eq!(world.server.asked()[..3], ["mkdir tree", "mkdir below", "create file"]);
    assert_eq!(world.there(&["tree", "below", "file"]), Ok(b"data".to_vec()));
}

#[test]
fn a_name_is_published_when_what_was_made_before_is_safe() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.file(&directory, "old", b"old");
    world.settle();
    world.server.slow(true);
    world.file(&directory, "new", b"new");
    world.file(&directory, "other", b"more");
    world.rename((&directory, "new"), (&directory, "old")).expect("at once");
    world.server.slow(false);
    world.settle();
    let renamed = world.server.place_of("rename old");
    let asked = world.server.asked();
    let writes = asked.iter().take(renamed).filter(|line| line.starts_with("write")).count();
    assert_eq!(writes, 3, "all that was written before: {asked:?}");
    assert!(world.server.place_of("create other") < renamed);
    assert_eq!(world.there(&["tree", "old"]), Ok(b"new".to_vec()));
}

#[test]
fn what_is_made_and_removed_again_is_never_sent() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.settle();
    let temporary = world.create(&directory, "temporary").expect("at once");
    world.write(&temporary.handle, b"data").expect("taken");
    world.remove(&directory, "temporary").expect("at once");
    world.mkdir(&directory, "made-at-once").expect("at once");
    world.settle();
    assert!(
        !world.server.asked().iter().any(|line| line.contains("temporary")),
        "{:?}",
        world.server.asked()
    );
    assert_eq!(world.files.report().joined, 2);
}

#[test]
fn a_name_that_is_made_again_comes_after_its_removal() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.file(&directory, "name", b"one");
    world.settle();
    world.server.slow(true);
    world.remove(&directory, "name").expect("at once");
    world.file(&directory, "name", b"two");
    world.server.slow(false);
    world.settle();
    assert_eq!(world.there(&["tree", "name"]), Ok(b"two".to_vec()));
}

#[test]
fn what_is_refused_is_told_and_kept_and_what_follows_waits_for_the_server() {
    let no_room_or_no_right = [
        FsError::NoSpace,
        FsError::QuotaExceeded,
        FsError::AccessDenied,
        FsError::NotPermitted,
        FsError::ReadOnly,
    ];
    no_room_or_no_right.into_iter().for_each(refuse_a_file);
}

#[test]
fn the_path_of_what_is_refused_is_known_from_the_root_on() {
    let world = World::new();
    let tree = world.mkdir(&world.root, "tree").expect("at once").handle;
    let below = world.mkdir(&tree, "below").expect("at once").handle;
    world.settle();
    world.rename((&tree, "below"), (&world.first, "moved")).expect("done");
    world.settle();
    world.server.refuses.lock().push((b"late".to_vec(), FsError::NoSpace));
    for directory in [&world.first, &below] {
        world.create(directory, "late").expect("at once");
        assert_eq!(world.files.settle(&ME, Settle::All), Err(FsError::NoSpace));
    }
    let paths: Vec<_> = world.files.refused().into_iter().map(|refused| refused.path).collect();
    assert_eq!(paths, [&b"/first-directory/late"[..], b"/first-directory/moved/late"]);
}

fn refuse_a_file(why: FsError) {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.settle();
    world.server.refuses.lock().push((b"full".to_vec(), why));
    let file = world.create(&directory, "full").expect("at once");
    world.write(&file.handle, b"precious").expect("taken");
    world.close(&file.handle).expect("not known yet");
    assert_eq!(world.files.settle(&ME, Settle::All), Err(why));
    assert_eq!(world.close(&file.handle), Err(why));
    assert_eq!(world.write(&file.handle, b"more").map(drop), Err(why), "it takes nothing any more");
    let refused = world.files.refused();
    assert_eq!(refused.len(), 1);
    assert_eq!((refused[0].path.as_slice(), refused[0].why), (&b"/tree/full"[..], why));
    assert_eq!(refused[0].data[0].1, &b"precious"[..]);
    // The next one in this directory is refused on the spot.
    world.server.refuses.lock().push((b"next".to_vec(), why));
    assert_eq!(world.create(&directory, "next").map(drop), Err(why));
    assert_eq!(world.files.report().careful, 1);
    assert_eq!(world.fs().lookup(&ME, &directory, parsed("full")).map(drop), Err(FsError::NotFound));
}

#[test]
fn what_builds_on_a_refused_change_is_not_sent() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.file(&directory, "config", b"old");
    world.settle();
    world.server.refuses.lock().push((b"config.new".to_vec(), FsError::QuotaExceeded));
    world.server.slow(true);
    world.file(&directory, "config.new", b"new");
    world.rename((&directory, "config.new"), (&directory, "config")).expect("at once");
    world.remove(&directory, "config").expect("at once");
    world.server.slow(false);
    world.settle();
    assert_eq!(world.there(&["tree", "config"]), Ok(b"old".to_vec()), "nothing is destroyed");
    // Nothing was there to be removed, as far as the program knows.
    assert_eq!(world.files.refused().len(), 3);
}

#[test]
fn a_lost_reply_makes_nothing_twice() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.server.loses.lock().push(b"file".to_vec());
    world.file(&directory, "file", b"data");
    world.settle();
    assert_eq!(world.files.report().conflicts, 0);
    assert_eq!(world.there(&["tree", "file"]), Ok(b"data".to_vec()));
}

#[test]
fn two_files_of_one_name_both_stay() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.settle();
    world.server.slow(true);
    world.file(&directory, "report", b"ours");
    // Another client, past our layers.
    let memory = &world.server.memory;
    let tree = memory.lookup(&ME, &memory.root(), parsed("tree")).expect("there").node.handle;
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    let theirs = memory.create(&ME, CreateFile::new(&tree, parsed("report"), &how), &mut Change::default());
    let theirs = theirs.expect("made").handle;
    let write = WriteFile::new(&theirs, 0, Data::Bytes(b"theirs"), Stability::FileSync);
    memory.write(&ME, write, &mut Change::default()).expect("written");
    world.server.slow(false);
    world.settle();
    assert_eq!(world.there(&["tree", "report"]), Ok(b"theirs".to_vec()));
    assert_eq!(world.files.report().conflicts, 1);
    let made = world.server.asked().into_iter().find(|line| line.starts_with("create report.conflict-"));
    let name = made.expect("ours is beside it").split_off("create ".len());
    assert_eq!(world.there(&["tree", &name]), Ok(b"ours".to_vec()));
}

#[test]
fn fsync_waits_for_the_file_and_the_names_that_lead_to_it() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    let file = world.create(&directory, "file").expect("at once");
    world.write(&file.handle, b"data").expect("taken");
    world.fs().commit(&ME, CommitFile::new(&file.handle, 0, 0), &mut Change::default()).expect("safe");
    assert_eq!(world.there(&["tree", "file"]), Ok(b"data".to_vec()));
}

#[test]
fn a_lock_in_a_directory_that_others_use_is_made_by_the_server() {
    let world = World::new();
    world.server.refuses.lock().push((b"index.lock".to_vec(), FsError::Exists));
    assert_eq!(world.create(&world.root, "index.lock").map(drop), Err(FsError::Exists));
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    assert!(
        world.create(&directory, "index.lock").is_ok(),
        "nobody else uses a directory that was made just now"
    );
}

#[test]
fn a_file_whose_data_was_refused_replaces_nothing() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.file(&directory, "good", b"good");
    let short = world.file(&directory, "short", b"");
    world.settle();
    // Written and closed, then times are set, then it is renamed: as rsync does.
    world.server.full(true);
    world.server.slow(true);
    world.write(&short.handle, b"data").expect("taken");
    world.close(&short.handle).expect("not known yet");
    let times = NewAttributes {
        modified: SetTime::To(Timestamp { seconds: 5, nanoseconds: 0 }),
        ..NewAttributes::default()
    };
    let set = SetAttributes::new(&short.handle, &times, None);
    world.fs().set_attributes(&ME, set, &mut Change::default()).expect("at once");
    world.rename((&directory, "short"), (&directory, "good")).expect("at once");
    world.server.slow(false);
    world.settle();
    assert_eq!(world.there(&["tree", "good"]), Ok(b"good".to_vec()));
    // Later, too, when the server is asked at once.
    assert_eq!(world.rename((&directory, "short"), (&directory, "good")), Err(FsError::NoSpace));
    assert_eq!(world.there(&["tree", "good"]), Ok(b"good".to_vec()));
}

#[test]
fn a_file_whose_data_was_refused_takes_no_more() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.settle();
    world.server.full(true);
    let file = world.create(&directory, "file").expect("at once").handle;
    world.write(&file, b"data").expect("taken");
    world.settle();
    world.server.full(false);
    for _ in 0..2 {
        assert_eq!(world.write(&file, b"more").map(drop), Err(FsError::NoSpace));
        assert_eq!(world.files.settle(&ME, Settle::Node(&file)), Err(FsError::NoSpace), "it is not there");
    }
    assert_eq!(world.there(&["tree", "file"]), Ok(Vec::new()));
}

#[test]
fn data_is_sent_although_another_change_of_the_file_failed() {
    let world = World::new();
    let file = world.file(&world.root, "file", b"").handle;
    world.settle();
    world.server.slow(true);
    world.write(&file, b"data").expect("taken");
    world.file(&world.root, "earlier", b"");
    world.rename((&world.root, "file"), (&world.root, "taken")).expect("at once");
    // Another client, past our layers.
    let memory = &world.server.memory;
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    let theirs = CreateFile::new(&world.root, parsed("taken"), &how);
    memory.create(&ME, theirs, &mut Change::default()).expect("made");
    world.server.slow(false);
    world.settle();
    assert_eq!(world.close(&file), Err(FsError::Exists), "the rename was not done");
    assert_eq!(world.there(&["file"]), Ok(b"data".to_vec()));
}

#[test]
fn a_ref_is_published_after_the_names_that_it_rests_on() {
    for _ in 0..20 {
        let world = World::new();
        let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
        world.file(&directory, "tmp_object", b"blob");
        world.file(&directory, "main.lock", b"id");
        world.file(&directory, "loose", b"blob");
        world.settle();
        world.server.slow(true);
        world.rename((&directory, "tmp_object"), (&directory, "object")).expect("at once");
        world.rename((&directory, "main.lock"), (&directory, "main")).expect("at once");
        world.remove(&directory, "loose").expect("at once");
        world.server.slow(false);
        world.settle();
        let object = world.server.place_of("rename object");
        assert!(
            object < world.server.place_of("rename main") && object < world.server.place_of("remove loose")
        );
    }
}

#[test]
fn what_another_client_changed_meanwhile_is_not_taken_away() {
    // A name that was free, a file that was written, and one that was replaced.
    let world = World::new();
    let stranger = |what: &dyn Fn(&MemoryFileSystem, &Handle)| {
        let memory = &world.server.memory;
        what(memory, &memory.root());
    };
    let put = |name: &'static str, data: &'static [u8]| {
        stranger(&move |memory, root| {
            let how = Create::Unchecked(NewAttributes::with_mode(0o644));
            let made = memory.create(&ME, CreateFile::new(root, parsed(name), &how), &mut Change::default());
            let made = made.expect("made").handle;
            let write = WriteFile::new(&made, 0, Data::Bytes(data), Stability::FileSync);
            memory.write(&ME, write, &mut Change::default()).expect("written");
        });
    };
    let swap = |from, to| {
        stranger(&move |memory, root| {
            let changes = (&mut Change::default(), &mut Change::default());
            memory.rename(&ME, (root, parsed(from)), (root, parsed(to)), changes).expect("renamed");
        });
    };
    for name in ["written", "replaced", "kept", "target"] {
        put(name, b"as seen");
        world.fs().lookup(&ME, &world.root, parsed(name)).expect("seen");
    }
    put("other", b"theirs");
    world.file(&world.root, "new", b"ours");
    world.file(&world.root, "newer", b"ours");
    world.settle();
    world.server.slow(true);
    // What is taken away waits for it.
    world.file(&world.root, "earlier", b"ours");
    world.remove(&world.root, "written").expect("at once");
    world.remove(&world.root, "replaced").expect("at once");
    world.remove(&world.root, "kept").expect("at once");
    world.rename((&world.root, "new"), (&world.root, "free")).expect("at once");
    world.rename((&world.root, "newer"), (&world.root, "target")).expect("at once");
    put("written", b"theirs");
    swap("other", "replaced");
    put("free", b"theirs");
    put("target", b"theirs");
    world.server.slow(false);
    world.settle();
    for name in ["written", "replaced", "free", "target"] {
        assert_eq!(world.there(&[name]).map(|data| data[..6].to_vec()), Ok(b"theirs".to_vec()), "{name}");
    }
    for name in ["new", "newer"] {
        assert_eq!(world.there(&[name]), Ok(b"ours".to_vec()), "{name}");
    }
    assert_eq!(world.there(&["kept"]), Err(FsError::NotFound));
    assert_eq!(world.files.report().refused, 4);
}

#[test]
fn what_was_made_beside_another_clients_file_is_not_renamed_by_its_old_name() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.settle();
    world.server.slow(true);
    world.file(&directory, "new", b"ours");
    world.rename((&directory, "new"), (&directory, "final")).expect("at once");
    let memory = &world.server.memory;
    let tree = memory.lookup(&ME, &memory.root(), parsed("tree")).expect("there").node.handle;
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    memory.create(&ME, CreateFile::new(&tree, parsed("new"), &how), &mut Change::default()).expect("made");
    world.server.slow(false);
    world.settle();
    assert_eq!(world.there(&["tree", "final"]), Err(FsError::NotFound), "theirs is not ours to publish");
    assert_eq!(world.there(&["tree", "new"]), Ok(Vec::new()));
}

#[test]
fn a_cut_comes_after_what_the_user_made_before() {
    let world = World::new();
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    let file = world.file(&directory, "file", b"only copy");
    world.settle();
    world.file(&directory, "copy", b"only copy");
    let size = NewAttributes::with_size(0);
    let set = SetAttributes::new(&file.handle, &size, None);
    world.fs().set_attributes(&ME, set, &mut Change::default()).expect("cut");
    assert_eq!(world.there(&["tree", "copy"]), Ok(b"only copy".to_vec()));
}

#[test]
fn others_do_not_look_names_up_in_a_private_directory() {
    let world = World::new();
    let private = NewAttributes::with_mode(0o700);
    let make = MakeDirectory::new(&world.root, parsed("private"), &private);
    let directory = world.fs().make_directory(&ME, make, &mut Change::default()).expect("at once").handle;
    let other = Caller::new(1000, 1000);
    let look = || world.fs().lookup(&other, &directory, parsed("secret")).map(drop);
    world.server.slow(true);
    world.file(&directory, "secret", b"secret");
    std::thread::scope(|scope| {
        let looked = scope.spawn(look);
        world.server.slow(false);
        assert_eq!(looked.join().expect("looked"), Err(FsError::AccessDenied));
    });
    world.settle();
    assert_eq!(look(), Err(FsError::AccessDenied));
}

#[test]
fn a_directory_with_a_file_that_is_still_open_is_not_empty() {
    let world = World::new();
    let rmdir = |name| world.fs().remove_directory(&ME, &world.root, parsed(name), &mut Change::default());
    for is_settled in [false, true] {
        let name = if is_settled { "settled" } else { "pending" };
        let directory = world.mkdir(&world.root, name).expect("at once").handle;
        world.create(&directory, "open").expect("at once");
        if is_settled {
            world.settle();
        }
        assert_eq!(rmdir(name), Err(FsError::NotEmpty), "{name}");
        let empty = format!("empty-{name}");
        world.mkdir(&world.root, &empty).expect("at once");
        assert_eq!(
            world.rename((&world.root, &empty), (&world.root, name)),
            Err(FsError::NotEmpty),
            "{name}"
        );
    }
}

#[test]
fn a_file_with_two_names_keeps_the_other_one() {
    for _ in 0..50 {
        let world = World::new();
        let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
        let file = world.file(&directory, "temporary", b"data");
        let link = AddLink::new(&file.handle, &directory, parsed("object"));
        world.fs().link(&ME, link, &mut Change::default()).expect("at once");
        world.remove(&directory, "temporary").expect("at once");
        let found = world.fs().lookup(&ME, &directory, parsed("object")).expect("there").node;
        assert_eq!(found.attributes.links, 1);
        world.settle();
        assert_eq!(world.there(&["tree", "object"]), Ok(b"data".to_vec()));
        assert_eq!(world.fs().attributes(&ME, &file.handle).map(|seen| seen.links), Ok(1));
    }
}

#[test]
fn times_of_a_directory_come_after_the_names_in_it() {
    let world = World::new();
    world.server.slow(true);
    let directory = world.mkdir(&world.root, "tree").expect("at once").handle;
    world.file(&directory, "temporary", b"data");
    world.rename((&directory, "temporary"), (&directory, "final")).expect("at once");
    let long_ago = Timestamp { seconds: 1_000_000_000, nanoseconds: 0 };
    let new = NewAttributes { modified: SetTime::To(long_ago), ..NewAttributes::default() };
    let set = SetAttributes::new(&directory, &new, None);
    world.fs().set_attributes(&ME, set, &mut Change::default()).expect("at once");
    let modified = || world.fs().attributes(&ME, &directory).expect("there").modified;
    assert_eq!(modified(), long_ago);
    world.server.slow(false);
    world.settle();
    assert_eq!(modified(), long_ago);
    let memory = &world.server.memory;
    let there = memory.lookup(&ME, &memory.root(), parsed("tree")).expect("there").node.attributes;
    assert_eq!(there.modified, long_ago);
}

#[test]
fn times_grow_although_the_clock_of_the_server_steps_back() {
    let seconds = Arc::new(AtomicI64::new(2_000_000));
    let its = Arc::clone(&seconds);
    let clock = Arc::new(move || Timestamp { seconds: its.load(Ordering::Relaxed), nanoseconds: 0 });
    let memory = MemoryFileSystem::with_options(MemoryOptions { clock, ..MemoryOptions::default() });
    let world = World::before(Server { memory, ..Server::default() });
    let before = world.file(&world.root, "before", b"1").attributes.modified;
    world.settle();
    seconds.store(1_000_000, Ordering::Relaxed);
    let stepped = world.mkdir(&world.root, "stepped").expect("at once");
    world.settle();
    let after = world.file(&stepped.handle, "after", b"2").attributes.modified;
    assert!(after > before, "{after:?} is not after {before:?}");
}
