//! A server in memory that answers late and out of order, loses replies and refuses by a seed, and lets a judge see every change.

use std::time::Duration;

use howdah_random::Random;
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Access, AddLink, Attributes, Caller, Change, CreateFile, FileSystem, Found, FsError, Handle,
    MakeDirectory, MakeLink, Name, Node, Result, SetAttributes, WriteFile, Written,
};
use parking_lot::Mutex;

/// How a server behaves badly. Zero: never.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// The longest that a call takes on its way.
    pub delay: Duration,
    /// One create, mkdir or write in so many is refused.
    pub refused_in: u64,
    /// The reply of one change in so many is lost after the server has made it.
    pub lost_in: u64,
}

/// Sees all calls of the client, one at a time.
pub trait Judge: Send {
    /// The client looks at a node or at a name.
    fn looked(&mut self) {}
    /// The client made a node, or changed its attributes or its names.
    fn changed_itself(&mut self, _node: &Attributes) {}
    /// The client is about to take a name away: by removing it, or by renaming another node over it.
    fn takes(&mut self, _memory: &MemoryFileSystem, _directory: &Handle, _name: Name<'_>) {}
    /// The client is about to cut a file.
    fn cuts(&mut self, _memory: &MemoryFileSystem, _node: &Handle) {}
    /// The client has changed something.
    fn changed(&mut self, _memory: &MemoryFileSystem) {}
}

/// The server. Its judge is locked during each call, so that a stranger who holds the judge acts between calls.
pub struct FarServer<J> {
    pub memory: MemoryFileSystem,
    pub judge: Mutex<J>,
    random: Mutex<Random>,
    faults: Mutex<Faults>,
}

impl<J: Judge> FarServer<J> {
    pub fn new(seed: u64, judge: J) -> Self {
        let (random, faults) = (Mutex::new(Random::new(seed)), Mutex::default());
        Self { memory: MemoryFileSystem::new(), judge: Mutex::new(judge), random, faults }
    }

    /// It behaves so from now on.
    pub fn behave(&self, faults: Faults) {
        *self.faults.lock() = faults;
    }

    fn travel(&self) {
        let longest = self.faults.lock().delay.as_micros() as u64;
        let delay = self.random.lock().below(longest + 1);
        if delay > 0 {
            std::thread::sleep(Duration::from_micros(delay));
        }
    }

    fn one_in(&self, times: u64) -> bool {
        times > 0 && self.random.lock().one_in(times)
    }

    fn change<T>(&self, may_refuse: bool, run: impl FnOnce(&mut J) -> Result<T>) -> Result<T> {
        self.travel();
        let faults = *self.faults.lock();
        if may_refuse && self.one_in(faults.refused_in) {
            return Err(FsError::NoSpace);
        }
        let mut judge = self.judge.lock();
        let outcome = run(&mut judge);
        judge.changed(&self.memory);
        drop(judge);
        self.travel();
        if outcome.is_ok() && self.one_in(faults.lost_in) { Err(FsError::TimedOut) } else { outcome }
    }
}

impl<J: Judge> Layer for FarServer<J> {
    fn inner(&self) -> &dyn FileSystem {
        &self.memory
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let _judge = self.judge.lock();
        run(&self.memory)
    }

    fn attributes(&self, caller: &Caller, node: &Handle) -> Result<Attributes> {
        self.judge.lock().looked();
        self.memory.attributes(caller, node)
    }

    fn access(&self, caller: &Caller, node: &Handle, wanted: Access) -> Result<(Access, Attributes)> {
        self.judge.lock().looked();
        self.memory.access(caller, node, wanted)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        self.judge.lock().looked();
        self.memory.lookup(caller, directory, name)
    }

    fn create(&self, caller: &Caller, create: CreateFile<'_>, change: &mut Change) -> Result<Node> {
        self.change(true, |judge| {
            self.memory.create(caller, create, change).inspect(|made| judge.changed_itself(&made.attributes))
        })
    }

    fn make_directory(&self, caller: &Caller, make: MakeDirectory<'_>, change: &mut Change) -> Result<Node> {
        self.change(true, |judge| {
            self.memory
                .make_directory(caller, make, change)
                .inspect(|made| judge.changed_itself(&made.attributes))
        })
    }

    fn make_link(&self, caller: &Caller, make: MakeLink<'_>, change: &mut Change) -> Result<Node> {
        self.change(true, |_| self.memory.make_link(caller, make, change))
    }

    fn write(&self, caller: &Caller, write: WriteFile<'_>, change: &mut Change) -> Result<Written> {
        self.change(true, |_| self.memory.write(caller, write, change))
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.change(false, |judge| {
            if set.new.size.is_some() {
                judge.cuts(&self.memory, set.node);
            }
            self.memory.set_attributes(caller, set, change)?;
            self.memory.attributes(caller, set.node).iter().for_each(|set| judge.changed_itself(set));
            Ok(())
        })
    }

    fn remove(&self, caller: &Caller, directory: &Handle, name: Name<'_>, change: &mut Change) -> Result<()> {
        self.change(false, |judge| {
            judge.takes(&self.memory, directory, name);
            self.memory.remove(caller, directory, name, change)
        })
    }

    fn remove_directory(
        &self,
        caller: &Caller,
        directory: &Handle,
        name: Name<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.change(false, |_| self.memory.remove_directory(caller, directory, name, change))
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        self.change(false, |judge| {
            let leads = |(directory, name)| {
                self.memory.lookup(caller, directory, name).map(|found| found.node.handle)
            };
            if leads(from).is_ok_and(|node| leads(to) != Ok(node)) {
                judge.takes(&self.memory, to.0, to.1);
            }
            let moved = self.memory.lookup(caller, from.0, from.1);
            self.memory.rename(caller, from, to, changes)?;
            moved.iter().for_each(|moved| judge.changed_itself(&moved.node.attributes));
            Ok(())
        })
    }

    fn link(&self, caller: &Caller, link: AddLink<'_>, change: &mut Change) -> Result<Attributes> {
        self.change(false, |judge| {
            self.memory.link(caller, link, change).inspect(|linked| judge.changed_itself(linked))
        })
    }
}
