//! A server that goes away and comes back while many threads work: nothing is lost, whatever the lanes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use bytes::Bytes;
use howdah_client::channel::{ChannelOptions, Lanes};
use howdah_vfs::memory::MemoryFileSystem;

use crate::served::{create, open, read, serve_at, start_read, start_write, written};

const THREADS: usize = 5;
const RESTARTS: usize = 6;
/// Rounds of work of each thread between two restarts.
const ROUNDS: usize = 8;
const SIZE: usize = 200_000;

/// What stands in the file of a thread after a round.
fn content(thread: usize, round: usize) -> Bytes {
    (0..SIZE).map(|at| (at * 13 + thread * 101 + round * 7) as u8).collect()
}

#[test]
fn nothing_is_lost_when_the_server_restarts() {
    for lanes in [1, 3] {
        let file_system = Arc::new(MemoryFileSystem::new());
        let first = serve_at("127.0.0.1:0".parse().expect("an address"), Arc::clone(&file_system));
        let (address, root) = (first.address, first.root.clone());
        let mut served = Some(first);
        let channel =
            open(address, ChannelOptions { lanes: Lanes::Fixed(lanes), ..ChannelOptions::default() });
        let (over, rounds) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            let work = |thread: usize| {
                let node = create(&channel, &root, &format!("file-{thread}"));
                for round in 0.. {
                    let data = content(thread, round);
                    let (first, second) = (data.slice(..SIZE / 3), data.slice(SIZE / 3..));
                    let writes = [
                        start_write(&channel, &node, 0, first),
                        start_write(&channel, &node, SIZE as u64 / 3, second),
                    ];
                    assert_eq!(writes.map(written).iter().sum::<usize>(), SIZE);
                    let (buffer, count) = read(start_read(&channel, &node, 0, SIZE, Vec::new()));
                    assert_eq!(count, SIZE);
                    assert!(buffer == data, "thread {thread}, round {round}, {lanes} lanes");
                    rounds.fetch_add(1, Ordering::SeqCst);
                    if over.load(Ordering::SeqCst) {
                        return;
                    }
                }
            };
            for thread in 0..THREADS {
                scope.spawn(move || work(thread));
            }
            for restart in 1..=RESTARTS {
                while rounds.load(Ordering::SeqCst) < restart * ROUNDS * THREADS {
                    thread::yield_now();
                }
                drop(served.take());
                served = Some(serve_at(address, Arc::clone(&file_system)));
            }
            over.store(true, Ordering::SeqCst);
        });
        drop(served);
        let report = channel.report();
        assert!(report.lanes.iter().any(|lane| lane.connections > 1), "{report:?}");
        let errors: u64 = report.procedures.iter().map(|row| row.errors).sum();
        assert_eq!((errors, report.in_flight), (0, 0), "{report:?}");
    }
}
