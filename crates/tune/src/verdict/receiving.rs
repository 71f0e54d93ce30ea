//! Calls: what keeps WRITE from being faster. Of the client's socket nothing is known but what arrives.

use super::Verdict;
use super::history::History;
use super::sending::{NOTHING, queue_stands, server};
use crate::Interval;

/// So much of the time without reading, or with a call carried out, or with one received in part.
const REFUSING: f64 = 0.05;
/// More than half of the time.
const MOSTLY: f64 = 0.5;
/// Unread bytes beyond this part of the window: we read too slowly.
const UNREAD: u64 = 4;
/// Bytes per round trip beyond this part of the window are as many as it lets through.
const WINDOW_FILLED: f64 = 0.7;
/// So many segments out of order are losses: once in a thousand.
const OUT_OF_ORDER: f64 = 0.001;
/// What a Linux sender has in flight whose send buffer grew to the default maximum of 4 MiB (`net.ipv4.tcp_wmem`): two
/// thirds of it, of which headers take a part.
const DEFAULT_BUFFER_FLIGHT: std::ops::Range<f64> = 2.0e6..3.3e6;

/// The verdict on an interval.
pub fn judge(interval: &Interval<'_>, history: &History) -> Verdict {
    if interval.rate(|sample| sample.receiving.received) < NOTHING {
        return Verdict::Idle;
    }
    if reads_too_slowly(interval) {
        return server(interval);
    }
    if fills_window(interval) {
        return Verdict::OurWindow;
    }
    if interval.share(|sample| sample.gauges.mid_call) > MOSTLY {
        return in_transport(interval, history);
    }
    if interval.share(|sample| sample.gauges.executing) > MOSTLY {
        return server(interval);
    }
    if history.has_all_calls_in_flight(interval) { Verdict::ClientSlots } else { Verdict::Idle }
}

/// The client has more to send, and neither we nor our window hold it back.
fn in_transport(interval: &Interval<'_>, history: &History) -> Verdict {
    if queue_stands(interval) {
        return Verdict::PathFull;
    }
    if history.is_growing() {
        return Verdict::Ramping;
    }
    if history.feels_loss(interval) {
        return Verdict::Loss;
    }
    let flight = interval.per_round_trip(|sample| sample.receiving.received);
    if DEFAULT_BUFFER_FLIGHT.contains(&flight) { Verdict::ClientSendBuffer } else { Verdict::PathFull }
}

fn reads_too_slowly(interval: &Interval<'_>) -> bool {
    let window = interval.after.receiving.window.unwrap_or(interval.after.receiving.buffer / 2);
    let unread = interval.before.receiving.unread.min(interval.after.receiving.unread);
    // What waits in the socket for the rest of its call, while none is carried out, is not our slowness.
    let executing = interval.share(|sample| sample.gauges.executing) > MOSTLY;
    (executing && unread > 0 && unread >= window / UNREAD)
        || interval.share(|sample| sample.gauges.refused_to_read) >= REFUSING
}

fn fills_window(interval: &Interval<'_>) -> bool {
    let Some(window) = interval.after.receiving.window else { return false };
    interval.per_round_trip(|sample| sample.receiving.received) >= WINDOW_FILLED * window as f64
}

/// Whether segments were lost on the way to us.
pub fn lost(interval: &Interval<'_>) -> bool {
    let Some(after) = interval.after.receiving.out_of_order else { return false };
    let out_of_order = after.saturating_sub(interval.before.receiving.out_of_order.unwrap_or(after));
    let segments = interval.grown(|sample| sample.receiving.segments);
    out_of_order as f64 >= (OUT_OF_ORDER * segments as f64).max(1.0)
}
