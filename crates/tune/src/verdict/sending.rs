//! Replies: what keeps READ from being faster.

use super::Verdict;
use super::history::History;
use crate::Interval;

/// A call is being carried out for so much of the time: the server is what the client waits for.
const MOSTLY: f64 = 0.5;
/// So little of the unsent mark is in the socket: the socket does not hold us up.
const NEARLY_EMPTY: u64 = 8;
/// The kernel counts how often it stalled, not how badly: a flow that is limited all the time shows only a part of it.
const STALLED: f64 = 0.05;
/// A flight of that part of a limit is at the limit.
const AT_LIMIT: f64 = 0.9;
/// A socket becomes writable when two thirds are in use: what fills more is at the limit.
const BUFFER_IN_USE: f64 = 0.6;
/// A stall for the buffer counts only if so much of it is in use: with an unsent mark it also tells of a slow writer.
const BUFFER_IN_USE_WHEN_STALLED: f64 = 0.3;
/// A round trip longer than the shortest one by this factor: a queue stands in the path.
pub const QUEUE_STANDS: f64 = 1.25;
/// Processors so busy have no time for us.
pub const ALL_BUSY: f64 = 0.9;
/// A direction that moves less is idle: bytes per second.
pub const NOTHING: f64 = 1_000.0;

/// A socket without a mark holds us up once so much is unsent.
const UNMARKED: u64 = 128 << 10;

/// The verdict on an interval. `unsent_mark`: how much the socket may hold unsent; 0: as much as its buffer.
pub fn judge(interval: &Interval<'_>, history: &History, unsent_mark: u64) -> Verdict {
    let sample = interval.after;
    let unsent_mark = if unsent_mark == 0 { UNMARKED } else { unsent_mark };
    let waits = sample.gauges.replies_waiting > 0 || sample.sending.unsent >= unsent_mark / NEARLY_EMPTY;
    if waits {
        return in_transport(interval, history);
    }
    if interval.share(|sample| sample.gauges.executing) > MOSTLY {
        return server(interval);
    }
    if interval.rate(|sample| sample.sending.sent) < NOTHING {
        return Verdict::Idle;
    }
    if history.has_all_calls_in_flight(interval) { Verdict::ClientSlots } else { Verdict::Idle }
}

/// Storage, unless no processor is free.
pub fn server(interval: &Interval<'_>) -> Verdict {
    if interval.after.gauges.processors_busy >= ALL_BUSY { Verdict::Processor } else { Verdict::Storage }
}

fn in_transport(interval: &Interval<'_>, history: &History) -> Verdict {
    let sending = &interval.after.sending;
    let at = |limit: u64| sending.flight as f64 >= AT_LIMIT * limit as f64;
    if sending.peer_window.is_some_and(at)
        || interval.share(|sample| sample.sending.limited_by_peer) >= STALLED
    {
        return Verdict::PeerWindow;
    }
    if fills_buffer(interval) {
        return Verdict::SendBuffer;
    }
    if queue_stands(interval) {
        return Verdict::PathFull;
    }
    if history.is_growing() {
        return Verdict::Ramping;
    }
    if at(sending.congestion_window) && history.feels_loss(interval) {
        return Verdict::Loss;
    }
    // Neither a window nor a buffer holds it back, and it does not grow: it is paced to what the path delivered.
    if interval.after.gauges.processors_busy >= ALL_BUSY { Verdict::Processor } else { Verdict::PathFull }
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
