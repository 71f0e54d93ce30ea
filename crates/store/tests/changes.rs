//! What a change reports of a node before and after it is of that change alone, however many make changes at the same time.

mod common;

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use common::{Place, myself, places};
use howdah_store::local::{LocalFileSystem, Options, SyncMode};
use howdah_vfs::{
    Attributes, Before, Change, Create, CreateFile, Data, FileSystem, FsError, Handle, MakeDirectory, Name,
    NewAttributes, SetAttributes, SetTime, Stability, Timestamp, WriteFile,
};
use rustix::time::{ClockId, Timespec, clock_gettime};

const THREADS: u32 = 4;
const CALLS: u32 = 400;

fn open(place: &Place) -> LocalFileSystem {
    let options = Options { sync: SyncMode::Async, ..place.options() };
    LocalFileSystem::open(&place.export(), options).expect("the export opens")
}

/// Each `before` is the `after` of one change: two changes that report the same `before` would have both been taken, by the
/// clients that made them, for the only change since.
fn is_a_chain(changes: &[Change]) {
    let mut seen: HashMap<(i64, u32), u32> = HashMap::new();
    for change in changes {
        let (Some(before), Some(after)) = (change.before, change.after) else {
            panic!("both are given: {change:?}")
        };
        if before.changed == after.changed {
            // The clock of the file system did not tick.
            continue;
        }
        *seen.entry((before.changed.seconds, before.changed.nanoseconds)).or_default() += 1;
    }
    let twice = seen.values().filter(|count| **count > 1).count();
    assert_eq!(twice, 0, "of {} changes", changes.len());
}

#[test]
fn changes_of_one_directory_are_told_one_by_one() {
    for under in places() {
        let place = Place::under(&under);
        let fs = open(&place);
        let reported = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (fs, reported) = (&fs, &reported);
                scope.spawn(move || {
                    for call in 0..CALLS / 2 {
                        let name = format!("{thread}-{call}");
                        let name = Name::parse(name.as_bytes()).expect("a name");
                        let mut changes = [Change::default(), Change::default()];
                        let new = NewAttributes::default();
                        fs.make_directory(
                            &myself(),
                            MakeDirectory::new(&fs.root(), name, &new),
                            &mut changes[0],
                        )
                        .expect("made");
                        fs.remove_directory(&myself(), &fs.root(), name, &mut changes[1]).expect("removed");
                        reported.lock().expect("nobody panicked").extend(changes);
                    }
                });
            }
        });
        is_a_chain(&reported.into_inner().expect("nobody panicked"));
    }
}

fn seconds_and_nanoseconds(time: Timespec) -> (i64, i64) {
    (time.tv_sec, time.tv_nsec)
}

fn made(fs: &LocalFileSystem) -> Handle {
    let how = Create::Guarded(NewAttributes::with_mode(0o644));
    let name = Name::parse(b"file").expect("a name");
    fs.create(&myself(), CreateFile::new(&fs.root(), name, &how), &mut Change::default())
        .expect("made")
        .handle
}

fn attributes(fs: &LocalFileSystem, node: &Handle) -> Attributes {
    fs.attributes(&myself(), node).expect("it is there")
}

/// GETATTR alone cannot show it.
#[test]
fn when_a_file_was_made_is_known_from_the_look_at_its_name() {
    for under in places() {
        let place = Place::under(&under);
        let fs = open(&place);
        let node = made(&fs);
        let found = fs.parent(&myself(), &fs.root()).expect("the root").node;
        assert_eq!(attributes(&fs, &fs.root()).created, found.attributes.created);
        let created = attributes(&fs, &node).created;
        assert_eq!(created.is_some(), found.attributes.created.is_some(), "{under:?}");
        assert!(created.is_none_or(|created| created <= attributes(&fs, &node).changed));
    }
}

#[test]
fn of_two_changes_with_one_guard_one_is_refused() {
    for under in places() {
        let place = Place::under(&under);
        let fs = open(&place);
        let node = made(&fs);
        for round in 0..200 {
            let guard = attributes(&fs, &node).changed;
            // The clock of the file system goes on, or both would leave the same time.
            while attributes(&fs, &node).changed == guard {
                let now = NewAttributes { accessed: SetTime::Now, ..NewAttributes::default() };
                fs.set_attributes(&myself(), SetAttributes::new(&node, &now, None), &mut Change::default())
                    .expect("set");
            }
            let guard = attributes(&fs, &node).changed;
            while seconds_and_nanoseconds(clock_gettime(ClockId::RealtimeCoarse))
                <= (guard.seconds, guard.nanoseconds.into())
            {
                thread::yield_now();
            }
            let done = AtomicU32::new(0);
            thread::scope(|scope| {
                for thread in 0..2 {
                    let (fs, node, done) = (&fs, &node, &done);
                    scope.spawn(move || {
                        let time = Timestamp { seconds: i64::from(round * 2 + thread), nanoseconds: 0 };
                        let new = NewAttributes { modified: SetTime::To(time), ..NewAttributes::default() };
                        match fs.set_attributes(
                            &myself(),
                            SetAttributes::new(node, &new, Some(guard.into())),
                            &mut Change::default(),
                        ) {
                            Ok(()) => drop(done.fetch_add(1, Ordering::Relaxed)),
                            Err(error) => assert_eq!(error, FsError::NotSynchronised),
                        }
                    });
                }
            });
            assert_eq!(done.into_inner(), 1, "round {round} on {}", under.display());
        }
    }
}

#[test]
fn what_was_before_is_left_out_where_others_write_beside() {
    let place = Place::under(&std::env::temp_dir());
    let fs = open(&place);
    let node = made(&fs);
    let mut change = Change::default();
    fs.write(&myself(), WriteFile::new(&node, 0, Data::Bytes(b"data"), Stability::Unstable), &mut change)
        .expect("written");
    assert_eq!((change.before, change.after), (None, Some(attributes(&fs, &node))));
    let mut change = Change::default();
    let size = NewAttributes { size: Some(2), ..NewAttributes::default() };
    fs.set_attributes(&myself(), SetAttributes::new(&node, &size, None), &mut change).expect("set");
    assert_eq!((change.before, change.after), (None, Some(attributes(&fs, &node))));
    let root = attributes(&fs, &fs.root());
    let mode = NewAttributes::with_mode(0o755);
    fs.set_attributes(&myself(), SetAttributes::new(&fs.root(), &mode, None), &mut change).expect("set");
    assert_eq!(change.before, Some(Before::from(&root)), "nobody writes into a directory but by changes");
}
