//! The server of a case: it stops, refuses and loses replies as the case says, and notes each state that it has had.

use std::time::Duration;

use howdah_random::Random;
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    AddLink, Attributes, Caller, Change, CreateFile, FileSystem, FsError, Handle, MakeDirectory, MakeLink,
    Name, Node, Result, SetAttributes, WriteFile, Written,
};
use parking_lot::{Condvar, Mutex};

use super::case::{Operation, ServerWord, State};
use super::tree;

/// The longest that a call takes on its way, in microseconds: calls that are not in order overtake each other.
const DELAY_MAX: u64 = 300;

pub struct LitmusServer {
    pub memory: MemoryFileSystem,
    now: Mutex<Now>,
    woken: Condvar,
}

struct Now {
    random: Random,
    is_stopped: bool,
    is_full: bool,
    refuses: Vec<String>,
    loses: Vec<String>,
    states: Vec<State>,
}

impl LitmusServer {
    /// Calls take as long as the seed says.
    pub fn new(seed: u64) -> Self {
        let (random, refuses, loses, states) = (Random::new(seed), Vec::new(), Vec::new(), Vec::new());
        let now = Now { random, is_stopped: false, is_full: false, refuses, loses, states };
        Self { memory: MemoryFileSystem::new(), now: Mutex::new(now), woken: Condvar::new() }
    }

    pub fn hear(&self, word: &ServerWord) {
        let mut now = self.now.lock();
        match word {
            ServerWord::Stop => now.is_stopped = true,
            ServerWord::Go => now.is_stopped = false,
            ServerWord::Refuse(name) => now.refuses.push(name.clone()),
            ServerWord::Full => now.is_full = true,
            ServerWord::Lose(name) => now.loses.push(name.clone()),
        }
        self.woken.notify_all();
    }

    /// Somebody works at the server itself.
    pub fn run(&self, operation: &Operation) -> Result<()> {
        let mut now = self.now.lock();
        tree::run(&self.memory, operation)?;
        now.states.push(tree::state(&self.memory));
        Ok(())
    }

    /// How many states it has had, with the present one.
    pub fn moment(&self) -> usize {
        let mut now = self.now.lock();
        if now.states.is_empty() {
            now.states.push(tree::state(&self.memory));
        }
        now.states.len() - 1
    }

    pub fn states(&self) -> Vec<State> {
        self.now.lock().states.clone()
    }

    fn change<T>(
        &self,
        makes: Option<Name<'_>>,
        is_write: bool,
        run: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let delay = self.now.lock().random.below(DELAY_MAX);
        std::thread::sleep(Duration::from_micros(delay));
        let mut now = self.now.lock();
        while now.is_stopped {
            self.woken.wait(&mut now);
        }
        let is_it = |name: &String| makes.is_some_and(|made| made.as_bytes() == name.as_bytes());
        if now.refuses.iter().any(is_it) || is_write && now.is_full {
            return Err(FsError::NoSpace);
        }
        let made = run()?;
        now.states.push(tree::state(&self.memory));
        match now.loses.iter().position(is_it) {
            Some(place) => {
                now.loses.remove(place);
                Err(FsError::TimedOut)
            }
            None => Ok(made),
        }
    }
}

impl Layer for LitmusServer {
    fn inner(&self) -> &dyn FileSystem {
        &self.memory
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.memory)
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        self.change(Some(create.name), false, || self.memory.create(caller, create, change))
    }

    fn make_directory(&self, caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Result<Node> {
        self.change(Some(make.name), false, || self.memory.make_directory(caller, make, change))
    }

    fn make_link(&self, caller: &Caller, make: MakeLink<'_>, change: &mut Change) -> Result<Node> {
        self.change(Some(make.name), false, || self.memory.make_link(caller, make, change))
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        self.change(None, true, || self.memory.write(caller, write, change))
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.change(None, false, || self.memory.set_attributes(caller, set, change))
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        self.change(None, false, || self.memory.remove(caller, directory, name, change))
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.change(None, false, || self.memory.remove_directory(caller, directory, name, change))
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        self.change(None, false, || self.memory.rename(caller, from, to, changes))
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        self.change(None, false, || self.memory.link(caller, link, change))
    }
}
