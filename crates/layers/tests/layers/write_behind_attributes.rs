//! Attributes that are set while the data of a small file is written: the file ends as if they were set after it, in whichever order the
//! server does both, and whatever it refuses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use howdah_layers::{Cached, CachingOptions};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{
    Attributes, Caller, Change, Closed, Consistency, Create, CreateFile, Data, FileSystem, FsError, Handle,
    Name, NewAttributes, ReadFile, Result, SetAttributes, SetTime, Stability, Timestamp, WriteFile, Written,
};
use parking_lot::{Condvar, Mutex};

const ME: Caller = Caller::ROOT;
const TIME: Timestamp = Timestamp { seconds: 77, nanoseconds: 7 };
/// Longer than any test takes unless calls are made one after the other.
const FOR_EVER: Duration = Duration::from_secs(20);

/// How a server does a WRITE and a SETATTR that it has at the same time, and what its replies say.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
enum Does {
    /// As they come.
    #[default]
    Any,
    WriteFirst,
    SetFirst,
    /// It looks at the file for the reply to the WRITE when it has done both.
    LooksLate,
    /// The WRITE is sent again, since its reply was lost, and runs once more at the end.
    WriteAgain,
    /// The same of the SETATTR.
    SetAgain,
    /// Another client makes the file longer before, and writes it once more between both.
    StrangerBetween,
}

#[derive(Default)]
struct Server {
    inner: MemoryFileSystem,
    does: Mutex<Does>,
    tells_before: bool,
    refuses: Option<(Call, FsError)>,
    calls: Mutex<Vec<Call>>,
    /// Calls that were done.
    done: Mutex<Vec<Call>>,
    news: Condvar,
}

impl Server {
    fn new(clock: Arc<dyn Fn() -> Timestamp + Send + Sync>) -> Self {
        let inner = MemoryFileSystem::with_options(MemoryOptions { clock, ..MemoryOptions::default() });
        Self { inner, tells_before: true, ..Self::default() }
    }

    fn count(&self, call: Call) -> usize {
        self.calls.lock().iter().filter(|made| **made == call).count()
    }

    fn came(&self, call: Call) -> Result<()> {
        self.calls.lock().push(call);
        self.news.notify_all();
        match self.refuses {
            Some((refused, error)) if refused == call => Err(error),
            _ => Ok(()),
        }
    }

    fn did(&self, call: Call) {
        self.done.lock().push(call);
        self.news.notify_all();
    }

    fn after(&self, call: Call) {
        let mut done = self.done.lock();
        let is_not = |done: &mut Vec<Call>| !done.contains(&call);
        assert!(
            !self.news.wait_while_for(&mut done, is_not, FOR_EVER).timed_out(),
            "the other call waits for it"
        );
    }

    fn once_came(&self, call: Call) {
        let mut calls = self.calls.lock();
        let is_not = |calls: &mut Vec<Call>| !calls.contains(&call);
        assert!(
            !self.news.wait_while_for(&mut calls, is_not, FOR_EVER).timed_out(),
            "the other call waits for it"
        );
    }

    fn stranger_writes(&self, node: &Handle) {
        let data = Data::Bytes(b"a stranger's");
        let write = WriteFile::new(node, 0, data, Stability::FileSync);
        self.inner.write(&ME, write, &mut Change::default()).expect("written");
    }

    fn now(&self, node: &Handle) -> Attributes {
        self.inner.attributes(&ME, node).expect("there")
    }
}

impl Layer for Server {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        self.came(call)?;
        run(&self.inner)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, offset, data, stability }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        self.came(Call::Write)?;
        let does = *self.does.lock();
        if matches!(does, Does::SetFirst) {
            self.after(Call::SetAttributes);
        }
        if does == Does::StrangerBetween {
            self.stranger_writes(node);
        }
        let bytes = data.into_shared().map_err(|_| FsError::Io)?;
        let write = || WriteFile::new(node, offset, Data::Shared(bytes.clone()), stability);
        let written = self.inner.write(caller, write(), change);
        if does == Does::StrangerBetween {
            self.stranger_writes(node);
        }
        self.did(Call::Write);
        match does {
            Does::WriteFirst | Does::StrangerBetween => self.once_came(Call::SetAttributes),
            Does::LooksLate => {
                self.after(Call::SetAttributes);
                change.after = Some(self.now(node));
            }
            Does::WriteAgain => {
                self.after(Call::SetAttributes);
                *change = Change::default();
                self.inner.write(caller, write(), change)?;
            }
            _ => {}
        }
        if !self.tells_before {
            change.before = None;
        }
        written
    }

    fn set_attributes(&self, caller: &Caller, set: SetAttributes<'_>, change: &mut Change) -> Result<()> {
        self.came(Call::SetAttributes)?;
        let is_first = self.count(Call::SetAttributes) == 1;
        let does = *self.does.lock();
        if is_first && !matches!(does, Does::Any | Does::SetFirst) {
            self.after(Call::Write);
        }
        let SetAttributes { node, new, guard } = set;
        let mut outcome = self.inner.set_attributes(caller, SetAttributes { node, new, guard }, change);
        if is_first && does == Does::SetAgain {
            *change = Change::default();
            outcome = self.inner.set_attributes(caller, SetAttributes { node, new, guard }, change);
        }
        self.did(Call::SetAttributes);
        if !self.tells_before {
            change.before = None;
        }
        outcome
    }
}

/// A clock that says another time with each change, or always the same.
fn clock(ticks: bool) -> Arc<dyn Fn() -> Timestamp + Send + Sync> {
    let seconds = AtomicU64::new(1_000);
    Arc::new(move || {
        let seconds = seconds.fetch_add(u64::from(ticks), SeqCst);
        Timestamp { seconds: seconds as i64, nanoseconds: 0 }
    })
}

/// A file of this mode with data that the server has not got yet.
struct Small {
    server: Arc<Server>,
    cached: Cached,
    node: Handle,
}

fn write(fs: &dyn FileSystem, caller: &Caller, node: &Handle, data: &[u8]) {
    let write = WriteFile::new(node, 0, Data::Bytes(data), Stability::Unstable);
    fs.write(caller, write, &mut Change::default()).expect("taken");
}

impl Small {
    fn of(server: Server, mode: u32) -> Self {
        let server = Arc::new(server);
        let cached = Cached::around(Arc::clone(&server) as _, CachingOptions::default());
        let fs: &dyn FileSystem = &cached;
        let (name, how) =
            (Name::parse(b"file").expect("a name"), Create::Guarded(NewAttributes::with_mode(mode)));
        let node = fs
            .create(&ME, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
            .expect("made")
            .handle;
        write(fs, &ME, &node, b"small");
        Self { server, cached, node }
    }

    fn sets(&self, new: &NewAttributes) -> Option<Result<Option<Attributes>>> {
        self.cached.set_while_written(&ME, &self.node, new)
    }

    fn closes(&self) -> Result<Closed> {
        self.cached.closed(&ME, &self.node)
    }

    fn content(&self) -> Vec<u8> {
        let mut data = Vec::new();
        self.server.inner.read(&ME, ReadFile::new(&self.node, 0, 100), &mut data).expect("read");
        data
    }
}

/// What tar(1) sets.
fn preserved() -> NewAttributes {
    NewAttributes {
        mode: Some(0o644),
        user: Some(0),
        group: Some(0),
        modified: SetTime::To(TIME),
        ..NewAttributes::default()
    }
}

#[test]
fn times_last_in_whichever_order_the_server_does_both() {
    use Does::*;
    for (does, ticks, tells_before, sets) in [
        (WriteFirst, true, true, 1),
        (WriteFirst, false, true, 1),
        (WriteFirst, true, false, 1),
        // Within one tick, and without the state before, the order is not known.
        (WriteFirst, false, false, 2),
        (LooksLate, true, true, 1),
        (LooksLate, false, false, 1),
        (SetFirst, true, true, 2),
        (SetFirst, false, true, 2),
        (SetFirst, true, false, 2),
        (WriteAgain, true, true, 2),
        (WriteAgain, false, true, 2),
        (SetAgain, true, true, 1),
        (StrangerBetween, false, true, 2),
    ] {
        let case = format!("{does:?}, ticks: {ticks}, before: {tells_before}");
        let file = Small::of(Server { tells_before, ..Server::new(clock(ticks)) }, 0o600);
        *file.server.does.lock() = does;
        let attributes = file.sets(&preserved()).expect("at the same time").expect("set").expect("an answer");
        file.closes().expect("durable");
        let is = file.server.now(&file.node);
        assert_eq!((is.modified, is.mode & 0o7777), (TIME, 0o644), "{case}");
        assert_eq!(
            (attributes.modified, attributes.size, attributes.mode),
            (TIME, is.size, is.mode),
            "{case}"
        );
        assert_eq!(file.server.count(Call::SetAttributes), sets, "{case}");
        assert_eq!((file.server.count(Call::Write), file.server.count(Call::Commit)), (1, 0), "{case}");
        let fs: &dyn FileSystem = &file.cached;
        assert_eq!(fs.attributes(&ME, &file.node).expect("known").modified, TIME, "{case}");
        file.server.inner.restart();
        let content: &[u8] = if does == StrangerBetween { b"a stranger's" } else { b"small" };
        assert_eq!(file.content(), content, "{case}");
    }
}

#[test]
fn a_mode_alone_is_set_once_whatever_the_order() {
    for does in [Does::WriteFirst, Does::SetFirst] {
        let file = Small::of(Server::new(clock(true)), 0o600);
        *file.server.does.lock() = does;
        let new = NewAttributes { accessed: SetTime::Now, modified: SetTime::Now, ..preserved() };
        let new = NewAttributes { user: None, group: None, ..new };
        let attributes = file.sets(&new).expect("at the same time").expect("set").expect("an answer");
        file.closes().expect("durable");
        assert_eq!(attributes, file.server.now(&file.node), "{does:?}");
        assert_eq!((attributes.mode & 0o7777, attributes.size), (0o644, 5), "{does:?}");
        assert_eq!(file.server.calls.lock()[1..].len(), 2, "{does:?}");
    }
}

#[test]
fn refusals_of_data_are_told_by_close_and_those_of_attributes_at_once() {
    for error in [FsError::AccessDenied, FsError::NoSpace, FsError::QuotaExceeded, FsError::TimedOut] {
        let refuses = Some((Call::Write, error));
        let file = Small::of(Server { refuses, ..Server::new(clock(true)) }, 0o600);
        file.sets(&preserved()).expect("at the same time").expect("set");
        assert_eq!(file.closes().expect_err("refused"), error);
        file.closes().expect("the error was reported before");
        assert_eq!(file.server.now(&file.node).size, 0);
        let refuses = Some((Call::SetAttributes, error));
        let file = Small::of(Server { refuses, ..Server::new(clock(true)) }, 0o600);
        assert_eq!(file.sets(&preserved()), Some(Err(error)));
        file.closes().expect("durable");
        assert_eq!(file.content(), b"small");
    }
}

#[test]
fn what_the_order_matters_for_is_not_set_at_the_same_time() {
    let other = NewAttributes { user: Some(5), ..preserved() };
    let set_id = NewAttributes { mode: Some(0o4755), ..preserved() };
    let size = NewAttributes { size: Some(3), ..preserved() };
    let another = Caller::new(5, 5);
    let by_another = |file: &Small| write(&file.cached, &another, &file.node, b"other");
    let same_size = |file: &Small| {
        file.closes().expect("durable");
        write(&file.cached, &ME, &file.node, b"SMALL");
    };
    let large = |file: &Small| write(&file.cached, &ME, &file.node, &vec![1; (64 << 10) + 1]);
    let nothing = |file: &Small| {
        file.closes().expect("durable");
    };
    let as_it_is = |_: &Small| {};
    type Before<'b> = &'b dyn Fn(&Small);
    let cases: [(&str, u32, NewAttributes, Before<'_>); 8] = [
        ("another owner", 0o666, other, &as_it_is),
        ("set-ID bits", 0o666, set_id, &as_it_is),
        (
            "set-ID bits that writing takes away",
            0o4777,
            NewAttributes { mode: None, ..preserved() },
            &as_it_is,
        ),
        ("a size", 0o666, size, &as_it_is),
        ("another writer", 0o666, preserved(), &by_another),
        ("data that makes the file no longer", 0o666, preserved(), &same_size),
        ("much data", 0o666, preserved(), &large),
        ("no data", 0o666, preserved(), &nothing),
    ];
    for (what, mode, new, before) in cases {
        let file = Small::of(Server::new(clock(true)), mode);
        before(&file);
        assert_eq!(file.sets(&new), None, "{what}");
        assert_eq!(file.server.count(Call::SetAttributes), 0, "{what}");
    }
}

#[test]
fn a_program_that_sets_times_waits_for_one_round_trip_also_before_it_closes() {
    let file = Small::of(Server::new(clock(true)), 0o600);
    *file.server.does.lock() = Does::WriteFirst;
    let fs: &dyn FileSystem = &file.cached;
    let (new, mut change) = (preserved(), Change::default());
    fs.set_attributes(&ME, SetAttributes::new(&file.node, &new, None), &mut change).expect("set");
    assert_eq!(change.after.map(|after| after.modified), Some(TIME));
    file.closes().expect("durable");
    assert_eq!(file.server.count(Call::Commit), 0);
}
