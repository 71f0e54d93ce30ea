//! Replies: what keeps READ from being faster.

use super::Verdict;
use super::history::{History, Seen};
use super::server::{ALL_BUSY, MOSTLY, server};
use crate::Interval;

/// Replies waited for the socket for so much of the time: it is what holds us up. A client with less in flight than the path
/// holds leaves it idle for a part of each round trip.
const HELD_UP: f64 = 0.85;
/// If a queue stands in the path, so much is enough: the path is full, and the socket takes more in bursts.
const HELD_UP_BY_QUEUE: f64 = 0.5;
/// So little of the unsent mark is in the socket: the socket does not hold us up.
const NEARLY_EMPTY: u64 = 8;
/// A socket without a mark holds us up once so much is unsent.
const UNMARKED: u64 = 128 << 10;
/// The kernel counts how often it stalled, not how badly: a flow that is limited all the time shows only a part of it.
const STALLED: f64 = 0.05;
/// A flight of that part of a limit is at the limit.
const AT_LIMIT: f64 = 0.9;
/// A socket becomes writable when two thirds are in use: what fills more is at the limit.
const BUFFER_IN_USE: f64 = 0.6;
/// A stall for the buffer counts only if so much of it is in use: with an unsent mark it also shows a slow writer.
const BUFFER_IN_USE_WHEN_STALLED: f64 = 0.3;
/// A round trip longer than the shortest one by this factor: a queue stands in the path.
const QUEUE_STANDS: f64 = 1.25;
/// A direction that moves less is idle: bytes per second.
pub const NOTHING: f64 = 1_000.0;

/// The verdict on an interval. `unsent_mark`: how much the socket may hold unsent; 0: as much as its buffer.
pub fn judge(interval: &Interval<'_>, history: &History, unsent_mark: u64) -> Verdict {
    let enough = if unsent_mark == 0 { UNMARKED } else { unsent_mark };
    let unsent = interval.before.sending.unsent.min(interval.after.sending.unsent);
    let is_fed = unsent >= enough / NEARLY_EMPTY;
    let held_up = held_up(interval);
    if held_up >= HELD_UP || (unsent_mark == 0 && holds_replies(interval)) {
        return in_transport(interval, history, is_fed);
    }
    if held_up >= HELD_UP_BY_QUEUE && queue_stands(interval) {
        return Verdict::PathFull;
    }
    if executes(interval) {
        return server(interval, history);
    }
    if interval.rate(|sample| sample.sending.sent) < NOTHING {
        return Verdict::Idle;
    }
    if history.client_waits() { Verdict::ClientSlots } else { Verdict::Idle }
}

/// Whether a call was being carried out for most of the time.
pub fn executes(interval: &Interval<'_>) -> bool {
    interval.share(|sample| sample.gauges.executing) > MOSTLY
}

/// What the history of replies learns from an interval.
pub fn seen(interval: &Interval<'_>) -> Seen {
    let segment = interval.after.path.segment.max(1) as f64;
    // What is lost within a round trip is one loss to who heeds it.
    let losses_most = interval.round_trips().max(1.0);
    Seen {
        rate: interval.rate(|sample| sample.sending.sent_once()),
        segments: interval.grown(|sample| sample.sending.sent) as f64 / segment,
        losses: (interval.lost() as f64 / segment).min(losses_most),
        in_socket: held_up(interval),
    }
}

/// For how much of the time replies waited for the socket.
fn held_up(interval: &Interval<'_>) -> f64 {
    interval.share(|sample| sample.gauges.held_up)
}

/// Whether a socket without a mark has taken replies that it cannot send yet: they wait there, and not outside of it.
fn holds_replies(interval: &Interval<'_>) -> bool {
    interval.before.sending.unsent.min(interval.after.sending.unsent) >= UNMARKED
}

fn in_transport(interval: &Interval<'_>, history: &History, is_fed: bool) -> Verdict {
    let queue_stands = queue_stands(interval);
    // What a window or a buffer lets through may be no more than what waits in a queue: less of it is as fast.
    // Who takes nothing acknowledges late, which looks like a queue.
    let takes_less = history.peer_takes_less(interval.after);
    if fills_peer_window(interval) && (!queue_stands || takes_less) {
        return Verdict::PeerWindow;
    }
    if fills_buffer(interval) && !queue_stands {
        return Verdict::SendBuffer;
    }
    if !is_fed && interval.after.gauges.processors_busy >= ALL_BUSY {
        // Replies wait, and the socket is empty: nobody has the time to bring them there.
        return Verdict::Processor;
    }
    if queue_stands {
        return Verdict::PathFull;
    }
    let in_flight = interval.per_round_trip(|sample| sample.sending.sent);
    if history.is_held_by_loss(interval, in_flight / interval.after.path.segment.max(1) as f64) {
        return Verdict::Loss;
    }
    // Neither a window nor a buffer holds it back: if it does not grow, it is paced to what the path delivered.
    if history.is_growing() { Verdict::Ramping } else { Verdict::PathFull }
}

fn fills_peer_window(interval: &Interval<'_>) -> bool {
    let sending = &interval.after.sending;
    let at = |window: u64| sending.flight as f64 >= AT_LIMIT * window as f64;
    sending.peer_window.is_some_and(at) || interval.share(|sample| sample.sending.limited_by_peer) >= STALLED
}

fn fills_buffer(interval: &Interval<'_>) -> bool {
    let sending = &interval.after.sending;
    let in_use = sending.queued as f64 / sending.buffer.max(1) as f64;
    let stalled = interval.share(|sample| sample.sending.limited_by_buffer) >= STALLED;
    in_use >= BUFFER_IN_USE || (stalled && in_use >= BUFFER_IN_USE_WHEN_STALLED)
}

/// Whether packets wait on the path: then it carries what it can.
pub fn queue_stands(interval: &Interval<'_>) -> bool {
    let path = &interval.after.path;
    path.rtt.as_secs_f64() > QUEUE_STANDS * interval.after.base_rtt().as_secs_f64()
}
