//! Calls: what keeps WRITE from being faster. Of the client's socket nothing is known but what arrives, and when.

use std::time::Duration;

use super::Verdict;
use super::history::{History, Seen};
use super::sending::{NOTHING, executes, queue_stands};
use super::server::{server, starves};
use crate::Interval;

/// So much of the time without reading.
const REFUSING: f64 = 0.05;
/// A call was received in part for so much of the time: the client had more to send than came. One with fewer calls in flight
/// than the path holds is between two calls for a part of each round trip.
const MID_CALL: f64 = 0.85;
/// Bytes of a call arrived for so much of the time: nobody waits for what we do with calls.
const ARRIVING: f64 = 0.8;
/// In the middle of a call nothing came for so much of the time: the sender sends what it has room for, and then waits for a
/// round trip. A full path lets bytes through all the time.
const SILENT: f64 = 0.15;
/// Silence is found by looking every 10 ms, so the round trip must be some of those.
pub const TELLING_ROUND_TRIP: Duration = Duration::from_millis(40);
/// Unread bytes beyond this part of the window: we read too slowly.
const UNREAD: u64 = 4;
/// Bytes per round trip without queues beyond this part of the window are as many as it lets through.
const WINDOW_FILLED: f64 = 0.7;
/// So many threads of ours, if no processor is free and most of them want one: then calls and round trips take as long as the
/// threads wait, and say nothing of the path.
const WAITING_THREADS: f64 = 2.0;
/// So many segments out of order are losses: once in a thousand.
const OUT_OF_ORDER: f64 = 0.001;
/// What a Linux sender has in flight whose send buffer grew to the default maximum of 4 MiB (`net.ipv4.tcp_wmem`): two thirds
/// of it, of which headers take a part. Where round trips are too short for silence to show it.
const DEFAULT_BUFFER_FLIGHT: std::ops::Range<f64> = 2.0e6..3.3e6;

/// The verdict on an interval.
pub fn judge(interval: &Interval<'_>, history: &History) -> Verdict {
    if interval.rate(|sample| sample.receiving.received) < NOTHING {
        return Verdict::Idle;
    }
    if reads_too_slowly(interval) {
        return server(interval, history);
    }
    if fills_window(interval) {
        return Verdict::OurWindow;
    }
    if starves(interval, WAITING_THREADS) {
        return Verdict::Processor;
    }
    let mid_call = interval.share(|sample| sample.gauges.mid_call);
    let silent = interval.share(|sample| sample.gauges.silent);
    if executes(interval) && mid_call - silent < ARRIVING {
        return server(interval, history);
    }
    if mid_call >= MID_CALL {
        return in_transport(interval, history, silent);
    }
    if history.client_waits() { Verdict::ClientSlots } else { Verdict::Idle }
}

/// What the history of calls learns from an interval.
pub fn seen(interval: &Interval<'_>) -> Seen {
    Seen {
        rate: interval.rate(|sample| sample.receiving.received),
        segments: interval.grown(|sample| sample.receiving.segments) as f64,
        losses: losses(interval),
        in_socket: interval.share(|sample| sample.gauges.mid_call),
    }
}

/// The client has more to send, and neither we nor our window hold it back.
fn in_transport(interval: &Interval<'_>, history: &History, silent: f64) -> Verdict {
    if queue_stands(interval) {
        return Verdict::PathFull;
    }
    if history.is_held_by_loss(interval, interval.per_round_trip(|sample| sample.receiving.segments)) {
        return Verdict::Loss;
    }
    if history.is_growing() {
        return Verdict::Ramping;
    }
    if comes_in_bursts(interval, silent) { Verdict::ClientSendBuffer } else { Verdict::PathFull }
}

fn comes_in_bursts(interval: &Interval<'_>, silent: f64) -> bool {
    if interval.after.base_rtt() >= TELLING_ROUND_TRIP {
        // Behind a hole nothing can be read either.
        return silent >= SILENT && losses(interval) == 0.0;
    }
    DEFAULT_BUFFER_FLIGHT.contains(&interval.per_round_trip(|sample| sample.receiving.received))
}

fn reads_too_slowly(interval: &Interval<'_>) -> bool {
    let window = interval.after.receiving.window.unwrap_or(interval.after.receiving.buffer / 2);
    let unread = interval.before.receiving.unread.min(interval.after.receiving.unread);
    // What waits in the socket for the rest of its call, while none is carried out, is not our slowness.
    ((executes(interval) || starves(interval, 1.0)) && unread > 0 && unread >= window / UNREAD)
        || interval.share(|sample| sample.gauges.refused_to_read) >= REFUSING
}

fn fills_window(interval: &Interval<'_>) -> bool {
    let Some(window) = interval.after.receiving.window else { return false };
    // What only waits in a queue comes no faster for being let through.
    let needed = interval.rate(|sample| sample.receiving.received) * interval.after.base_rtt().as_secs_f64();
    needed >= WINDOW_FILLED * window as f64
}

/// How often something was lost on the way to us. After each loss all that was in flight arrives out of order, until what is
/// missing comes.
fn losses(interval: &Interval<'_>) -> f64 {
    let Some(after) = interval.after.receiving.out_of_order else { return 0.0 };
    let out_of_order = after.saturating_sub(interval.before.receiving.out_of_order.unwrap_or(after)) as f64;
    let segments = interval.grown(|sample| sample.receiving.segments) as f64;
    if out_of_order < (OUT_OF_ORDER * segments).max(1.0) {
        return 0.0;
    }
    (out_of_order / interval.per_round_trip(|sample| sample.receiving.segments).max(1.0)).max(1.0)
}
