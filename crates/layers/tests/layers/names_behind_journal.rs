//! Names written behind with a journal: a mount that is killed loses nothing that programs were answered. A power cut loses only what was
//! answered last and not synced.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use howdah_layers::{BehindOptions, Cached, CachingOptions, NamesBehind, Settle};
use howdah_random::Random;
use howdah_store::journal::{DiskJournal, JournalIdentity, JournalOptions, RefusedStore};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{
    AddLink, Caller, Change, Consistency, Content, Create, CreateFile, Data, Detail, Entry, FileKind,
    FileSystem, FsError, Handle, ListDirectory, MakeDirectory, MakeLink, Name, NewAttributes, Node, ReadFile,
    Result, SetAttributes, Stability, Timestamp, WriteFile,
};
use parking_lot::{Mutex, RwLock};

use crate::simulated_disk::SimulatedDisk;

const ME: Caller = Caller::ROOT;

/// A server that is away after so many calls. The last one is made, but its reply may be lost.
struct Mortal {
    memory: MemoryFileSystem,
    left: Mutex<Option<u64>>,
    loses_reply: Mutex<bool>,
    /// How often it died. Held by calls while they run.
    deaths: RwLock<u64>,
}

/// The server, to a process that is killed when it dies: whatever threads are left of that reach it no more.
struct ToMortal {
    server: Arc<Mortal>,
    deaths: u64,
}

impl Mortal {
    fn new() -> Self {
        let clock = Arc::new(|| {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
            Timestamp { seconds: now.as_secs().cast_signed(), nanoseconds: now.subsec_nanos() }
        });
        let memory = MemoryFileSystem::with_options(MemoryOptions { clock, ..MemoryOptions::default() });
        Self { memory, left: Mutex::new(None), loses_reply: Mutex::new(false), deaths: RwLock::new(0) }
    }

    fn dies_after(&self, calls: Option<u64>, loses_reply: bool) {
        (*self.left.lock(), *self.loses_reply.lock()) = (calls, loses_reply);
    }

    /// There for good, if it is not dead already.
    fn revive(&self) -> bool {
        let mut left = self.left.lock();
        let is_dead = *left == Some(0);
        if !is_dead {
            *left = None;
        }
        !is_dead
    }

    fn is_dead(&self) -> bool {
        *self.left.lock() == Some(0)
    }

    /// From when this returns, nothing changes any more.
    fn die(&self) {
        *self.left.lock() = Some(0);
        *self.deaths.write() += 1;
    }
}

impl ToMortal {
    fn new(server: &Arc<Mortal>) -> Self {
        Self { server: Arc::clone(server), deaths: *server.deaths.read() }
    }
}

impl Layer for ToMortal {
    fn inner(&self) -> &dyn FileSystem {
        &self.server.memory
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let deaths = self.server.deaths.read();
        if *deaths != self.deaths {
            return Err(FsError::TimedOut);
        }
        let is_last = {
            let mut left = self.server.left.lock();
            match &mut *left {
                None => false,
                Some(0) => return Err(FsError::TimedOut),
                Some(left) => {
                    *left -= 1;
                    *left == 0
                }
            }
        };
        let outcome = run(&self.server.memory);
        if is_last && *self.server.loses_reply.lock() { Err(FsError::TimedOut) } else { outcome }
    }
}

/// What programs expect: nodes by path, and what nodes hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Model {
    names: BTreeMap<String, usize>,
    nodes: BTreeMap<usize, Held>,
    next: usize,
}

#[derive(Clone, PartialEq, Eq)]
enum Held {
    Directory,
    File { mode: u32, data: Vec<u8> },
    Link(Vec<u8>),
}

impl std::fmt::Debug for Held {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory => formatter.write_str("directory"),
            Self::File { mode, data } => {
                let sum = data.iter().map(|byte| u64::from(*byte)).sum::<u64>();
                write!(formatter, "file of {} bytes, sum {sum}, mode {mode:o}", data.len())
            }
            Self::Link(target) => write!(formatter, "link to {}", target.escape_ascii()),
        }
    }
}

impl Model {
    fn make(&mut self, path: &str, held: Held) {
        self.next += 1;
        self.names.insert(path.to_owned(), self.next);
        self.nodes.insert(self.next, held);
    }

    /// What a walk sees.
    fn tree(&self) -> BTreeMap<String, Held> {
        self.names.iter().map(|(path, id)| (path.clone(), self.nodes[id].clone())).collect()
    }

    /// A directory gets another name, with all that is in it.
    fn moves(&mut self, from: &str, to: &str) {
        let below = format!("{from}/");
        let moved = self.names.extract_if(.., |path, _| path == from || path.starts_with(&below));
        let moved: Vec<_> = moved.map(|(path, id)| (format!("{to}{}", &path[from.len()..]), id)).collect();
        self.names.extend(moved);
    }

    fn paths(&self, fits: impl Fn(&Held) -> bool) -> Vec<String> {
        self.names.iter().filter(|(_, id)| fits(&self.nodes[id])).map(|(path, _)| path.clone()).collect()
    }
}

fn parsed(name: &str) -> Name<'_> {
    Name::parse(name.as_bytes()).expect("a name")
}

/// The directory of a path, and the last name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

fn find(files: &dyn FileSystem, path: &str) -> Result<Node> {
    let mut handle = files.root();
    let mut attributes = files.attributes(&ME, &handle)?;
    for name in path.split('/').filter(|name| !name.is_empty()) {
        let node = files.lookup(&ME, &handle, parsed(name))?.node;
        (handle, attributes) = (node.handle, node.attributes);
    }
    Ok(Node { handle, attributes })
}

/// All that is in a tree, by path.
fn walk(files: &dyn FileSystem, at: &Handle, path: &str, into: &mut BTreeMap<String, Held>) -> Result<()> {
    let mut names = Vec::new();
    files.read_directory(&ME, ListDirectory::new(at, 0, Detail::Names), &mut |entry: Entry<'_>| {
        names.push(String::from_utf8(entry.name.to_vec()).expect("text"));
        ControlFlow::Continue(())
    })?;
    for name in names.into_iter().filter(|name| name != "." && name != "..") {
        let found = files.lookup(&ME, at, parsed(&name));
        let node = found.unwrap_or_else(|error| panic!("{path}/{name} is listed: {error}")).node;
        let path = if path.is_empty() { name } else { format!("{path}/{name}") };
        let held = match node.attributes.kind {
            FileKind::Directory => {
                walk(files, &node.handle, &path, into)?;
                Held::Directory
            }
            FileKind::SymbolicLink => {
                let mut target = Vec::new();
                files.read_link(&ME, &node.handle, &mut target)?;
                Held::Link(target)
            }
            _ => {
                let mut data = Vec::new();
                let read = files.read(&ME, ReadFile::new(&node.handle, 0, 1 << 20), &mut data)?;
                if let Content::Bytes(bytes) = &read.copied(&mut data)?.content {
                    data.extend_from_slice(bytes);
                }
                assert_eq!(data.len() as u64, node.attributes.size, "{path}");
                Held::File { mode: node.attributes.mode, data }
            }
        };
        into.insert(path, held);
    }
    Ok(())
}

fn tree(files: &dyn FileSystem) -> Result<BTreeMap<String, Held>> {
    let mut into = BTreeMap::new();
    walk(files, &files.root(), "", &mut into)?;
    Ok(into)
}

struct Mounted {
    files: Arc<NamesBehind>,
}

impl Mounted {
    fn new(server: &Arc<Mortal>, disk: &SimulatedDisk) -> Self {
        let cached = Arc::new(Cached::around(Arc::new(ToMortal::new(server)), CachingOptions::default()));
        let start = Instant::now();
        let text = str::to_owned;
        let (server, export, user, host) = (text("server"), text("/"), text("0"), text("here"));
        let identity = JournalIdentity { server, export, user, host, version: None };
        let options = JournalOptions {
            segment: 1 << 18,
            bound: 1 << 24,
            sync_every: Some(Duration::from_millis(5)),
            ..JournalOptions::default()
        };
        let journal = DiskJournal::open_on(Arc::new(disk.clone()), &identity, options).expect("opens");
        let files = NamesBehind::with_journal(
            Arc::clone(&cached) as _,
            cached,
            BehindOptions { gather: Duration::from_millis(5), ..BehindOptions::default() },
            [7; 16],
            journal,
            Arc::new(move || start.elapsed()),
        );
        Self { files: Arc::new(files.expect("threads")) }
    }

    fn fs(&self) -> &dyn FileSystem {
        &*self.files
    }

    fn directory<'p>(&self, path: &'p str) -> Result<(Handle, Name<'p>)> {
        let (above, name) = split(path);
        Ok((find(self.fs(), above)?.handle, parsed(name)))
    }

    fn make(&self, path: &str) -> Result<Node> {
        let (above, name) = self.directory(path)?;
        let how = Create::Guarded(NewAttributes::with_mode(0o644));
        self.fs().create(&ME, CreateFile::new(&above, name, &how), &mut Change::default())
    }

    fn write(&self, node: &Handle, offset: u64, data: &[u8]) -> Result<()> {
        let write = WriteFile::new(node, offset, Data::Bytes(data), Stability::Unstable);
        self.fs().write(&ME, write, &mut Change::default())?;
        self.files.closed(&ME, node).map(drop)
    }

    fn set(&self, path: &str, new: &NewAttributes) -> Result<()> {
        let node = find(self.fs(), path)?;
        self.fs().set_attributes(&ME, SetAttributes::new(&node.handle, new, None), &mut Change::default())
    }
}

/// What the server had to make first, so that it is known how.
fn prime(server: &Arc<Mortal>, disk: &SimulatedDisk, model: &mut Model) {
    let mounted = Mounted::new(server, disk);
    for path in ["d0", "d1", "d0/d2"] {
        let (above, name) = mounted.directory(path).expect("there");
        let new = NewAttributes::with_mode(0o755);
        mounted
            .fs()
            .make_directory(&ME, MakeDirectory::new(&above, name, &new), &mut Change::default())
            .expect("made");
        model.make(path, Held::Directory);
    }
    for path in ["f", "d0/f"] {
        mounted.make(path).expect("made");
        model.make(path, Held::File { mode: 0o644, data: Vec::new() });
    }
    mounted.files.settle(&ME, Settle::All).expect("safe");
}

/// Makes this mount learn how nodes are made, by names that are gone again.
fn learn(mounted: &Mounted, round: usize) -> Result<()> {
    let root = mounted.fs().root();
    let (file, directory, link) =
        (format!("x{round}.lock"), format!("y{round}.lock"), format!("z{round}.lock"));
    let change = &mut Change::default();
    mounted.make(&file)?;
    mounted.fs().make_directory(
        &ME,
        MakeDirectory::new(&root, parsed(&directory), &NewAttributes::with_mode(0o755)),
        change,
    )?;
    mounted.fs().make_link(
        &ME,
        MakeLink::new(&root, parsed(&link), b"there", &NewAttributes::default()),
        change,
    )?;
    mounted.fs().remove(&ME, &root, parsed(&file), change)?;
    mounted.fs().remove(&ME, &root, parsed(&link), change)?;
    mounted.fs().remove_directory(&ME, &root, parsed(&directory), change)
}

/// Makes one random change in the layer and in the model. States that a kill in the middle may leave are added to `states`.
fn step(random: &mut Random, mounted: &Mounted, model: &mut Model, states: &mut Vec<Model>) -> Result<()> {
    let directories: Vec<String> =
        model.paths(|held| *held == Held::Directory).into_iter().chain([String::new()]).collect();
    let files = model.paths(|held| matches!(held, Held::File { .. }));
    let above = &directories[random.below(directories.len() as u64) as usize];
    let name = format!("n{}", random.below(12));
    let free = if above.is_empty() { name } else { format!("{above}/{name}") };
    let is_free = !model.names.contains_key(&free);
    let file = files.get(random.below(files.len().max(1) as u64) as usize).cloned();
    let change = &mut Change::default();
    let tree_after = |model: &Model, states: &mut Vec<Model>| states.push(model.clone());
    match (random.below(15), file) {
        (12 | 13, _) if is_free => {
            let below = |path: &str| free.starts_with(&format!("{path}/"));
            let movable: Vec<_> =
                directories.iter().filter(|path| !path.is_empty() && !below(path)).collect();
            // What was made here just now more often than what was there before.
            let Some(path) = movable.get(movable.len().saturating_sub(1 + random.below(3) as usize)) else {
                return Ok(());
            };
            model.moves(path, &free);
            tree_after(model, states);
            let (from, into) = (mounted.directory(path)?, mounted.directory(&free)?);
            let (from, into) = ((&from.0, from.1), (&into.0, into.1));
            mounted.fs().rename(&ME, from, into, (&mut Change::default(), &mut Change::default()))
        }
        (14, _) if !above.is_empty() => {
            // All of a directory goes, and often its name is used again at once.
            let below = format!("{above}/");
            let all = model.names.keys().filter(|path| *path == above || path.starts_with(&below));
            let mut all: Vec<_> = all.cloned().collect();
            while let Some(path) = all.pop() {
                let id = model.names.remove(&path).expect("it is there");
                tree_after(model, states);
                let (above, name) = mounted.directory(&path)?;
                match model.nodes[&id] {
                    Held::Directory => mounted.fs().remove_directory(&ME, &above, name, change)?,
                    _ => mounted.fs().remove(&ME, &above, name, change)?,
                }
            }
            if random.below(2) == 0 {
                model.make(above, Held::Directory);
                tree_after(model, states);
                let (directory, name) = mounted.directory(above)?;
                let new = NewAttributes::with_mode(0o755);
                mounted.fs().make_directory(&ME, MakeDirectory::new(&directory, name, &new), change)?;
            }
            Ok(())
        }
        (0..=3, _) if is_free => {
            model.make(&free, Held::File { mode: 0o644, data: Vec::new() });
            tree_after(model, states);
            let node = mounted.make(&free)?;
            let data: Vec<u8> = (0..random.below(3000)).map(|_| random.below(256) as u8).collect();
            model.nodes.insert(model.next, Held::File { mode: 0o644, data: data.clone() });
            tree_after(model, states);
            mounted.write(&node.handle, 0, &data)
        }
        (4, _) if is_free => {
            model.make(&free, Held::Directory);
            tree_after(model, states);
            let (above, name) = mounted.directory(&free)?;
            let new = NewAttributes::with_mode(0o755);
            mounted.fs().make_directory(&ME, MakeDirectory::new(&above, name, &new), change).map(drop)
        }
        (5, _) if is_free => {
            let target = format!("t{}", random.below(100)).into_bytes();
            model.make(&free, Held::Link(target.clone()));
            tree_after(model, states);
            let (above, name) = mounted.directory(&free)?;
            let new = NewAttributes::default();
            let link = MakeLink::new(&above, name, &target, &new);
            mounted.fs().make_link(&ME, link, change).map(drop)
        }
        (6, Some(path)) => {
            model.names.remove(&path);
            tree_after(model, states);
            let (above, name) = mounted.directory(&path)?;
            mounted.fs().remove(&ME, &above, name, change)
        }
        (7 | 8, Some(path)) => {
            // To a free name, or over another file.
            let other = files[random.below(files.len() as u64) as usize].clone();
            let to = if is_free && random.below(2) == 0 { free } else { other };
            if model.names.get(&to) == model.names.get(&path) {
                return Ok(());
            }
            let id = model.names.remove(&path).expect("it is there");
            model.names.insert(to.clone(), id);
            tree_after(model, states);
            let (from, into) = (mounted.directory(&path)?, mounted.directory(&to)?);
            let (from, into) = ((&from.0, from.1), (&into.0, into.1));
            mounted.fs().rename(&ME, from, into, (&mut Change::default(), &mut Change::default()))
        }
        (9, Some(path)) if is_free => {
            let id = model.names[&path];
            model.names.insert(free.clone(), id);
            tree_after(model, states);
            let node = find(mounted.fs(), &path)?;
            let (above, name) = mounted.directory(&free)?;
            mounted.fs().link(&ME, AddLink::new(&node.handle, &above, name), change).map(drop)
        }
        (10, Some(path)) => {
            let new_mode = [0o600, 0o640, 0o644][random.below(3) as usize];
            let id = model.names[&path];
            if let Some(Held::File { mode, .. }) = model.nodes.get_mut(&id) {
                *mode = new_mode;
            }
            tree_after(model, states);
            mounted.set(&path, &NewAttributes::with_mode(new_mode))
        }
        (11, Some(path)) => {
            let id = model.names[&path];
            let Some(Held::File { data, .. }) = model.nodes.get_mut(&id) else { return Ok(()) };
            let offset = data.len() as u64;
            data.extend_from_slice(b"more");
            tree_after(model, states);
            let node = find(mounted.fs(), &path)?;
            mounted.write(&node.handle, offset, b"more")
        }
        (_, _) => {
            // An empty directory goes.
            let empty = directories.iter().find(|path| {
                let below = format!("{path}/");
                !path.is_empty() && !model.names.keys().any(|name| name.starts_with(&below))
            });
            let Some(path) = empty else { return Ok(()) };
            model.names.remove(path);
            tree_after(model, states);
            let (above, name) = mounted.directory(path)?;
            mounted.fs().remove_directory(&ME, &above, name, change)
        }
    }
}

/// States in which data that was being written to a file of the server is there, and names are not that were made just before: they were
/// in the journal, and not on its disk yet.
fn overtaking(states: &[Model], before: &Model, after: &Model) -> Vec<Model> {
    let was = |id: &usize, held: &Held| before.nodes.get(id).is_some_and(|was| was != held);
    let written: Vec<_> = after.nodes.iter().filter(|(id, held)| was(id, held)).collect();
    let with = |state: &Model| {
        let mut state = state.clone();
        for (id, held) in &written {
            let was = state.nodes.get_mut(id).filter(|was| Some(&**was) == before.nodes.get(id))?;
            *was = (*held).clone();
        }
        Some(state)
    };
    states.iter().filter_map(with).collect()
}

/// How what is there differs from the state that is most like it, and what came after that state.
fn nearest(states: &[Model], there: &BTreeMap<String, Held>) -> String {
    let without = |one: &BTreeMap<String, Held>, other: &BTreeMap<String, Held>| {
        let differs = |(path, held): &(&String, &Held)| other.get(*path) != Some(held);
        one.iter().filter(differs).map(|(path, held)| format!("{path}: {held:?}")).collect::<Vec<_>>()
    };
    let trees: Vec<_> = states.iter().map(Model::tree).collect();
    let differences = trees.iter().map(|tree| (without(there, tree), without(tree, there)));
    let (place, (more, less)) = differences
        .enumerate()
        .min_by_key(|(_, (more, less))| more.len() + less.len())
        .expect("there is a state");
    let after =
        trees[place..].windows(2).map(|pair| (without(&pair[1], &pair[0]), without(&pair[0], &pair[1])));
    let after: Vec<_> = after.map(|(more, less)| format!("+{more:?} -{less:?}")).collect();
    format!(
        "the server has {more:?} and not {less:?}, compared with state {place} of {}; then came {}",
        states.len(),
        after.join(", ")
    )
}

/// One history: a few lives of a mount, each killed somewhere, and a rest. `cuts_power`: what was not synced is lost, too.
fn history(seed: u64, cuts_power: bool) {
    let mut random = Random::new(seed);
    let server = Arc::new(Mortal::new());
    let mut disk = SimulatedDisk::new(seed);
    let mut model = Model::default();
    prime(&server, &disk, &mut model);
    for life in 0..3 {
        let mounted = Mounted::new(&server, &disk);
        learn(&mounted, life).expect("the server is there");
        mounted.files.settle(&ME, Settle::All).expect("safe");
        // States that may be there after the end: all since the last that is certain.
        let mut states = vec![model.clone()];
        let calls = random.below(120);
        server.dies_after(Some(calls), random.below(2) == 0);
        // A call that waits for a server that is away is killed in the end.
        let (files, its) = (Arc::clone(&mounted.files), Arc::clone(&server));
        let (done, is_done) = std::sync::mpsc::channel::<()>();
        let reaper = std::thread::spawn(move || {
            while is_done.recv_timeout(Duration::from_millis(20)) == Err(RecvTimeoutError::Timeout) {
                if its.is_dead() {
                    files.end();
                }
            }
        });
        for number in 0..random.below(60) {
            let before = model.clone();
            let from = states.len() - 1;
            let outcome = step(&mut random, &mounted, &mut model, &mut states);
            match outcome {
                Ok(()) if !cuts_power => drop(states.drain(..states.len() - 1)),
                Ok(()) => {}
                Err(FsError::TimedOut | FsError::Io) => {
                    // It was not answered: it may be there or not.
                    match cuts_power {
                        false => drop(states.drain(..from)),
                        true => states.splice(0..0, overtaking(&states, &before, &model)).for_each(drop),
                    }
                    break;
                }
                Err(error) => panic!("seed {seed}, life {life}, change {number}: {error}, {before:#?}"),
            }
            if cuts_power && random.below(10) == 0 && server.revive() {
                mounted.files.settle(&ME, Settle::All).expect("safe");
                states.drain(..states.len() - 1);
                server.dies_after(Some(random.below(60)), random.below(2) == 0);
            }
            if random.below(15) == 0 {
                std::thread::sleep(Duration::from_millis(random.below(12)));
            }
        }
        server.die();
        disk = if cuts_power { disk.after_power_cut() } else { disk.after_kill() };
        drop(done);
        reaper.join().expect("it ends");
        drop(mounted);
        // The next may be killed, too, while it sends.
        while random.below(3) == 0 {
            server.dies_after(Some(random.below(40)), random.below(2) == 0);
            let mounted = Mounted::new(&server, &disk);
            std::thread::sleep(Duration::from_millis(random.below(15)));
            server.die();
            disk = if cuts_power { disk.after_power_cut() } else { disk.after_kill() };
            drop(mounted);
        }
        server.dies_after(None, false);
        let mounted = Mounted::new(&server, &disk);
        let what =
            || format!("seed {seed}, life {life}, power {cuts_power}: refused {:?}", mounted.files.refused());
        let seen = std::panic::catch_unwind(AssertUnwindSafe(|| tree(mounted.fs())));
        mounted.files.settle_all();
        let seen = seen.unwrap_or_else(|_| panic!("{}", what())).expect("the server is there");
        let there = tree(&server.memory).expect("memory");
        assert_eq!(seen, there, "{}", what());
        let place = states.iter().rposition(|state| state.tree() == there);
        let Some(place) = place else {
            panic!("{}: {}", what(), nearest(&states, &there));
        };
        assert!(mounted.files.refused().is_empty(), "{}", what());
        let store = RefusedStore::new(Arc::new(disk.clone())).expect("reads");
        assert!(store.list().expect("reads").is_empty(), "{}", what());
        model = states.swap_remove(place);
        mounted.files.settle(&ME, Settle::All).expect("safe");
    }
}

/// A few seeds, or those that the environment asks for: `HOWDAH_JOURNAL_SEEDS=100..400`.
fn seeds(few: u64) -> Range<u64> {
    let Ok(asked) = std::env::var("HOWDAH_JOURNAL_SEEDS") else { return 0..few };
    let (first, end) = asked.split_once("..").expect("FIRST..END");
    first.parse().expect("a number")..end.parse().expect("a number")
}

#[test]
fn a_killed_mount_loses_nothing() {
    for seed in seeds(12) {
        history(seed, false);
    }
}

#[test]
fn a_power_cut_loses_only_what_was_answered_last() {
    for seed in seeds(12) {
        history(seed, true);
    }
}

/// Zeros in the place of what was written to a file: its server lost its power before that was safe.
fn lose(server: &Mortal, path: &str, range: Range<usize>) {
    let Ok(file) = find(&server.memory, path) else { return };
    let size = file.attributes.size as usize;
    let (start, end) = (range.start.min(size), range.end.min(size));
    let zeros = vec![0; end - start];
    let write = WriteFile::new(&file.handle, start as u64, Data::Bytes(&zeros), Stability::FileSync);
    server.memory.write(&ME, write, &mut Change::default()).expect("written");
}

#[test]
fn what_a_server_without_power_has_in_part_is_written_again() {
    let data: Vec<u8> = (0..9000_u16).map(|number| 1 + (number % 250) as u8).collect();
    for (calls, lost) in (0..8).flat_map(|calls| [0..9000, 0..4096, 4096..9000].map(|lost| (calls, lost))) {
        let server = Arc::new(Mortal::new());
        let disk = SimulatedDisk::new(calls);
        prime(&server, &disk, &mut Model::default());
        let mounted = Mounted::new(&server, &disk);
        learn(&mounted, 0).expect("the server is there");
        mounted.files.settle(&ME, Settle::All).expect("safe");
        server.dies_after(Some(calls), true);
        let made = mounted.make("new").and_then(|made| mounted.write(&made.handle, 0, &data));
        while made.is_ok() && !server.is_dead() && mounted.files.report().waiting > 0 {
            std::thread::yield_now();
        }
        let is_safe = mounted.files.report().waiting == 0;
        server.die();
        drop(mounted);
        if !is_safe {
            lose(&server, "new", lost.clone());
        }
        server.dies_after(None, false);
        let mounted = Mounted::new(&server, &disk.after_kill());
        mounted.files.settle_all();
        let refused = mounted.files.refused();
        assert!(refused.is_empty(), "after {calls} calls, {lost:?} lost: {refused:?}");
        if made.is_ok() {
            let held = tree(&server.memory).expect("memory").remove("new");
            assert_eq!(
                held,
                Some(Held::File { mode: 0o644, data: data.clone() }),
                "after {calls} calls, {lost:?} lost"
            );
        }
    }
}

#[test]
fn after_its_disk_failed_nothing_is_answered_early_and_nothing_is_sent_again() {
    let server = Arc::new(Mortal::new());
    let disk = SimulatedDisk::new(1);
    prime(&server, &disk, &mut Model::default());
    let mounted = Mounted::new(&server, &disk);
    learn(&mounted, 0).expect("the server is there");
    let before = mounted.make("before").expect("made");
    disk.fail_sync(rustix::io::Errno::IO);
    mounted.write(&before.handle, 0, b"data").expect("taken");
    // Somebody waits for the disk, at the latest.
    mounted.files.settle(&ME, Settle::All).expect("safe");
    assert!(mounted.files.report().is_synchronous);
    mounted.make("after").expect("made");
    assert_eq!(mounted.files.report().waiting, 0, "it was made by the server");
    mounted.files.settle(&ME, Settle::All).expect("safe");
    drop(mounted);
    let file = find(&server.memory, "before").expect("it is there");
    let newer = WriteFile::new(&file.handle, 0, Data::Bytes(b"NEWER"), Stability::FileSync);
    server.memory.write(&ME, newer, &mut Change::default()).expect("written");
    let expected = tree(&server.memory).expect("memory");
    let mounted = Mounted::new(&server, &disk.after_kill());
    assert_eq!(mounted.files.report().waiting, 0);
    mounted.files.settle_all();
    assert_eq!(tree(&server.memory).expect("memory"), expected);
}
