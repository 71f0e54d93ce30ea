//! The conformance suite and the operation lists through the client of NFSv4.1 and 4.2 and a running server.

use howdah_client::channel::Transport;
use howdah_vfs::conformance;
use howdah_vfs::conformance::operations::{Arena, run_operations};

use crate::served::{Served, Way, serve_local, serve_memory};

/// Lists of operations, and how long each is.
const LISTS: u64 = 10;
const OPERATIONS: usize = 300;

const ONE_LANE: Way = Way { transport: Transport::Tcp, lanes: 1, version: "4.2" };
const FOUR_LANES: Way = Way { transport: Transport::Tcp, lanes: 4, version: "4.1" };

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
    [ONE_LANE, FOUR_LANES].into_iter().for_each(|way| equals_the_model(&served, way));
}

#[test]
fn a_local_directory_equals_the_model() {
    let served = serve_local();
    [ONE_LANE, FOUR_LANES].into_iter().for_each(|way| equals_the_model(&served, way));
}

/// Several clients of several versions work in one directory at once; what is left must make sense.
#[test]
fn clients_of_all_versions_at_once_leave_a_directory_in_order() {
    let served = serve_local();
    let first = served.subject(ONE_LANE);
    let arena = Arena::new(&first).expect("an arena");
    std::thread::scope(|scope| {
        let nfs3 = Way { version: "3", ..ONE_LANE };
        for (seed, way) in (0..).zip([ONE_LANE, ONE_LANE, FOUR_LANES, nfs3]) {
            let (arena, served) = (&arena, &served);
            scope.spawn(move || {
                let subject = served.subject(way);
                arena.work(&subject, seed, 500).unwrap_or_else(|wrong| panic!("over {way:?}: {wrong}"));
            });
        }
    });
    arena.check(&first).unwrap_or_else(|wrong| panic!("{wrong}"));
}
