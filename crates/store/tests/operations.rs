//! Random lists of calls do the same on a local directory as on the model in memory, and many threads at once, each
//! with callers of its own, leave it in order.

mod common;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{Place, is_root, myself, with_and_without_privilege};
use howdah_store::local::{LocalFileSystem, Options, SyncMode};
use howdah_vfs::conformance::operations::{Arena, run_operations};
use howdah_vfs::conformance::{Abilities, ActsAs, Subject};
use howdah_vfs::{Caller, Change, Create, CreateFile, FileSystem, Name, NewAttributes};

/// Lists in each place, and how long each is.
const LISTS: u64 = 40;
const OPERATIONS: usize = 300;

/// Threads at once, and how many calls each makes.
const THREADS: u64 = 4;
const CALLS: usize = 3_000;

fn open(place: &Place) -> Arc<LocalFileSystem> {
    let options = Options { sync: SyncMode::Async, ..place.options() };
    Arc::new(LocalFileSystem::open(&place.export(), options).expect("the export opens"))
}

fn subject(fs: Arc<LocalFileSystem>) -> Subject {
    let acts_as = if is_root() { ActsAs::Caller } else { ActsAs::Always(myself()) };
    Subject::new(fs, Abilities { acts_as, ..Abilities::default() })
}

fn fresh(under: &Path) -> Subject {
    let place = Place::under(under);
    subject(open(&place)).with_keep(place)
}

#[test]
fn a_local_directory_equals_the_model() {
    with_and_without_privilege("a_local_directory_equals_the_model", |under| {
        for seed in 0..LISTS {
            run_operations(seed, OPERATIONS, &|| fresh(under))
                .unwrap_or_else(|difference| panic!("under {}: {difference}", under.display()));
        }
    });
}

#[test]
fn threads_in_one_directory_leave_it_in_order() {
    with_and_without_privilege("threads_in_one_directory_leave_it_in_order", |under| {
        let place = Place::under(under);
        let fs = open(&place);
        let arena = Arena::new(&subject(Arc::clone(&fs))).expect("an arena");
        let fs = &fs;
        let work = |seed| {
            arena.work(&subject(Arc::clone(fs)), seed, CALLS).unwrap_or_else(|wrong| panic!("{wrong}"));
        };
        std::thread::scope(|scope| (0..THREADS).for_each(|seed| drop(scope.spawn(move || work(seed)))));
        arena.check(&subject(Arc::clone(fs))).unwrap_or_else(|wrong| panic!("{wrong}"));
    });
}

#[test]
fn threads_in_directories_of_their_own_do_not_meet() {
    with_and_without_privilege("threads_in_directories_of_their_own_do_not_meet", |under| {
        let place = Place::under(under);
        let fs = &open(&place);
        let work = |seed| {
            run_operations(seed, 1_000, &|| subject(Arc::clone(fs)))
                .unwrap_or_else(|wrong| panic!("{wrong}"));
        };
        std::thread::scope(|scope| (0..THREADS).for_each(|seed| drop(scope.spawn(move || work(seed)))));
    });
}

#[test]
fn a_name_that_others_take_away_meanwhile_is_made() {
    const ROUNDS: usize = 3_000;
    with_and_without_privilege("a_name_that_others_take_away_meanwhile_is_made", |under| {
        let place = Place::under(under);
        let (fs, me) = (&open(&place), &if is_root() { Caller::ROOT } else { myself() });
        let (name, is_over) = (Name::parse(b"f").expect("a name"), &AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let _ = fs.remove(me, &fs.root(), name, &mut Change::default());
                }
            });
            let how = Create::Unchecked(NewAttributes::with_size(0));
            let made = (0..ROUNDS)
                .map(|_| fs.create(me, CreateFile::new(&fs.root(), name, &how), &mut Change::default()));
            let refused: Vec<_> = made.filter_map(Result::err).collect();
            is_over.store(true, Ordering::Relaxed);
            assert_eq!(refused, [], "under {}", under.display());
        });
    });
}
