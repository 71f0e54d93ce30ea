//! What a channel is for: calls of many threads, answered.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use howdah_client::channel::{Channel, ChannelOptions, GrowthReason, Lanes, Target, Transport};

use crate::scripted;
use crate::served::{create, getattr, null, open, read, serve, start_read, start_write, written};

#[test]
fn many_threads_call_at_once_over_any_number_of_lanes() {
    let served = serve();
    for lanes in [1, 4] {
        let channel =
            open(served.address, ChannelOptions { lanes: Lanes::Fixed(lanes), ..ChannelOptions::default() });
        thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let answer = null(&channel).expect("an answer to NULL");
                        assert!(answer.results.is_empty() && !answer.sent_more_than_once);
                        let reply = getattr(&channel, &served.root).expect("the root has attributes");
                        assert_eq!(reply.attributes.kind, howdah_wire::nfs3::FileType::Directory);
                    }
                });
            }
        });
    }
}

#[test]
fn data_that_is_written_is_read_into_the_callers_buffer() {
    const SIZE: usize = 300_001;
    let served = serve();
    let channel = Arc::new(open(served.address, ChannelOptions::default()));
    let node = create(&channel, &served.root, "file");
    let data: bytes::Bytes = (0..4 * SIZE).map(|at| (at * 31 % 251) as u8).collect();
    let pieces = [0, 1, 2, 3].map(|piece| piece * SIZE);
    let writes = pieces.map(|at| start_write(&channel, &node, at as u64, data.slice(at..at + SIZE)));
    assert_eq!(writes.map(written), [SIZE; 4]);
    let reads = pieces.map(|at| start_read(&channel, &node, at as u64, SIZE, b"before".to_vec()));
    for (at, pending) in pieces.into_iter().zip(reads) {
        let (buffer, count) = read(pending);
        assert_eq!((count, &buffer[..6]), (SIZE, &b"before"[..]));
        assert!(buffer[6..] == data[at..at + SIZE], "the bytes at {at}");
    }
    let (buffer, count) = read(start_read(&channel, &node, 4 * SIZE as u64, SIZE, Vec::new()));
    assert_eq!((count, buffer.len()), (0, 0));
}

#[test]
fn the_lane_that_answers_sooner_gets_more_of_the_calls() {
    const SLOW: Duration = Duration::from_millis(50);
    let slow = scripted::start(|_, mut guest| {
        loop {
            let came = guest.call()?;
            // The path to this address is long.
            thread::sleep(SLOW);
            guest.answer(&came, &[])?;
        }
    });
    let quick = scripted::start(|_, mut guest| guest.answer_all());
    let target = Target { addresses: vec![slow, quick], transport: Transport::Tcp };
    let options = ChannelOptions { lanes: Lanes::Fixed(2), ..ChannelOptions::default() };
    let channel = Channel::open(target, options).expect("a channel");
    while channel.report().lanes.iter().any(|lane| lane.local.is_none()) {
        thread::yield_now();
    }
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..100).for_each(|_| drop(null(&channel).expect("an answer"))));
        }
    });
    let lanes = channel.report().lanes;
    assert!(lanes[1].received > lanes[0].received, "{lanes:?}");
}

#[test]
fn a_channel_to_a_server_on_this_host_keeps_to_one_lane_and_says_why() {
    const SIZE: usize = 1 << 20;
    let served = serve();
    let channel = Arc::new(open(served.address, ChannelOptions::default()));
    let node = create(&channel, &served.root, "file");
    let data: bytes::Bytes = vec![7; SIZE].into();
    let began = std::time::Instant::now();
    let report = loop {
        let writes = [0, 1, 2, 3].map(|at| start_write(&channel, &node, (at * SIZE) as u64, data.clone()));
        assert_eq!(writes.map(written), [SIZE; 4]);
        let report = channel.report();
        let is_judged = !report.limits.is_empty() && began.elapsed() > Duration::from_secs(4);
        if is_judged || began.elapsed() > Duration::from_secs(60) {
            break report;
        }
    };
    assert_eq!((report.lanes.len(), report.why_so_many), (1, GrowthReason::SameHost), "{report:?}");
    let limits: Vec<String> = report.limits.iter().map(ToString::to_string).collect();
    assert!(limits[0].starts_with("writes limited by "), "{limits:?}");
    assert!(report.sizes.is_some_and(|sizes| sizes.contains("on this host")));
}
