//! Layers are transparent where they do nothing, and do what they say where they do something.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use howdah_vfs::conformance::operations::run_operations;
use howdah_vfs::conformance::{self, Abilities, Subject};
use howdah_vfs::layer::{
    Call, Delayed, Fault, FaultKind, FaultPlan, Faulty, Metered, ReadOnly, Stopwatch, Withdrawn,
};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_vfs::{
    Access, Caller, Change, Create, CreateFile, Data, FileSystem, FsError, Handle, Name, NewAttributes, Node,
    ReadFile, Result, Stability, WriteFile, Written,
};

const ROOT: &Caller = &Caller::ROOT;

fn memory() -> Arc<dyn FileSystem> {
    let options = MemoryOptions { root_mode: 0o777, ..MemoryOptions::default() };
    Arc::new(MemoryFileSystem::with_options(options))
}

/// Goes on by a microsecond each time it is looked at.
fn stopwatch() -> Stopwatch {
    let looked = AtomicU64::new(0);
    Arc::new(move || Duration::from_micros(looked.fetch_add(1, Ordering::Relaxed)))
}

fn name(bytes: &[u8]) -> Name<'_> {
    Name::parse(bytes).expect("a name")
}

fn create(fs: &dyn FileSystem, of: &[u8]) -> Result<Node> {
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    fs.create(ROOT, CreateFile::new(&fs.root(), name(of), &how), &mut Change::default())
}

fn write(fs: &dyn FileSystem, node: &Handle, data: &[u8]) -> Result<Written> {
    fs.write(ROOT, WriteFile::new(node, 0, Data::Bytes(data), Stability::FileSync), &mut Change::default())
}

#[test]
fn layers_that_do_nothing_are_transparent() {
    let make = || {
        let metered = Metered::around(memory(), stopwatch());
        let delayed = Delayed::around(Arc::new(metered), Duration::ZERO, Arc::new(|_| {}));
        let faulty = Faulty::around(Arc::new(delayed), FaultPlan::new(1, []));
        Subject::new(Arc::new(faulty), Abilities { many_entries: 1_000, ..Abilities::default() })
    };
    let report = conformance::run(&make);
    assert!(report.is_success(), "{report}");
    for seed in 0..20 {
        run_operations(seed, 300, &make).unwrap_or_else(|difference| panic!("{difference}"));
    }
}

#[test]
fn read_only_refuses_changes_and_tells_the_node() {
    let inner = memory();
    let file = create(&*inner, b"f").expect("a file");
    write(&*inner, &file.handle, b"data").expect("written");
    let fs = ReadOnly::around(Arc::clone(&inner));
    let root = fs.root();
    let mut change = Change::default();
    let before = FileSystem::attributes(&fs, ROOT, &root).expect("attributes");
    let removed = FileSystem::remove(&fs, ROOT, &root, name(b"f"), &mut change);
    assert_eq!((removed, change.after), (Err(FsError::ReadOnly), Some(before)));
    assert_eq!(write(&fs, &file.handle, b"lost"), Err(FsError::ReadOnly));
    assert_eq!(create(&fs, b"g").map(drop), Err(FsError::ReadOnly));
    let (granted, _) = FileSystem::access(&fs, ROOT, &root, Access::ALL).expect("access");
    assert_eq!(granted, Access::READ | Access::LOOKUP);
    let mut data = Vec::new();
    FileSystem::read(&fs, ROOT, ReadFile::new(&file.handle, 0, 10), &mut data).expect("read");
    assert_eq!(data, b"data");
}

#[test]
fn metered_counts_calls_refusals_bytes_and_time() {
    let fs = Metered::around(memory(), stopwatch());
    let file = create(&fs, b"f").expect("a file");
    assert_eq!(create(&fs, b"f").map(drop), Err(FsError::Exists));
    write(&fs, &file.handle, b"12345").expect("written");
    let snapshot = fs.snapshot();
    let (created, written) = (snapshot.of(Call::Create), snapshot.of(Call::Write));
    assert_eq!((created.count, &created.errors[..]), (2, &[(FsError::Exists, 1)][..]));
    assert_eq!((written.count, written.bytes, written.time), (1, 5, Duration::from_micros(1)));
    assert_eq!(snapshot.iter().map(|(_, figures)| figures.count).sum::<u64>(), 3);
}

#[test]
fn delayed_waits_before_each_call() {
    let waited = Arc::new(AtomicU64::new(0));
    let total = Arc::clone(&waited);
    let sleep = move |time: Duration| {
        total.fetch_add(time.as_millis() as u64, Ordering::Relaxed);
    };
    let fs = Delayed::around(memory(), Duration::from_millis(7), Arc::new(sleep));
    let file = create(&fs, b"f").expect("a file");
    write(&fs, &file.handle, b"x").expect("written");
    assert_eq!(waited.load(Ordering::Relaxed), 14);
}

#[test]
fn faulty_refuses_by_plan_and_repeats_by_seed() {
    let run = |seed| {
        let fault = Fault { call: Some(Call::Create), one_in: 3, kind: FaultKind::Refuse(FsError::NoSpace) };
        let fs = Faulty::around(memory(), FaultPlan::new(seed, [fault]));
        (0..60).map(|number| create(&fs, format!("{number}").as_bytes()).is_ok()).collect::<Vec<_>>()
    };
    let outcomes = run(5);
    assert_eq!(outcomes, run(5));
    assert_ne!(outcomes, run(6));
    let refused = outcomes.iter().filter(|&&went_well| !went_well).count();
    assert!((10..30).contains(&refused), "{refused} of 60 refused");
}

#[test]
fn faulty_shortens_writes_and_loses_answers() {
    let short = Fault { call: None, one_in: 1, kind: FaultKind::ShortWrite };
    let fs = Faulty::around(memory(), FaultPlan::new(1, [short]));
    let file = create(&fs, b"f").expect("a file");
    let count = write(&fs, &file.handle, &[1; 1000]).expect("written").count;
    assert!((1..1000).contains(&count), "{count} bytes written");
    let lost =
        Fault { call: Some(Call::Create), one_in: 1, kind: FaultKind::RefuseAfterwards(FsError::Delay) };
    let fs = Faulty::around(memory(), FaultPlan::new(1, [lost]));
    assert_eq!(create(&fs, b"f").map(drop), Err(FsError::Delay));
    assert!(FileSystem::lookup(&fs, ROOT, &fs.root(), name(b"f")).is_ok());
}

/// A suite that lets everything pass judges nothing: whatever call never works, some case must notice. Locks are left out: they are
/// between several clients, and the suite is one. So are ACLs: the file system in memory has none.
#[test]
fn the_suite_notices_when_a_call_does_not_work() {
    let is_left_out = |call: &Call| {
        matches!(call, Call::LockRange | Call::TestLock | Call::UnlockRange | Call::GetAcl | Call::SetAcl)
    };
    for call in Call::ALL.into_iter().filter(|call| !is_left_out(call)) {
        let make = || {
            let fault = Fault { call: Some(call), one_in: 1, kind: FaultKind::Refuse(FsError::Io) };
            let faulty = Faulty::around(memory(), FaultPlan::new(1, [fault]));
            Subject::new(Arc::new(faulty), Abilities { many_entries: 10, ..Abilities::default() })
        };
        assert!(!conformance::run(&make).is_success(), "no case notices that {call:?} fails");
    }
}

#[test]
fn lists_notice_a_rare_fault_and_shrink_to_it() {
    let make = || {
        let fault =
            Fault { call: Some(Call::Link), one_in: 1, kind: FaultKind::RefuseAfterwards(FsError::Io) };
        Subject::new(Arc::new(Faulty::around(memory(), FaultPlan::new(1, [fault]))), Abilities::default())
    };
    let difference = run_operations(0x5eed, 3_000, &make).expect_err("links fail");
    assert!(difference.operations.len() <= 4, "{difference}");
}

#[test]
fn what_is_withdrawn_has_no_node() {
    let withdrawn = Withdrawn::default();
    let foreign = memory().root();
    for node in [withdrawn.root(), foreign] {
        assert_eq!(withdrawn.attributes(ROOT, &node).map(drop), Err(FsError::Stale));
        assert_eq!(write(&withdrawn, &node, b"data").map(drop), Err(FsError::Stale));
    }
}
