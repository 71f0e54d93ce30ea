//! Every workload, tiny, on memory and on a local directory: what it says it did, what it leaves behind, and what it
//! notices.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Create, CreateFile, Data, Detail, FileSystem, ListDirectory, Name, NewAttributes,
    Stability, WriteFile,
};
use howdah_workload::{
    Commit, FileSize, Interrupted, Place, PlaceKind, Progress, Schedule, Stage, Workload, WorkloadPlan,
    WorkloadResult, carry_out,
};

mod restarting;

use restarting::Restarting;

const ALL: [Workload; 8] = [
    Workload::Write,
    Workload::Read,
    Workload::Files,
    Workload::Small,
    Workload::RandomRead,
    Workload::RandomWrite,
    Workload::Mixed,
    Workload::Metadata,
];

const ONCE: Schedule = Schedule { warm_up: 0, runs: 1 };

fn place(file_system: Arc<dyn FileSystem>, caller: Caller) -> Place {
    let (name, kind, directory) = ("here".to_owned(), PlaceKind::Memory, file_system.root());
    Place { name, kind, file_system, caller, directory, counters: None }
}

fn memory() -> Place {
    place(Arc::new(MemoryFileSystem::new()), Caller::ROOT)
}

/// Small, and with an end that is no whole record.
fn tiny(workload: Workload) -> WorkloadPlan {
    let whole = FileSize::exactly(64 << 10);
    let odd = FileSize { smallest_bytes: 10_000, largest_bytes: 70_001 };
    WorkloadPlan {
        files: 4,
        file_size: if workload.is_random() { whole } else { odd },
        record_bytes: 8192,
        transfer_bytes: if workload.is_random() { 8192 } else { 4096 },
        threads: 2,
        in_flight: Some(3),
        operations: 200,
        verify: true,
        ..WorkloadPlan::usual(workload, 0x5eed)
    }
}

fn run(place: &Place, plan: &WorkloadPlan, schedule: Schedule) -> anyhow::Result<WorkloadResult> {
    let stage = Stage::set_up(place.clone(), false)?;
    let result = carry_out(plan, schedule, &stage, &Progress::new(), &AtomicBool::new(false));
    stage.clear_up()?;
    result
}

fn names(place: &Place) -> Vec<String> {
    let mut names = Vec::new();
    let mut sink = |entry: howdah_vfs::Entry<'_>| {
        names.push(String::from_utf8_lossy(entry.name).into_owned());
        ControlFlow::Continue(())
    };
    let (caller, directory) = (&place.caller, &place.directory);
    place
        .file_system
        .read_directory(caller, ListDirectory::new(directory, 0, Detail::Names), &mut sink)
        .expect("listed");
    names.retain(|name| name != "." && name != "..");
    names
}

fn check_all(place: &Place) {
    for workload in ALL {
        let plan = tiny(workload);
        let result = run(place, &plan, Schedule { warm_up: 1, runs: 3 })
            .unwrap_or_else(|why| panic!("{}: {why:#}", workload.name()));
        let phases: Vec<&str> = result.phases.iter().map(|phase| phase.name).collect();
        let expected: &[&str] = match workload {
            Workload::Files | Workload::Small => &["write", "read"],
            Workload::Mixed => &["mixed", "reads", "writes"],
            Workload::Metadata => &["create", "stat", "list", "list-long", "rename", "remove"],
            other => &[other.name()],
        };
        assert_eq!(phases, expected, "{}", workload.name());
        for phase in &result.phases {
            assert_eq!(phase.runs.len(), 3);
            for run in &phase.runs {
                match workload {
                    Workload::Metadata if phase.name.starts_with("list") => assert_eq!(run.operations, 4 * 6),
                    Workload::Metadata => assert_eq!((run.operations, run.bytes), (4, 0)),
                    _ if workload.is_random() && !phase.is_part => assert_eq!(run.operations, 200),
                    _ if workload.is_random() => {}
                    _ => assert_eq!((run.bytes, run.files), (plan.total_bytes(), 4)),
                }
                // Files are compared in their phase "read"; names have no data.
                let compared =
                    workload != Workload::Metadata && !(phase.name == "write" && workload.is_per_file());
                assert!(phase.is_part || compared == (run.verified_bytes > 0), "{}", phase.name);
            }
            let counted: u64 = phase.runs.iter().map(|run| run.operations).sum();
            let latency = phase.latency.as_ref().expect("measured");
            assert!(phase.name.starts_with("list") || latency.count == counted);
        }
        assert_eq!(names(place), [""; 0], "{} cleared up", workload.name());
    }
}

#[test]
fn all_run_in_memory() {
    check_all(&memory());
}

#[test]
fn all_run_in_a_local_directory() {
    let directory = tempfile::tempdir().expect("a directory");
    let file_system = LocalFileSystem::open(directory.path(), Options::default()).expect("opened");
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    check_all(&place(Arc::new(file_system), Caller::new(user, group)));
}

#[test]
fn records_are_whole_pieces_in_flight() {
    // Records of two pieces: 4 files of which the last record may be short.
    let plan = tiny(Workload::Read);
    let result = run(&memory(), &plan, ONCE).expect("read");
    let records: u64 = (0..4).map(|file| plan.size_of(file).div_ceil(plan.record_bytes)).sum();
    assert_eq!(result.phases[0].runs[0].operations, records);
}

#[test]
fn a_time_bounds_every_workload() {
    for workload in ALL {
        let plan = WorkloadPlan { time: Some(Duration::from_millis(50)), files: 6, ..tiny(workload) };
        let result = run(&memory(), &plan, ONCE).unwrap_or_else(|why| panic!("{}: {why:#}", workload.name()));
        let least = if workload.is_per_file() { 0.0 } else { 0.05 };
        assert!(result.phases[0].runs[0].seconds >= least, "{}", workload.name());
    }
}

#[test]
fn what_is_read_next_is_what_was_written() {
    let stage = Stage::set_up(memory(), false).expect("set up");
    let go = |workload| {
        let plan = WorkloadPlan { workload, ..tiny(Workload::Write) };
        carry_out(&plan, ONCE, &stage, &Progress::new(), &AtomicBool::new(false)).expect("carried out")
    };
    for workload in [Workload::Write, Workload::Read, Workload::Write, Workload::Read] {
        go(workload);
    }
    stage.clear_up().expect("cleared up");
}

#[test]
fn nothing_is_lost_when_the_server_loses_what_was_not_committed() {
    for workload in ALL {
        for commit in [Commit::Inside, Commit::Outside, Commit::Each] {
            // It is killed every 7 writes; each time all that was not committed is gone.
            let file_system = Arc::new(Restarting::every(7));
            let plan = WorkloadPlan { commit, ..tiny(workload) };
            let result = run(&place(Arc::clone(&file_system) as _, Caller::ROOT), &plan, ONCE)
                .unwrap_or_else(|why| panic!("{} {commit:?}: {why:#}", workload.name()));
            let resent: u64 = result.phases.iter().map(|phase| phase.runs[0].resent_bytes).sum();
            let writes = matches!(
                workload,
                Workload::Write | Workload::RandomWrite | Workload::Files | Workload::Small | Workload::Mixed
            );
            if writes && commit != Commit::Each {
                assert!(
                    resent > 0,
                    "{} {commit:?}: it was killed {} times",
                    workload.name(),
                    file_system.kills()
                );
            }
        }
    }
}

#[test]
fn damage_is_found() {
    let place = memory();
    for (commit, wrong) in [(Commit::Never, "zeroes"), (Commit::Inside, "damaged")] {
        let stage = Stage::set_up(place.clone(), false).expect("set up");
        let go = |workload| {
            let plan = WorkloadPlan { workload, commit, ..tiny(Workload::Write) };
            carry_out(&plan, ONCE, &stage, &Progress::new(), &AtomicBool::new(false))
        };
        go(Workload::Write).expect("written");
        // Behind its back.
        let find = |directory: &_, name: &str| {
            let name = Name::parse(name.as_bytes()).expect("a name");
            place.file_system.lookup(&place.caller, directory, name).expect("there").node.handle
        };
        let file = find(&find(&place.directory, stage.name()), "data-00000002");
        let zeroes = [0; 512];
        let data = if wrong == "zeroes" { &zeroes[..] } else { b"gremlin" };
        let (data, mut change) = (Data::Bytes(data), Change::default());
        let stable = Stability::FileSync;
        place
            .file_system
            .write(&place.caller, WriteFile::new(&file, 1024, data, stable), &mut change)
            .expect("written");
        let why = format!("{:#}", go(Workload::Read).expect_err("it was damaged"));
        assert!(why.contains("data-00000002") && why.contains(wrong) && why.contains("sector 2"), "{why}");
        stage.clear_up().expect("cleared up");
    }
}

#[test]
fn what_others_put_there_is_left_alone() {
    let place = memory();
    let create = |directory: &_, name: &str| {
        let how = Create::Guarded(NewAttributes::with_mode(0o644));
        let name = Name::parse(name.as_bytes()).expect("a name");
        place
            .file_system
            .create(&place.caller, CreateFile::new(directory, name, &how), &mut Change::default())
            .expect("made");
    };
    let stage = Stage::set_up(place.clone(), false).expect("set up");
    let find = Name::parse(stage.name().as_bytes()).expect("a name");
    let own = place.file_system.lookup(&place.caller, &place.directory, find).expect("there").node.handle;
    create(&own, "letter");
    let plan = tiny(Workload::Write);
    carry_out(&plan, ONCE, &stage, &Progress::new(), &AtomicBool::new(false)).expect("written");
    let why = format!("{:#}", stage.clear_up().expect_err("a letter is in it"));
    assert!(why.contains("not empty"), "{why}");
    let why = format!("{:#}", Stage::set_up(place.clone(), false).err().expect("it is not empty"));
    assert!(why.contains("\"; name an empty directory") && why.contains("--non-empty"), "{why}");
    create(&place.directory, "another");
    let why = format!("{:#}", Stage::set_up(place.clone(), false).err().expect("it is not empty"));
    assert!(why.contains("\" and 1 more; name"), "{why}");
    Stage::set_up(place.clone(), true).expect("it is allowed").clear_up().expect("cleared up");
    assert_eq!(names(&place).len(), 2, "the directory with the letter, and the other file");
}

#[test]
fn stops_when_asked_and_clears_up() {
    for workload in ALL {
        let place = memory();
        let stage = Stage::set_up(place.clone(), false).expect("set up");
        let asked = AtomicBool::new(true);
        let why =
            carry_out(&tiny(workload), ONCE, &stage, &Progress::new(), &asked).expect_err("asked to stop");
        assert!(why.is::<Interrupted>(), "{}: {why:#}", workload.name());
        stage.clear_up().expect("cleared up");
        assert_eq!(names(&place), [""; 0]);
    }
}

#[test]
fn plans_that_make_no_sense_say_so() {
    let check = |plan: WorkloadPlan, wanted: &str| {
        let why = plan.check().expect_err(wanted).to_string();
        assert!(why.contains(wanted), "{why}");
    };
    let plan = || WorkloadPlan::usual(Workload::Write, 1);
    check(WorkloadPlan { record_bytes: 1000, transfer_bytes: 512, ..plan() }, "whole number of transfers");
    check(WorkloadPlan { threads: 2, ..plan() }, "as many files as threads");
    check(WorkloadPlan { in_flight: Some(2000), ..plan() }, "at most 1024");
    check(WorkloadPlan { file_size: FileSize { smallest_bytes: 2, largest_bytes: 1 }, ..plan() }, "smallest");
    let random = WorkloadPlan::usual(Workload::RandomRead, 1);
    check(
        WorkloadPlan { file_size: FileSize::exactly(4096), in_flight: Some(2), ..random },
        "one block for each",
    );
}

#[test]
fn progress_can_be_watched() {
    let (progress, seen) = (Arc::new(Progress::new()), AtomicU64::new(0));
    let stage = Stage::set_up(memory(), false).expect("set up");
    let plan = WorkloadPlan { time: Some(Duration::from_secs(60)), ..tiny(Workload::Write) };
    let (enough, over) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while seen.load(Ordering::Relaxed) == 0 && !over.load(Ordering::Relaxed) {
                if let Some(snapshot) = progress.look() {
                    assert!(snapshot.part.is_none_or(|part| (0.0..=1.0).contains(&part)));
                    seen.fetch_max(snapshot.done, Ordering::Relaxed);
                }
                std::thread::yield_now();
            }
            enough.store(true, Ordering::Relaxed);
        });
        let outcome = carry_out(&plan, ONCE, &stage, &progress, &enough);
        over.store(true, Ordering::Relaxed);
        assert!(outcome.is_err_and(|why| why.is::<Interrupted>()));
    });
    assert!(seen.into_inner() > 0 && progress.look().is_none());
}
