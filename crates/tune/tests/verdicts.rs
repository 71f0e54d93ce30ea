//! Each cause, as two samples would show it, and the word for it.

use std::time::Duration;

use howdah_tune::{Gauges, Judge, Judgement, PathState, Receiving, Sample, Sending, Verdict};

const MARK: u64 = 1 << 20;
const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
/// Bytes a second of a sender that is slower after a loss, and then grows.
const SAWTOOTH: [u64; 3] = [1_000_000, 1_100_000, 1_200_000];

/// A connection over 100 ms, all quiet.
fn quiet() -> Sample {
    Sample {
        path: PathState { rtt: 100 * MILLISECOND, min_rtt: 100 * MILLISECOND, segment: 1448 },
        sending: Sending {
            buffer: 64 << 20,
            congestion_window: 32 << 20,
            peer_window: Some(64 << 20),
            ..Sending::default()
        },
        receiving: Receiving {
            buffer: 64 << 20,
            window: Some(32 << 20),
            window_limit: 65_535 << 10,
            out_of_order: Some(0),
            ..Receiving::default()
        },
        ..Sample::default()
    }
}

/// The verdicts after ten seconds in which each second changed the sample alike.
fn after(each_second: impl Fn(&mut Sample, u64)) -> Judgement {
    let mut judge = Judge::default();
    let mut sample = quiet();
    let mut last = None;
    for second in 0..10 {
        sample.at = Duration::from_secs(second);
        each_second(&mut sample, second);
        last = judge.on_sample(sample.clone(), MARK).or(last);
    }
    last.expect("ten samples make nine intervals")
}

#[test]
fn the_figure_behind_a_loss_is_that_of_the_time_that_is_judged() {
    let mut judge = Judge::default();
    let (mut sample, mut last) = (quiet(), None);
    // Long without a loss.
    sample.sending.sent = 1 << 40;
    for second in 0..30 {
        sample.at = Duration::from_secs(second);
        reading(&mut sample, SAWTOOTH[second as usize % 3]);
        sample.sending.retransmitted += if second % 3 == 0 { 1448 } else { 0 };
        last = judge.on_sample(sample.clone(), MARK).or(last);
    }
    let said = judge.explain(&last.expect("judged")).expect("explained");
    assert_eq!(said.verdict, Verdict::Loss);
    let segments = said.evidence.split_once("one in ").expect("how often").1;
    let segments: u64 = segments.trim_end_matches(" segments").parse().expect("a number");
    // 3.3 MB between two of them.
    assert!((2000..2600).contains(&segments), "{}", said.evidence);
}

/// A READ that sends so many bytes a second, and has more to send than the socket takes.
#[test]
fn what_is_sent_again_is_no_part_of_the_rate() {
    let judgement = after(|sample, _| {
        reading(sample, 10_000_000);
        sample.sending.sent += 4_000_000;
        sample.sending.retransmitted += 4_000_000;
    });
    assert_eq!(judgement.sent_per_second, 10e6);
}

fn reading(sample: &mut Sample, bytes: u64) {
    sample.sending.sent += bytes;
    sample.sending.flight = bytes / 10;
    sample.sending.queued = bytes / 10;
    sample.sending.unsent = MARK;
    sample.gauges.replies_waiting = 1 << 20;
    sample.gauges.held_up += SECOND;
}

#[test]
fn replies() {
    let check = |wanted: Verdict, why: &str, each_second: &dyn Fn(&mut Sample, u64)| {
        assert_eq!(after(each_second).sending, wanted, "{why}");
    };
    check(Verdict::Idle, "nothing happens", &|_, _| {});
    check(Verdict::PeerWindow, "as much in flight as the peer lets us", &|sample, _| {
        reading(sample, 100_000_000);
        sample.sending.peer_window = Some(10_100_000);
    });
    check(Verdict::PeerWindow, "the kernel says so", &|sample, _| {
        reading(sample, 100_000_000);
        sample.sending.limited_by_peer += 220 * MILLISECOND;
    });
    check(Verdict::PeerWindow, "the peer does not read, and acknowledges late", &|sample, second| {
        reading(sample, 20_000_000);
        sample.path.rtt = 140 * MILLISECOND;
        sample.sending.peer_window = Some(if second < 2 { 6_000_000 } else { 500_000 });
    });
    check(Verdict::SendBuffer, "two thirds of the buffer are in use", &|sample, _| {
        reading(sample, 27_400_000);
        (sample.sending.buffer, sample.sending.queued) = (4 << 20, 2_800_000);
    });
    check(Verdict::PathFull, "a queue stands in the path", &|sample, _| {
        reading(sample, 117_000_000);
        sample.path.rtt = 140 * MILLISECOND;
    });
    check(Verdict::PathFull, "what fills buffer and window waits in a modem", &|sample, _| {
        reading(sample, 12_500_000);
        sample.path = PathState { rtt: 224 * MILLISECOND, min_rtt: 30 * MILLISECOND, ..sample.path.clone() };
        (sample.sending.buffer, sample.sending.queued) = (4 << 20, 2_800_000);
        (sample.sending.flight, sample.sending.peer_window) = (2_800_000, Some(2_900_000));
        sample.sending.limited_by_peer += 220 * MILLISECOND;
    });
    check(Verdict::PathFull, "paced to what the path delivers", &|sample, _| reading(sample, 117_000_000));
    check(Verdict::Loss, "the congestion window is what losses leave of it", &|sample, second| {
        reading(sample, SAWTOOTH[second as usize % 3]);
        sample.sending.congestion_window = 100_000;
        sample.sending.retransmitted += if second % 3 == 0 { 1448 } else { 0 };
    });
    check(Verdict::Loss, "cubic, that loses a train of segments now and then", &|sample, second| {
        reading(sample, SAWTOOTH[second as usize % 3]);
        sample.sending.retransmitted += if second % 6 == 0 { 44 * 1448 } else { 0 };
    });
    check(
        Verdict::PathFull,
        "more in flight than a sender that heeds each of so many losses would have",
        &|sample, _| {
            reading(sample, 117_000_000);
            sample.sending.retransmitted += 100 * 1448;
        },
    );
    check(Verdict::PathFull, "what was sent again had arrived", &|sample, _| {
        reading(sample, 1_000_000);
        sample.sending.congestion_window = 100_000;
        sample.sending.retransmitted += 1448;
        sample.sending.spurious += 1448;
    });
    check(Verdict::Ramping, "faster with each look", &|sample, second| {
        reading(sample, 100_000 << second);
    });
    check(
        Verdict::Processor,
        "replies wait beside an empty socket, and no processor is free",
        &|sample, _| {
            reading(sample, 117_000_000);
            sample.sending.unsent = 0;
            sample.gauges.processors_busy = 0.97;
        },
    );
    check(
        Verdict::PathFull,
        "no processor is free, but the socket always has something to send",
        &|sample, _| {
            reading(sample, 117_000_000);
            sample.gauges.processors_busy = 0.97;
        },
    );
}

/// Calls that are answered at once, so many a second.
fn answering(gauges: &mut Gauges, calls: u64, executing: Duration) {
    gauges.calls += calls;
    gauges.executing += executing;
}

#[test]
fn who_moves_little_or_for_a_moment_is_not_told_to_ask_for_more() {
    let in_flight = |sample: &mut Sample, bytes: u64| {
        sample.sending.sent += bytes;
        sample.receiving.received += bytes;
        answering(&mut sample.gauges, 40, MILLISECOND);
    };
    let much = after(|sample, _| in_flight(sample, 1_000_000));
    assert_eq!(much.sending, Verdict::ClientSlots, "it moves much, all the time");
    // A listing: many small calls.
    let little = after(|sample, _| in_flight(sample, 20_000));
    assert_eq!((little.sending, little.receiving), (Verdict::Idle, Verdict::Idle));
}

#[test]
fn encryption_limits_where_it_takes_a_processor() {
    let check = |wanted: Verdict, in_cipher: u32, busy: f64, bytes: u64| {
        let judged = after(|sample, _| {
            if bytes > 0 {
                reading(sample, bytes);
            }
            sample.sending.unsent = 0;
            sample.gauges.in_cipher += in_cipher * MILLISECOND;
            sample.gauges.processors_busy = busy;
        });
        assert_eq!(judged.sending, wanted, "{in_cipher} ms of a second, {busy} busy");
    };
    check(Verdict::Encrypting, 620, 0.5, 1_000_000_000);
    check(Verdict::Encrypting, 150, 0.97, 300_000_000);
    check(Verdict::Processor, 20, 0.97, 300_000_000);
    check(Verdict::PathFull, 200, 0.5, 117_000_000);
    check(Verdict::Idle, 620, 0.5, 0);
}

#[test]
fn replies_that_do_not_fill_the_socket() {
    let check = |wanted: Verdict, why: &str, each_second: &dyn Fn(&mut Sample, u64)| {
        assert_eq!(after(each_second).sending, wanted, "{why}");
    };
    check(Verdict::Storage, "a call is being carried out all the time", &|sample, _| {
        sample.sending.sent += 1_000_000;
        answering(&mut sample.gauges, 100, 900 * MILLISECOND);
    });
    check(
        Verdict::Processor,
        "the call that is being carried out wants a processor, and none is free",
        &|sample, _| {
            sample.sending.sent += 1_000_000;
            answering(&mut sample.gauges, 100, 900 * MILLISECOND);
            (sample.gauges.processors_busy, sample.gauges.threads_wanting) = (0.97, 0.8);
        },
    );
    check(Verdict::Storage, "no processor is free, but calls do not want one", &|sample, _| {
        sample.sending.sent += 1_000_000;
        answering(&mut sample.gauges, 100, 900 * MILLISECOND);
        (sample.gauges.processors_busy, sample.gauges.threads_wanting) = (0.97, 0.1);
    });
    check(
        Verdict::Storage,
        "replies of a slow disk come in bursts, and the socket is busy for a third of the time",
        &|sample, _| {
            reading(sample, 30_000_000);
            sample.gauges.held_up -= 700 * MILLISECOND;
            answering(&mut sample.gauges, 30, SECOND);
        },
    );
    check(Verdict::Capped, "replies are held until their cap lets them go", &|sample, _| {
        sample.sending.sent += 20_000_000;
        answering(&mut sample.gauges, 20, SECOND);
        sample.gauges.capped += 950 * MILLISECOND;
    });
    check(Verdict::ClientSlots, "eight calls in flight on a path that holds twelve", &|sample, _| {
        reading(sample, 80_000_000);
        sample.gauges.held_up -= 350 * MILLISECOND;
        answering(&mut sample.gauges, 76, MILLISECOND);
    });
    check(Verdict::ClientSlots, "two calls in flight, and always two", &|sample, _| {
        sample.sending.sent += 20 << 20;
        answering(&mut sample.gauges, 20, 10 * MILLISECOND);
    });
    check(
        Verdict::Idle,
        "it thinks for 20 ms, and its acknowledgements wait for its next call",
        &|sample, _| {
            sample.sending.sent += 50 * 150;
            answering(&mut sample.gauges, 50, MILLISECOND);
            sample.path = PathState { rtt: 20 * MILLISECOND, min_rtt: MILLISECOND / 5, segment: 1448 };
        },
    );
    check(
        Verdict::Idle,
        "one small call in flight after the other, as of a listing: no read-ahead makes that faster",
        &|sample, _| {
            sample.sending.sent += 10 * 150;
            answering(&mut sample.gauges, 10, MILLISECOND);
        },
    );
    check(Verdict::Idle, "it once had many, and now asks once a second", &|sample, second| {
        sample.sending.sent += 1 << 20;
        answering(&mut sample.gauges, if second < 5 { 100 } else { 1 }, MILLISECOND);
    });
}

/// A WRITE that brings so many bytes a second.
fn writing(sample: &mut Sample, bytes: u64) {
    sample.receiving.received += bytes;
    sample.receiving.segments += bytes / 1448;
    sample.gauges.mid_call += 950 * MILLISECOND;
}

#[test]
fn calls() {
    let check = |wanted: Verdict, why: &str, each_second: &dyn Fn(&mut Sample, u64)| {
        let found = after(each_second);
        assert_eq!((found.receiving, found.verdict()), (wanted, wanted), "{why}");
    };
    check(
        Verdict::ClientSendBuffer,
        "in the middle of a call nothing comes for half of each round trip",
        &|sample, _| {
            writing(sample, 54_000_000);
            sample.gauges.silent += 450 * MILLISECOND;
        },
    );
    check(Verdict::PathFull, "it comes all the time", &|sample, _| writing(sample, 54_000_000));
    check(
        Verdict::ClientSendBuffer,
        "2.7 MB in flight, where looks are too rare to see silence",
        &|sample, _| {
            writing(sample, 135_000_000);
            sample.path = PathState { rtt: 20 * MILLISECOND, min_rtt: 20 * MILLISECOND, segment: 1448 };
        },
    );
    check(Verdict::OurWindow, "as much per round trip as we let through", &|sample, _| {
        writing(sample, 20_000_000);
        sample.receiving.window = Some(2_080_000);
    });
    check(Verdict::PathFull, "as much as we let through waits in a modem", &|sample, _| {
        writing(sample, 12_500_000);
        sample.path = PathState { rtt: 224 * MILLISECOND, min_rtt: 30 * MILLISECOND, ..sample.path.clone() };
        sample.receiving.window = Some(2_900_000);
    });
    check(Verdict::Storage, "we do not read what came", &|sample, _| {
        writing(sample, 100_000_000);
        sample.receiving.unread = 20 << 20;
        sample.gauges.executing += 800 * MILLISECOND;
    });
    check(Verdict::PathFull, "what is unread waits for the rest of its call", &|sample, _| {
        writing(sample, 117_000_000);
        sample.receiving.unread = 20 << 20;
    });
    check(Verdict::Storage, "no budget to read it", &|sample, _| {
        writing(sample, 100_000_000);
        sample.gauges.refused_to_read += 100 * MILLISECOND;
    });
    check(Verdict::Loss, "segments are missing", &|sample, second| {
        writing(sample, SAWTOOTH[second as usize % 3]);
        sample.receiving.out_of_order = sample.receiving.out_of_order.map(|count| count + 100);
    });
    check(Verdict::PathFull, "segments are missing, and as much comes as before", &|sample, second| {
        writing(sample, 117_000_000);
        let lost = if second == 7 { 600 } else { 0 };
        sample.receiving.out_of_order = sample.receiving.out_of_order.map(|count| count + lost);
    });
    check(
        Verdict::Processor,
        "calls come slowly, no processor is free, and threads want one",
        &|sample, _| {
            writing(sample, 50_000_000);
            sample.path.rtt = 130 * MILLISECOND;
            (sample.gauges.processors_busy, sample.gauges.threads_wanting) = (1.0, 3.0);
        },
    );
    check(Verdict::PathFull, "a queue stands in the path", &|sample, _| {
        writing(sample, 117_000_000);
        sample.path.rtt = 130 * MILLISECOND;
    });
    check(Verdict::Ramping, "faster with each look", &|sample, second| writing(sample, 100_000 << second));
    check(Verdict::ClientSlots, "it waits for its four calls", &|sample, _| {
        sample.receiving.received += 40 << 20;
        answering(&mut sample.gauges, 40, 100 * MILLISECOND);
    });
}
