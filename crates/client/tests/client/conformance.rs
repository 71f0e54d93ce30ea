//! The conformance suite and the operation lists through this client and a running server: over memory and over a local
//! directory, with one lane, with several, and in datagrams.

use std::sync::Arc;
use std::time::Instant;

use howdah_client::channel::Transport;
use howdah_layers::{
    AttributeCache, AttributeCacheOptions, ReadAhead, ReadAheadOptions, WriteBehind, WriteBehindOptions,
};
use howdah_vfs::conformance::operations::{Arena, run_operations};
use howdah_vfs::conformance::{self, Subject};

use crate::served::{Served, Way, serve_local, serve_memory};

/// Lists of operations, and how long each is.
const LISTS: u64 = 20;
const OPERATIONS: usize = 300;

const ONE_LANE: Way = Way { transport: Transport::Tcp, lanes: 1, version: "3" };
const FOUR_LANES: Way = Way { transport: Transport::Tcp, lanes: 4, version: "3" };
const DATAGRAMS: Way = Way { transport: Transport::Udp, lanes: 1, version: "3" };

fn conforms(served: &Served, way: Way) {
    let report = conformance::run(&|| served.subject(way));
    assert!(report.is_success(), "over {way:?}: {report}");
}

fn equals_the_model(served: &Served, way: Way) {
    for seed in 0..LISTS {
        run_operations(seed, OPERATIONS, &|| served.subject(way))
            .unwrap_or_else(|difference| panic!("over {way:?}: {difference}"));
    }
}

#[test]
fn memory_conforms_over_one_lane() {
    conforms(&serve_memory(), ONE_LANE);
}

#[test]
fn memory_conforms_over_four_lanes() {
    conforms(&serve_memory(), FOUR_LANES);
}

#[test]
fn memory_conforms_over_datagrams() {
    conforms(&serve_memory(), DATAGRAMS);
}

#[test]
fn a_local_directory_conforms_over_datagrams() {
    conforms(&serve_local(), DATAGRAMS);
}

#[test]
fn a_local_directory_conforms_over_one_lane() {
    conforms(&serve_local(), ONE_LANE);
}

#[test]
fn a_local_directory_conforms_over_four_lanes() {
    conforms(&serve_local(), FOUR_LANES);
}

#[test]
fn memory_equals_the_model() {
    let served = serve_memory();
    [ONE_LANE, FOUR_LANES, DATAGRAMS].into_iter().for_each(|way| equals_the_model(&served, way));
}

#[test]
fn a_local_directory_equals_the_model() {
    let served = serve_local();
    [ONE_LANE, FOUR_LANES, DATAGRAMS].into_iter().for_each(|way| equals_the_model(&served, way));
}

/// The client as programs use it: with all layers around it.
fn layered(served: &Served, way: Way) -> Subject {
    let subject = served.subject(way);
    let behind = Arc::new(WriteBehind::around(subject.fs, WriteBehindOptions::default()));
    let ahead = Arc::new(ReadAhead::around(behind, ReadAheadOptions::default()));
    let start = Instant::now();
    let stopwatch = Arc::new(move || start.elapsed());
    let cached = AttributeCache::around(ahead, AttributeCacheOptions::default(), stopwatch);
    Subject::new(Arc::new(cached), served.abilities.clone())
}

#[test]
fn the_client_under_all_layers_conforms() {
    let served = serve_local();
    let report = conformance::run(&|| layered(&served, FOUR_LANES));
    assert!(report.is_success(), "{report}");
    // Every list starts all layers anew, which takes longer than the list.
    for seed in 0..LISTS / 4 {
        run_operations(seed, OPERATIONS, &|| layered(&served, FOUR_LANES))
            .unwrap_or_else(|difference| panic!("{difference}"));
    }
}

/// Several clients work in one directory at once; what is left must make sense.
fn several_clients_at_once(served: &Served) {
    let first = served.subject(ONE_LANE);
    let arena = Arena::new(&first).expect("an arena");
    std::thread::scope(|scope| {
        for (seed, way) in (0..).zip([ONE_LANE, ONE_LANE, FOUR_LANES, DATAGRAMS]) {
            let arena = &arena;
            scope.spawn(move || {
                let subject = served.subject(way);
                arena.work(&subject, seed, 1_000).unwrap_or_else(|wrong| panic!("over {way:?}: {wrong}"));
            });
        }
    });
    arena.check(&first).unwrap_or_else(|wrong| panic!("{wrong}"));
}

#[test]
fn several_clients_at_once_leave_memory_in_order() {
    several_clients_at_once(&serve_memory());
}

#[test]
fn a_local_directory_is_left_in_order_by_several_clients_at_once() {
    several_clients_at_once(&serve_local());
}
