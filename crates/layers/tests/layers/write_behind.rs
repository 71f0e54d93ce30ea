//! The write-behind: what is committed is there, whatever happened to it on the way.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use howdah_layers::{WriteBehind, WriteBehindOptions};
use howdah_vfs::layer::{Call, Fault, FaultKind, FaultPlan, Faulty, Layer, Metered};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, CommitFile, Committed, Content, Create, CreateFile, Data, FileSystem, FsError, Handle,
    Name, NewAttributes, ReadFile, Result, Stability, WriteFile, Written,
};
use parking_lot::Mutex;

const ROOT: Caller = Caller::ROOT;
const BLOCK: usize = 4096;

fn options() -> WriteBehindOptions {
    WriteBehindOptions { block: BLOCK, ..WriteBehindOptions::default() }
}

fn create(fs: &dyn FileSystem) -> Handle {
    let how = Create::Unchecked(NewAttributes::default());
    let name = Name::parse(b"file").expect("a name");
    fs.create(&ROOT, CreateFile::new(&fs.root(), name, &how), &mut Change::default()).expect("made").handle
}

fn write(fs: &dyn FileSystem, node: &Handle, offset: usize, data: &[u8]) -> Result<()> {
    let mut change = Change::default();
    let written = fs.write(
        &ROOT,
        WriteFile::new(node, offset as u64, Data::Bytes(data), Stability::Unstable),
        &mut change,
    )?;
    assert_eq!(written.count, data.len());
    Ok(())
}

fn commit(fs: &dyn FileSystem, node: &Handle) -> Result<()> {
    fs.commit(&ROOT, CommitFile::new(node, 0, 0), &mut Change::default()).map(|_| ())
}

fn content(fs: &dyn FileSystem, node: &Handle) -> Vec<u8> {
    let mut buffer = Vec::new();
    let read = fs.read(&ROOT, ReadFile::new(node, 0, 1 << 20), &mut buffer).expect("read");
    if let Content::Bytes(bytes) = &read.content {
        buffer.extend_from_slice(bytes);
    }
    buffer
}

/// A server that keeps unstable data in memory, and loses it, once, when it is first asked to make it durable.
struct Forgetful {
    inner: MemoryFileSystem,
    run: AtomicU8,
    unstable: Mutex<Vec<(Handle, u64, Vec<u8>)>>,
}

impl Layer for Forgetful {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inner)
    }

    fn write(
        &self,
        _: &Caller,
        WriteFile { node, offset, mut data, stability }: WriteFile<'_>,
        _: &mut Change,
    ) -> Result<Written> {
        let bytes = data.bytes().map_err(|_| FsError::Io)?.to_vec();
        let count = bytes.len();
        self.unstable.lock().push((*node, offset, bytes));
        Ok(Written { count, stability, verifier: [self.run.load(Ordering::SeqCst); 8] })
    }

    fn commit(&self, _: &Caller, _: CommitFile<'_>, _: &mut Change) -> Result<Committed> {
        let unstable = std::mem::take(&mut *self.unstable.lock());
        if self.run.load(Ordering::SeqCst) == 0 {
            self.run.store(1, Ordering::SeqCst);
        } else {
            for (node, offset, bytes) in unstable {
                write(&self.inner, &node, usize::try_from(offset).expect("small"), &bytes)?;
            }
        }
        Ok(Committed { verifier: [self.run.load(Ordering::SeqCst); 8] })
    }
}

#[test]
fn what_the_server_lost_is_written_again() {
    let server =
        Forgetful { inner: MemoryFileSystem::new(), run: AtomicU8::new(0), unstable: Mutex::default() };
    let server = Arc::new(server);
    let fs = WriteBehind::around(Arc::clone(&server) as _, options());
    let node = create(&fs);
    let data: Vec<u8> = (0..10 * BLOCK + 7).map(|at| (at / 3) as u8).collect();
    data.chunks(1000).enumerate().for_each(|(at, part)| write(&fs, &node, at * 1000, part).expect("taken"));
    commit(&fs, &node).expect("safe");
    assert!(content(&server.inner, &node) == data);
    let report = fs.report();
    assert!(report.written_again > 0 && report.held == 0, "{report:?}");
}

/// A server that restarts while it commits. Of two writes that come meanwhile, the second comes while the first is made.
struct Meanwhile {
    inside: MemoryFileSystem,
    outside: OnceLock<Weak<WriteBehind>>,
    /// What was written, in the order in which it came.
    seen: Mutex<Vec<(u64, Vec<u8>)>>,
    /// What is still to happen: at which call, and what is written then.
    script: Mutex<Vec<(Call, usize, &'static [u8])>>,
}

impl Meanwhile {
    fn happens(&self, node: &Handle, call: Call) {
        let next = {
            let mut script = self.script.lock();
            script.last().is_some_and(|step| step.0 == call).then(|| script.pop()).flatten()
        };
        let outside = self.outside.get().and_then(Weak::upgrade);
        if let (Some((_, offset, data)), Some(outside)) = (next, outside) {
            write(&*outside, node, offset, data).expect("written");
        }
    }
}

impl Layer for Meanwhile {
    fn inner(&self) -> &dyn FileSystem {
        &self.inside
    }

    fn pass<T>(&self, _: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        run(&self.inside)
    }

    fn write(
        &self,
        caller: &Caller,
        WriteFile { node, offset, mut data, stability }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        self.seen.lock().push((offset, data.bytes().expect("bytes").to_vec()));
        self.happens(node, Call::Write);
        self.inside.write(caller, WriteFile { node, offset, data, stability }, change)
    }

    fn commit(&self, caller: &Caller, commit: CommitFile<'_>, change: &mut Change) -> Result<Committed> {
        if self.script.lock().last().is_some_and(|step| step.0 == Call::Commit) {
            self.inside.restart();
        }
        self.happens(commit.node, Call::Commit);
        self.inside.commit(caller, commit, change)
    }
}

#[test]
fn older_data_does_not_pass_what_comes_while_it_is_waited_for() {
    let server = Arc::new(Meanwhile {
        inside: MemoryFileSystem::new(),
        outside: OnceLock::new(),
        seen: Mutex::default(),
        script: Mutex::default(),
    });
    let layer = WriteBehind::around(Arc::clone(&server) as _, WriteBehindOptions { block: 4, ..options() });
    let layer = Arc::new(layer);
    server.outside.set(Arc::downgrade(&layer)).expect("once");
    let node = create(&*layer);
    write(&*layer, &node, 0, b"aaaa").expect("written");
    *server.script.lock() = vec![(Call::Write, 0, b"XX"), (Call::Commit, 8, b"YY")];
    commit(&*layer, &node).expect("committed");
    let order: Vec<_> =
        server.seen.lock().iter().map(|(at, data)| (*at, data.escape_ascii().to_string())).collect();
    let writes: Vec<_> = order.iter().map(|(at, data)| (*at, data.as_str())).collect();
    assert_eq!(writes, [(0, "aaaa"), (8, "YY"), (0, "XX"), (2, "aa")]);
    assert_eq!(content(&server.inside, &node), b"XXaa\0\0\0\0YY");
}

#[test]
fn small_writes_reach_the_server_as_blocks_and_in_their_order() {
    let metered = Arc::new(Metered::around(Arc::new(MemoryFileSystem::new()), Arc::new(Default::default)));
    let fs = WriteBehind::around(Arc::clone(&metered) as _, options());
    let node = create(&fs);
    let mut model = vec![0; 8 * BLOCK];
    for round in 1..=3_u8 {
        for at in (0..model.len()).step_by(512) {
            write(&fs, &node, at, &[round; 512]).expect("taken");
            model[at..at + 512].fill(round);
        }
        // Over what may be on its way still.
        let at = usize::from(round) * 100;
        write(&fs, &node, at, &[0; 50]).expect("taken");
        model[at..at + 50].fill(0);
    }
    commit(&fs, &node).expect("safe");
    assert!(content(&*metered, &node) == model);
    let calls = metered.snapshot().of(Call::Write).count;
    assert!(calls < 3 * 8 + 10, "{calls} calls for {} writes", 3 * (8 * BLOCK / 512 + 1));
}

#[test]
fn what_went_wrong_behind_is_told_once() {
    // The first write is made at once, and goes well.
    let plan = FaultPlan::new(
        7,
        [Fault { call: Some(Call::Write), one_in: 2, kind: FaultKind::Refuse(FsError::NoSpace) }],
    );
    let fs =
        WriteBehind::around(Arc::new(Faulty::around(Arc::new(MemoryFileSystem::new()), plan)), options());
    let node = create(&fs);
    let mut refused = 0;
    for block in 0..32 {
        refused += usize::from(write(&fs, &node, block * BLOCK, &[1; BLOCK]) == Err(FsError::NoSpace));
    }
    refused += usize::from(commit(&fs, &node) == Err(FsError::NoSpace));
    assert!(refused > 0, "half of the writes failed");
    // What was refused is not held, and nothing else was lost.
    commit(&fs, &node).or_else(|_| commit(&fs, &node)).expect("safe");
    assert_eq!(fs.report().held, 0);
}

#[test]
fn no_more_is_held_than_the_budget() {
    let budget = 16 * BLOCK;
    let options = WriteBehindOptions { memory_budget: budget, ..options() };
    let fs = WriteBehind::around(Arc::new(MemoryFileSystem::new()), options);
    let node = create(&fs);
    for block in 0..256 {
        write(&fs, &node, block * BLOCK, &[2; BLOCK]).expect("taken");
        let held = fs.report().held;
        assert!(held <= budget + BLOCK, "{held} bytes");
    }
    assert!(content(&fs, &node) == [2; 256 * BLOCK]);
}

#[test]
fn what_was_never_committed_is_not_lost_when_it_goes() {
    let memory = Arc::new(MemoryFileSystem::new());
    let fs = WriteBehind::around(Arc::clone(&memory) as _, options());
    let node = create(&fs);
    (0..3).for_each(|part| write(&fs, &node, part * 10, &[part as u8; 10]).expect("taken"));
    drop(fs);
    assert_eq!(content(&*memory, &node).len(), 30);
}
