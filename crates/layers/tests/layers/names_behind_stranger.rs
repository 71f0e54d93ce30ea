//! Programs whose names are written behind, and a stranger who works on the same server at random: what programs were answered is
//! there, kept or reported, and nothing of the stranger's is destroyed that the programs had not seen.
//!
//! `SEEDS=1000 cargo test -p howdah-layers --test names_behind_stranger` runs more of them, `SEED=7` one.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::env;
use std::sync::Arc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use howdah_layers::{AttributeCacheOptions, BehindOptions, CachingOptions, NamesBehind};
use howdah_random::Random;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Attributes, Caller, Consistency, FileSystem, FsError, Handle, Name, NewAttributes, Node, Result, SetTime,
    Timestamp,
};

use crate::behind::client::{Client, Clock, content_of, is_directory, names_of};
use crate::behind::server::{FarServer, Faults, Judge};

const ME: Caller = Caller::ROOT;
/// As many rounds as CI has time for.
const SEEDS: u64 = 60;
const STEPS: usize = 70;
/// Bytes of a token: what a program or the stranger writes, each once.
const TOKEN: usize = 8;

type Token = String;

/// The tokens of a file: that of a program first, then that of the stranger.
fn tokens(content: &[u8]) -> Vec<Token> {
    let text = |token: &[u8]| String::from_utf8_lossy(token).into_owned();
    content.chunks(TOKEN).filter(|token| token[0] != 0).map(text).collect()
}

/// Notes what the client destroys of the stranger's without having looked, and what the stranger destroys.
#[derive(Default)]
struct Watch {
    /// Counts calls and the stranger's doings.
    moment: u64,
    /// When each thread looked at something last, since it changed something.
    looked: HashMap<ThreadId, u64>,
    /// When the stranger last changed a file.
    touched: HashMap<u64, u64>,
    /// Files and directories that the client made or changed itself. Nobody else is expected to use what it made, and while a change of a
    /// node is pending, its times say nothing of others: then only another node of the same name is noticed.
    made: HashSet<u64>,
    /// The stranger changed it in the round trip between the client's look and its call.
    excused: HashSet<Token>,
    by_stranger: HashSet<Token>,
    story: Vec<String>,
}

impl Watch {
    fn tell(&mut self, what: impl FnOnce() -> String) {
        self.moment += 1;
        self.story.push(what());
    }
}

impl Judge for Watch {
    fn looked(&mut self) {
        self.moment += 1;
        self.looked.insert(thread::current().id(), self.moment);
    }

    fn changed_itself(&mut self, node: &Attributes) {
        self.made.insert(node.file);
    }

    fn takes(&mut self, memory: &MemoryFileSystem, directory: &Handle, name: Name<'_>) {
        let Ok(victim) = memory.lookup(&ME, directory, name) else { return };
        let Node { handle, attributes } = victim.node;
        let its = tokens(&content_of(memory, &ME, &handle).unwrap_or_default());
        let look = self.looked.get(&thread::current().id());
        let is_ours = self.made.contains(&attributes.file)
            || memory.attributes(&ME, directory).is_ok_and(|parent| self.made.contains(&parent.file));
        let touched = self.touched.get(&attributes.file);
        if is_ours || look.is_some_and(|look| touched.is_some_and(|touched| touched > look)) {
            self.excused.extend(its.iter().cloned());
        }
        self.tell(|| format!("    the server drops {} with {its:?}", name.as_bytes().escape_ascii()));
    }

    /// Opening a file that was made here just now asks nobody.
    fn cuts(&mut self, memory: &MemoryFileSystem, node: &Handle) {
        if memory.attributes(&ME, node).is_ok_and(|its| self.made.contains(&its.file)) {
            self.excused.extend(tokens(&content_of(memory, &ME, node).unwrap_or_default()));
        }
    }

    fn changed(&mut self, _: &MemoryFileSystem) {
        self.moment += 1;
        self.looked.remove(&thread::current().id());
    }
}

/// One run: programs, the stranger, and what they know.
struct Run<'r> {
    random: Random,
    server: &'r FarServer<Watch>,
    files: &'r NamesBehind,
    /// Directories by the programs' handles.
    directories: Vec<(String, Handle)>,
    next: u32,
    /// Tokens that programs were answered for, by the handle that they were written to.
    written: BTreeMap<Token, Handle>,
    strangers: BTreeSet<Token>,
    /// Tokens that programs saw in what they removed, replaced or wrote over.
    given_up: HashSet<Token>,
    /// Tokens among what was refused.
    kept: HashSet<Token>,
    /// Handles for which a program got an error.
    reported: HashSet<Handle>,
}

impl<'r> Run<'r> {
    fn tell(&self, what: impl FnOnce() -> String) {
        self.server.judge.lock().tell(what);
    }

    fn token(&mut self, whose: char) -> Token {
        self.next += 1;
        format!("{whose}{:07}", self.next)
    }

    fn program(&mut self) -> Client<'r, NamesBehind> {
        let user = if self.random.one_in(5) { Caller::new(1000, 1000) } else { ME };
        Client::new(self.files, user)
    }

    fn place(&mut self) -> (String, Handle, &'static str) {
        let (path, handle) = self.directories[self.random.index(self.directories.len())].clone();
        (path, handle, ["f0", "f1", "f2", "f3", "f4"][self.random.index(5)])
    }

    /// What a program sees under a name when it opens and reads it.
    fn seen(
        &self,
        program: &Client<'_, NamesBehind>,
        directory: &Handle,
        name: &str,
    ) -> Result<(Node, Vec<Token>)> {
        let node = program.look(directory, name)?;
        if is_directory(&node) {
            return Ok((node, Vec::new()));
        }
        self.files.opened(&program.user, &node.handle)?;
        Ok((node, tokens(&program.read(&node.handle)?)))
    }

    /// Whether the server has a token, as far as the stranger left it there.
    fn has(&self, token: &Token) -> bool {
        let watch = self.server.judge.lock();
        watch.by_stranger.contains(token)
            || self.given_up.contains(token)
            || present(&self.server.memory).contains_key(token)
    }

    fn step(&mut self) {
        let program = self.program();
        let (path, directory, name) = self.place();
        match self.random.below(16) {
            0..=4 => {
                let token = self.token('P');
                let made = program.make(&directory, name);
                let wrote = made.and_then(|node| program.write(&node, 0, token.as_bytes()).map(|()| node));
                let closes = !self.random.one_in(5);
                let closed = wrote
                    .and_then(|node| if closes { program.close(&node).map(|()| node) } else { Ok(node) });
                self.tell(|| format!("make {path}/{name} {token}: {:?}", closed.map(drop)));
                if let Ok(node) = closed {
                    self.written.insert(token.clone(), node);
                    self.perhaps_sync(&program, &node, &token);
                }
            }
            5 => {
                let Ok((node, seen)) = self.seen(&program, &directory, name) else { return };
                let token = self.token('P');
                let wrote = program.write(&node.handle, 0, token.as_bytes());
                self.tell(|| format!("write {path}/{name} {token} over {seen:?}: {wrote:?}"));
                if wrote.is_err() {
                    self.reported.insert(node.handle);
                    return;
                }
                self.given_up.extend(seen.into_iter().filter(|token| token.starts_with('P')));
                self.written.insert(token.clone(), node.handle);
                let closed = program.close(&node.handle);
                if closed.is_err() {
                    self.tell(|| format!("close: {closed:?}"));
                    self.reported.insert(node.handle);
                    return;
                }
                self.perhaps_sync(&program, &node.handle, &token);
            }
            6 => {
                let Ok((node, seen)) = self.seen(&program, &directory, name) else { return };
                let cut = program.cut(&node.handle, 0);
                self.tell(|| format!("cut {path}/{name} {seen:?}: {cut:?}"));
                if is_perhaps_done(cut) {
                    self.given_up.extend(seen);
                }
            }
            7..=8 => {
                let Ok((node, seen)) = self.seen(&program, &directory, name) else { return };
                if is_directory(&node) {
                    return;
                }
                let removed = program.remove(&directory, name);
                self.tell(|| format!("remove {path}/{name} {seen:?}: {removed:?}"));
                if is_perhaps_done(removed) {
                    self.given_up.extend(seen);
                }
            }
            9..=10 => {
                let (to_path, to, to_name) = self.place();
                let seen = self.seen(&program, &to, to_name).map(|(_, seen)| seen).unwrap_or_default();
                let renamed = program.rename((&directory, name), (&to, to_name));
                self.tell(|| {
                    format!("rename {path}/{name} to {to_path}/{to_name} over {seen:?}: {renamed:?}")
                });
                if is_perhaps_done(renamed) {
                    self.given_up.extend(seen);
                }
            }
            11 => {
                let (to_path, to, to_name) = self.place();
                let Ok((node, _)) = self.seen(&program, &directory, name) else { return };
                let linked = program.link(&node.handle, &to, to_name);
                self.tell(|| format!("link {path}/{name} to {to_path}/{to_name}: {linked:?}"));
            }
            12 => {
                let token = self.token('d');
                let made = program.mkdir(&directory, &token);
                self.tell(|| format!("mkdir {path}/{token}: {:?}", made.map(drop)));
                if let Ok(made) = made {
                    self.directories.push((format!("{path}/{token}"), made));
                }
            }
            13 => {
                let Some((path, name)) = self.directories.last().and_then(|(path, _)| path.rsplit_once('/'))
                else {
                    return;
                };
                let above = self.directories.iter().find(|(its, _)| its == path).map(|(_, handle)| *handle);
                let Some(above) = above else { return };
                let removed = program.rmdir(&above, name);
                self.tell(|| format!("rmdir {path}/{name}: {removed:?}"));
                if removed.is_ok() {
                    self.directories.pop();
                }
            }
            14 => {
                let Ok((node, _)) = self.seen(&program, &directory, name) else { return };
                let modified = SetTime::To(Timestamp { seconds: 5, nanoseconds: 0 });
                let mode = Some(if self.random.one_in(2) { 0o600 } else { 0o644 });
                let new = NewAttributes { mode, modified, ..NewAttributes::default() };
                let set = program.set(&node.handle, &new);
                self.tell(|| format!("set {path}/{name}: {set:?}"));
            }
            _ => {
                let synced = self.files.synced_directory(&program.user, &directory);
                self.tell(|| format!("sync {path}: {synced:?}"));
            }
        }
    }

    fn perhaps_sync(&mut self, program: &Client<'_, NamesBehind>, node: &Handle, token: &Token) {
        if !self.random.one_in(6) {
            return;
        }
        let synced = self.files.synced(&program.user, node);
        self.tell(|| format!("fsync {token}: {:?}", synced.map(drop)));
        match synced {
            Ok(_) => assert!(self.has(token), "{token} was synchronised and is not on the server"),
            Err(_) => _ = self.reported.insert(*node),
        }
    }

    /// The stranger does something anywhere on the server.
    fn stranger(&mut self) {
        let token = self.token('S');
        let memory = &self.server.memory;
        let stranger = Client::new(memory, ME);
        let mut watch = self.server.judge.lock();
        let places: Vec<_> = directories(memory);
        let (path, directory) = &places[self.random.index(places.len())];
        let (to_path, to) = &places[self.random.index(places.len())];
        let [name, to_name] = [0; 2].map(|_| ["f0", "f1", "f2", "f3", "f4"][self.random.index(5)]);
        let found = stranger.look(directory, name).ok().filter(|node| !is_directory(node));
        let its = |node: Option<Node>| node.map(|node| tokens(&stranger.read(&node.handle).expect("read")));
        match self.random.below(6) {
            0..=1 => {
                let node = match found {
                    Some(node) => node.handle,
                    None => match stranger.make(directory, name) {
                        Ok(node) => node,
                        Err(_) => return,
                    },
                };
                let at = TOKEN as u64;
                let old = tokens(&stranger.read(&node).expect("read"));
                watch.by_stranger.extend(old.into_iter().filter(|token| token.starts_with('S')));
                stranger.write(&node, at, token.as_bytes()).expect("written");
                watch.tell(|| format!("  stranger writes {path}/{name} {token}"));
                let file = memory.attributes(&ME, &node).expect("there").file;
                let moment = watch.moment;
                watch.touched.insert(file, moment);
                self.strangers.insert(token);
            }
            2..=3 => {
                let its = its(found);
                let removed = stranger.remove(directory, name);
                watch.tell(|| format!("  stranger removes {path}/{name} with {its:?}: {removed:?}"));
                watch.by_stranger.extend(its.filter(|_| removed.is_ok()).unwrap_or_default());
            }
            4 => {
                let victim = stranger.look(to, to_name).ok().filter(|node| !is_directory(node));
                let victims = its(victim);
                let renamed = stranger.rename((directory, name), (to, to_name));
                watch.tell(|| format!("  stranger renames {path}/{name} to {to_path}/{to_name} over {victims:?}: {renamed:?}"));
                if let (Ok(()), Some(node)) = (renamed, found) {
                    let is_same = victim.is_some_and(|victim| victim.handle == node.handle);
                    watch.by_stranger.extend(victims.filter(|_| !is_same).unwrap_or_default());
                    let moment = watch.moment;
                    watch.touched.insert(node.attributes.file, moment);
                }
            }
            _ => {
                let Some((above, name)) = path.rsplit_once('/') else { return };
                let above = places.iter().find(|(its, _)| its == above).expect("it is in it").1;
                if name.starts_with('d') {
                    let removed = stranger.rmdir(&above, name);
                    watch.tell(|| format!("  stranger removes the directory {path}: {removed:?}"));
                }
            }
        }
    }

    /// All is on the server: is it what programs were answered?
    fn judge(&mut self) {
        self.files.settle_all();
        let written: BTreeMap<_, _> = std::mem::take(&mut self.written);
        for node in written.values().collect::<HashSet<_>>() {
            if self.files.synced(&ME, node).is_err() {
                self.reported.insert(*node);
            }
        }
        self.files.settle_all();
        let memory = &self.server.memory;
        let present = present(memory);
        self.kept = self
            .files
            .refused()
            .iter()
            .flat_map(|refused| refused.data.iter().flat_map(|(_, data)| tokens(data)))
            .collect();
        let watch = self.server.judge.lock();
        let is_gone = |token: &Token| self.given_up.contains(token) || watch.by_stranger.contains(token);
        for (token, node) in &written {
            let is_there = present.contains_key(token) || self.kept.contains(token);
            assert!(
                is_there || is_gone(token) || self.reported.contains(node),
                "{token} was answered and is neither on the server nor among what was refused"
            );
        }
        for token in &self.strangers {
            assert!(
                present.contains_key(token) || is_gone(token) || watch.excused.contains(token),
                "{token} of the stranger was destroyed unseen"
            );
        }
        for (token, nodes) in &present {
            assert_eq!(nodes.len(), 1, "{token} is there more than once");
        }
        drop(watch);
        self.compare("", &memory.root(), &self.files.root());
    }

    /// What the layer shows is what the server has.
    fn compare(&self, path: &str, there: &Handle, here: &Handle) {
        self.files.opened(&ME, here).expect("opened");
        let memory = &self.server.memory;
        let theirs = names_of(memory, &ME, there).expect("listed");
        let ours = names_of(self.files, &ME, here).unwrap_or_else(|error| panic!("{path}: {error}"));
        let names =
            |entries: &[(String, Node)]| entries.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
        assert_eq!(names(&ours), names(&theirs), "the layer's listing of {path}/, then the server's");
        for ((name, its), (_, shown)) in theirs.iter().zip(&ours) {
            let path = format!("{path}/{name}");
            assert_eq!(shown.attributes.kind, its.attributes.kind, "{path}");
            if is_directory(its) {
                self.compare(&path, &its.handle, &shown.handle);
                continue;
            }
            let seen =
                self.files.opened(&ME, &shown.handle).unwrap_or_else(|error| panic!("{path}: {error}"));
            // Of a file whose data was refused, those who have it open see the data that is kept.
            let content = tokens(&content_of(self.files, &ME, &shown.handle).expect("read"));
            if content.iter().any(|token| self.kept.contains(token)) {
                continue;
            }
            let (of_theirs, of_ours) = (its.attributes, seen);
            assert_eq!(
                (of_ours.size, of_ours.mode, of_ours.links),
                (of_theirs.size, of_theirs.mode, of_theirs.links),
                "{path}"
            );
            let read = |fs: &dyn FileSystem, node: &Node| {
                content_of(fs, &ME, &node.handle).map(|content| tokens(&content))
            };
            assert_eq!(read(self.files, shown), read(memory, its), "{path}");
        }
    }
}

/// A call whose reply was lost may have been done.
fn is_perhaps_done(outcome: Result<()>) -> bool {
    matches!(outcome, Ok(()) | Err(FsError::TimedOut))
}

impl Drop for Run<'_> {
    #[allow(clippy::print_stderr, reason = "a run that failed tells its story")]
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("{}", self.server.judge.lock().story.join("\n"));
            for refused in self.files.refused() {
                let data: Vec<_> = refused.data.iter().flat_map(|(_, data)| tokens(data)).collect();
                eprintln!(
                    "refused: {} {}: {} {data:?}",
                    refused.kind,
                    refused.path.escape_ascii(),
                    refused.why
                );
            }
        }
    }
}

/// The directories of a server, by path.
fn directories(memory: &MemoryFileSystem) -> Vec<(String, Handle)> {
    let mut found = vec![(String::new(), memory.root())];
    let mut next = 0;
    while let Some((path, handle)) = found.get(next).cloned() {
        next += 1;
        let names = names_of(memory, &ME, &handle).expect("listed");
        found.extend(
            names
                .iter()
                .filter(|(_, node)| is_directory(node))
                .map(|(name, node)| (format!("{path}/{name}"), node.handle)),
        );
    }
    found
}

/// The tokens of a server, and the files that have them.
fn present(memory: &MemoryFileSystem) -> BTreeMap<Token, BTreeSet<u64>> {
    let mut present = BTreeMap::<_, BTreeSet<_>>::new();
    for (_, directory) in directories(memory) {
        for (_, node) in names_of(memory, &ME, &directory).expect("listed") {
            if is_directory(&node) {
                continue;
            }
            for token in tokens(&content_of(memory, &ME, &node.handle).expect("read")) {
                present.entry(token).or_default().insert(node.attributes.file);
            }
        }
    }
    present
}

fn run(seed: u64) {
    let mut random = Random::new(seed);
    let server = Arc::new(FarServer::new(seed, Watch::default()));
    let setup = Client::new(&server.memory, ME);
    let root = server.memory.root();
    let open = NewAttributes::with_mode(0o777);
    setup.set(&root, &open).expect("set");
    for name in ["a", "b"] {
        let made = setup.mkdir(&root, name).expect("made");
        setup.set(&made, &open).expect("set");
    }
    let attributes = match random.one_in(2) {
        true => AttributeCacheOptions::default(),
        false => AttributeCacheOptions::default().with_all(Duration::ZERO),
    };
    let options = BehindOptions {
        gather: Duration::from_millis(random.below(8)),
        in_flight: [1, 4, 384][random.index(3)],
        changes: [8, 65_536][random.index(2)],
        ..BehindOptions::default()
    };
    let clock = Clock::new();
    let caching = CachingOptions { attributes, ..CachingOptions::default() };
    let files = Client::layer(Arc::clone(&server) as _, caching, options, &clock);
    for user in [ME, Caller::new(1000, 1000)] {
        Client::new(&files, user).learn();
    }
    server.behave(Faults {
        delay: Duration::from_micros([0, 200, 2000][random.index(3)]),
        refused_in: [0, 0, 40][random.index(3)],
        lost_in: [0, 0, 100][random.index(3)],
    });
    let looked = |name| Client::new(&files, ME).look(&files.root(), name).expect("there").handle;
    let directories = ["a", "b"].map(|name| (format!("/{name}"), looked(name))).to_vec();
    let (next, written, strangers) = Default::default();
    let (given_up, kept, reported) = Default::default();
    let mut run = Run {
        random,
        server: &server,
        files: &files,
        directories,
        next,
        written,
        strangers,
        given_up,
        kept,
        reported,
    };
    for _ in 0..STEPS {
        if run.random.one_in(3) {
            run.stranger();
        }
        run.step();
    }
    server.behave(Faults::default());
    files.settle_all();
    clock.put_forward(Duration::from_secs(100));
    run.judge();
}

/// Runs one seed; what happened is printed if it fails.
#[allow(clippy::print_stderr, reason = "a seed that failed is named")]
fn play(seed: u64) -> bool {
    let outcome = std::panic::catch_unwind(|| run(seed));
    if outcome.is_err() {
        eprintln!("seed {seed} failed: SEED={seed} cargo test -p howdah-layers --test names_behind_stranger");
    }
    outcome.is_ok()
}

#[test]
fn a_stranger_on_the_server_loses_nothing_and_neither_do_programs() {
    let number = |name| env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let seeds = match number("SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SEEDS").unwrap_or(SEEDS),
    };
    let failed: Vec<_> = seeds.filter(|seed| !play(*seed)).collect();
    assert!(failed.is_empty(), "seeds {failed:?} failed");
}
