//! Destinations with troubles: one that dies, one whose server restarts.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    AddLink, Attributes, Caller, Change, Detail, Entry, FileSystem, Found, FsError, Handle, Limits,
    ListDirectory, Listing, MakeDirectory, Name, NewAttributes, Node, Result, SetAttributes, SetTime,
    Timestamp,
};
use std::ops::ControlFlow;

/// Answers so many calls and no more: for those behind it, it is as if the copier was killed.
pub struct Dying {
    pub inner: Arc<dyn FileSystem>,
    pub left: AtomicI64,
}

impl Layer for Dying {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if self.left.fetch_sub(1, Ordering::Relaxed) <= 0 {
            return Err(FsError::TimedOut);
        }
        run(&*self.inner)
    }
}

/// Once, before a call of that kind or after it, something is done to the destination. Other calls wait until it is done
/// whole: what a file system shows in the middle of a change is another test's matter.
pub struct Meddled {
    pub inner: Arc<dyn FileSystem>,
    pub call: Call,
    pub before: bool,
    pub meddle: Box<dyn Fn() + Send + Sync>,
    pub is_done: Mutex<bool>,
}

impl Layer for Meddled {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let mut is_done = self.is_done.lock().expect("no meddler panics");
        if call != self.call || *is_done {
            drop(is_done);
            return run(&*self.inner);
        }
        *is_done = true;
        if self.before {
            (self.meddle)();
        }
        let outcome = run(&*self.inner);
        if !self.before {
            (self.meddle)();
        }
        outcome
    }

    /// Returns nothing of the node afterwards: servers need not.
    fn set_attributes(
        &self,
        caller: &Caller,
        SetAttributes { node, new, guard }: SetAttributes<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let mut known = Change::default();
        let set = |inner: &dyn FileSystem| {
            inner.set_attributes(caller, SetAttributes { node, new, guard }, &mut known)
        };
        let outcome = self.pass(Call::SetAttributes, set);
        if self.before {
            *change = known;
        }
        outcome
    }
}

/// Changes with the first read, and then so many times cannot be looked at nor looked up.
pub struct Unsteady {
    pub inner: Arc<dyn FileSystem>,
    pub change: Box<dyn Fn() + Send + Sync>,
    pub is_changed: AtomicBool,
    pub refusals: AtomicI64,
}

impl Layer for Unsteady {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let looks = matches!(call, Call::Attributes | Call::Lookup);
        if looks
            && self.is_changed.load(Ordering::Relaxed)
            && self.refusals.fetch_sub(1, Ordering::Relaxed) > 0
        {
            return Err(FsError::TimedOut);
        }
        let outcome = run(&*self.inner);
        if call == Call::Read && !self.is_changed.swap(true, Ordering::Relaxed) {
            (self.change)();
        }
        outcome
    }
}

/// Lets removals of files wait until so many are under way.
pub struct Together {
    pub inner: Arc<dyn FileSystem>,
    pub removals: std::sync::Barrier,
}

impl Layer for Together {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::Remove {
            self.removals.wait();
        }
        run(&*self.inner)
    }
}

/// Counts reads, and passes on ranges of files, it says.
pub struct Counting {
    pub inner: Arc<dyn FileSystem>,
    pub reads: AtomicI64,
}

impl Layer for Counting {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        self.reads.fetch_add(i64::from(call == Call::Read), Ordering::Relaxed);
        run(&*self.inner)
    }

    fn limits(&self, caller: &Caller, node: &Handle) -> Result<Limits> {
        Ok(Limits { passes_files: true, ..self.inner.limits(caller, node)? })
    }
}

/// Restarts, and so loses what is not committed, after every so many writes.
pub struct Restarting {
    pub memory: Arc<MemoryFileSystem>,
    pub every: i64,
    /// How many restarts are left.
    pub restarts: AtomicI64,
    pub writes: AtomicI64,
}

impl Layer for Restarting {
    fn inner(&self) -> &dyn FileSystem {
        &*self.memory
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let outcome = run(&*self.memory);
        if call == Call::Write
            && self.writes.fetch_add(1, Ordering::Relaxed) % self.every == self.every - 1
            && self.restarts.fetch_sub(1, Ordering::Relaxed) > 0
        {
            self.memory.restart();
        }
        outcome
    }
}

/// Makes what it is asked to make, and is killed before it answers, so many times: asked again, it says that the name is taken.
pub struct Forgetful {
    pub inner: Arc<dyn FileSystem>,
    pub left: AtomicI64,
}

impl Layer for Forgetful {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let outcome = run(&*self.inner);
        let makes = matches!(call, Call::Create | Call::MakeDirectory | Call::MakeLink | Call::MakeSpecial);
        if makes && outcome.is_ok() && self.left.fetch_sub(1, Ordering::Relaxed) > 0 {
            return Err(FsError::Exists);
        }
        outcome
    }
}

/// What has one name lies on another file system, where it has the number that another name's file has here.
pub struct Elsewhere {
    pub inner: Arc<dyn FileSystem>,
    pub name: &'static [u8],
    pub as_number_of: &'static [u8],
}

impl Layer for Elsewhere {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let mut found = self.inner.lookup(caller, directory, name)?;
        if name.as_bytes() == self.name {
            let other = Name::parse(self.as_number_of).expect("a name");
            found.node.attributes.file_system ^= 1;
            found.node.attributes.file = self.inner.lookup(caller, directory, other)?.node.attributes.file;
        }
        Ok(found)
    }

    fn link(
        &self,
        caller: &Caller,
        AddLink { directory, name, .. }: AddLink<'_>,
        _change: &mut Change,
    ) -> Result<Attributes> {
        match self.inner.lookup(caller, directory, name) {
            Ok(_) => Err(FsError::Exists),
            Err(_) => Err(FsError::CrossDevice),
        }
    }
}

/// Every directory shows one below it called `again`: itself, or a new one each time.
pub struct Endless {
    pub inner: Arc<dyn FileSystem>,
    pub is_new: bool,
}

const AGAIN: &[u8] = b"again";

impl Layer for Endless {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        if name.as_bytes() != AGAIN || self.is_new {
            return self.inner.lookup(caller, directory, name);
        }
        let attributes = self.inner.attributes(caller, directory)?;
        Ok(Found { node: Node { handle: *directory, attributes }, directory: Some(attributes) })
    }

    fn read_directory(
        &self,
        caller: &Caller,
        ListDirectory { directory, cookie, .. }: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        if self.is_new {
            let name = Name::parse(AGAIN).expect("a name");
            let new = NewAttributes::with_mode(0o755);
            let _ = self.inner.make_directory(
                caller,
                MakeDirectory::new(directory, name, &new),
                &mut Change::default(),
            );
        }
        self.inner.read_directory(caller, ListDirectory::new(directory, cookie, Detail::Names), sink)
    }
}

/// Lets calls of one kind pass, after so many alone, only when so many are there at the same time. Who waits too long for the others
/// goes on, and that is noted.
pub struct Meeting {
    pub inner: Arc<dyn FileSystem>,
    pub call: Call,
    pub alone: usize,
    pub together: usize,
    pub seen: Mutex<usize>,
    pub all_there: Condvar,
    pub missed: AtomicBool,
}

impl Layer for Meeting {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == self.call {
            let mut seen = self.seen.lock().expect("nobody panics");
            *seen += 1;
            self.all_there.notify_all();
            let wanted = self.alone + self.together;
            let is_missing = |seen: &mut usize| *seen > self.alone && *seen < wanted;
            let wait = self.all_there.wait_timeout_while(seen, MEETING_TIMEOUT, is_missing);
            let (_seen, waited) = wait.expect("nobody panics");
            self.missed.fetch_or(waited.timed_out(), Ordering::Relaxed);
        }
        run(&*self.inner)
    }
}

/// Answers one kind of calls only after so many of another kind.
pub struct Awaiting {
    pub inner: Arc<dyn FileSystem>,
    pub held: Call,
    pub until: (Call, usize),
    pub seen: Mutex<usize>,
    pub changed: Condvar,
    pub missed: AtomicBool,
}

impl Layer for Awaiting {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == self.until.0 {
            *self.seen.lock().expect("nobody panics") += 1;
            self.changed.notify_all();
        }
        if call == self.held {
            let seen = self.seen.lock().expect("nobody panics");
            let lacks = |seen: &mut usize| *seen < self.until.1;
            let wait = self.changed.wait_timeout_while(seen, MEETING_TIMEOUT, lacks);
            let (_seen, waited) = wait.expect("nobody panics");
            self.missed.fetch_or(waited.timed_out(), Ordering::Relaxed);
        }
        run(&*self.inner)
    }
}

/// Long enough for any busy machine, and the end of a test that fails.
const MEETING_TIMEOUT: Duration = Duration::from_secs(60);

/// Takes names for the same that differ in the case of their letters only, and keeps the spelling that was first.
pub struct Folding {
    pub inner: Arc<dyn FileSystem>,
}

impl Folding {
    /// As it is listed, if it is there.
    fn spelled(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Vec<u8> {
        let mut spelled = name.as_bytes().to_vec();
        let _ = self.inner.read_directory(
            caller,
            ListDirectory::new(directory, 0, Detail::Names),
            &mut |entry| {
                if entry.name.eq_ignore_ascii_case(name.as_bytes()) {
                    spelled = entry.name.to_vec();
                }
                ControlFlow::Continue(())
            },
        );
        spelled
    }
}

impl Layer for Folding {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let spelled = self.spelled(caller, directory, name);
        self.inner.lookup(caller, directory, Name::parse(&spelled).expect("a name"))
    }

    fn rename(
        &self,
        caller: &Caller,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        changes: (&mut Change, &mut Change),
    ) -> Result<()> {
        let spelled = self.spelled(caller, to.0, to.1);
        self.inner.rename(caller, from, (to.0, Name::parse(&spelled).expect("a name")), changes)
    }
}

/// Says of one node that it is of another file system.
pub struct Mounted {
    pub inner: Arc<dyn FileSystem>,
    pub root: Handle,
}

impl Mounted {
    fn shown(&self, node: &Node) -> Node {
        let mut node = *node;
        if node.handle == self.root {
            node.attributes.file_system += 1;
        }
        node
    }
}

impl Layer for Mounted {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn lookup(&self, caller: &Caller, directory: &Handle, name: Name<'_>) -> Result<Found> {
        let found = self.inner.lookup(caller, directory, name)?;
        Ok(Found { node: self.shown(&found.node), ..found })
    }

    fn read_directory(
        &self,
        caller: &Caller,
        list: ListDirectory<'_>,
        sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
    ) -> Result<Listing> {
        self.inner.read_directory(caller, list, &mut |entry| {
            let node = entry.node.map(|node| self.shown(node));
            sink(Entry { node: node.as_ref(), ..entry })
        })
    }
}

/// Answers a READ when two have been under way at the same time.
pub struct InPairs {
    pub inner: Arc<dyn FileSystem>,
    /// How many are under way, and how many have been at most.
    pub reads: Mutex<(usize, usize)>,
    pub news: Condvar,
}

impl Layer for InPairs {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::Read {
            let mut reads = self.reads.lock().expect("nobody panics");
            reads.0 += 1;
            reads.1 = reads.1.max(reads.0);
            self.news.notify_all();
            let alone = |reads: &mut (usize, usize)| reads.1 < 2;
            let waited = self.news.wait_timeout_while(reads, Duration::from_secs(60), alone);
            waited.expect("nobody panics").0.0 -= 1;
        }
        run(&*self.inner)
    }
}

/// Lives: after each call of a kind, something happens to it.
pub struct Living {
    pub inner: Arc<dyn FileSystem>,
    pub call: Call,
    pub change: Box<dyn Fn() + Send + Sync>,
}

impl Layer for Living {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let outcome = run(&*self.inner);
        if call == self.call {
            (self.change)();
        }
        outcome
    }
}

/// Keeps times in whole steps of so many nanoseconds, and says so or not.
pub struct Coarse {
    pub inner: Arc<dyn FileSystem>,
    pub step: u64,
    pub says: u32,
}

impl Coarse {
    fn kept(&self, time: SetTime) -> SetTime {
        let SetTime::To(Timestamp { seconds, nanoseconds }) = time else { return time };
        let all = seconds.unsigned_abs() * 1_000_000_000 + u64::from(nanoseconds);
        let kept = all - all % self.step;
        SetTime::To(Timestamp {
            seconds: (kept / 1_000_000_000).cast_signed(),
            nanoseconds: (kept % 1_000_000_000) as u32,
        })
    }
}

impl Layer for Coarse {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&*self.inner)
    }

    fn limits(&self, caller: &Caller, node: &Handle) -> Result<Limits> {
        Ok(Limits { time_step_nanoseconds: self.says, ..self.inner.limits(caller, node)? })
    }

    fn set_attributes(
        &self,
        caller: &Caller,
        SetAttributes { node, new, guard }: SetAttributes<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let (accessed, modified) = (self.kept(new.accessed), self.kept(new.modified));
        self.inner.set_attributes(
            caller,
            SetAttributes::new(node, &NewAttributes { accessed, modified, ..*new }, guard),
            change,
        )
    }
}

/// Refuses to remove any directory, as a server does that something is mounted on.
pub struct Busy {
    pub inner: Arc<dyn FileSystem>,
}

impl Layer for Busy {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::RemoveDirectory { Err(FsError::AccessDenied) } else { run(&*self.inner) }
    }
}

/// Knows the handles of some calls no more.
pub struct Restored {
    pub inner: Arc<dyn FileSystem>,
    pub knows: Box<dyn Fn(Call) -> bool + Send + Sync>,
}

impl Layer for Restored {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if (self.knows)(call) { run(&*self.inner) } else { Err(FsError::Stale) }
    }
}

/// Counts the most removals that are under way at the same time.
pub struct Crowded {
    pub inner: Arc<dyn FileSystem>,
    pub now: AtomicI64,
    pub most: AtomicI64,
}

impl Layer for Crowded {
    fn inner(&self) -> &dyn FileSystem {
        &*self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call != Call::Remove {
            return run(&*self.inner);
        }
        self.most.fetch_max(self.now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // Others come meanwhile, if they may.
        (0..100).for_each(|_| std::thread::yield_now());
        let outcome = run(&*self.inner);
        self.now.fetch_sub(1, Ordering::SeqCst);
        outcome
    }
}
