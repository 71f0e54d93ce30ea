//! One point of a connection's curve, packed: there may be a hundred thousand.

use std::time::Duration;

use howdah_tune::{Sample, Verdict};

/// What a window has that the kernel did not report.
const UNKNOWN: u32 = u32::MAX;

/// What a connection did since the point before. 64 bytes; windows and buffers from 4 GiB on are kept as that.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    milliseconds: u64,
    sent_per_second: f32,
    received_per_second: f32,
    rtt: u32,
    min_rtt: u32,
    flight: u32,
    unsent: u32,
    congestion_window: u32,
    peer_window: u32,
    window: u32,
    send_buffer: u32,
    receive_buffer: u32,
    unread: u32,
    outstanding: u32,
    verdict: Option<Verdict>,
}

/// What is known of the time since the point before.
#[derive(Debug, Clone, Copy, Default)]
pub struct Past {
    /// Bytes per second that left us.
    pub sent_per_second: f64,
    /// Bytes per second that came.
    pub received_per_second: f64,
    /// The most that was in flight at any look.
    pub flight: u64,
    /// What limited it for the longest part.
    pub verdict: Option<Verdict>,
}

impl Point {
    /// What was seen last, and what happened until then.
    pub(super) fn new(sample: &Sample, past: &Past) -> Self {
        let (sending, receiving) = (&sample.sending, &sample.receiving);
        Self {
            milliseconds: u64::try_from(sample.at.as_millis()).unwrap_or(u64::MAX),
            sent_per_second: past.sent_per_second as f32,
            received_per_second: past.received_per_second as f32,
            rtt: microseconds(sample.path.rtt),
            min_rtt: microseconds(sample.path.min_rtt),
            flight: packed(past.flight),
            unsent: packed(sending.unsent),
            congestion_window: packed(sending.congestion_window),
            peer_window: sending.peer_window.map_or(UNKNOWN, packed),
            window: receiving.window.map_or(UNKNOWN, packed),
            send_buffer: packed(sending.buffer),
            receive_buffer: packed(receiving.buffer),
            unread: packed(receiving.unread),
            outstanding: sample.gauges.outstanding,
            verdict: past.verdict,
        }
    }

    /// When, on the server's clock.
    pub fn at(&self) -> Duration {
        Duration::from_millis(self.milliseconds)
    }

    /// Bytes per second that left us, and that came, since the point before.
    pub fn rates(&self) -> (f64, f64) {
        (self.sent_per_second.round().into(), self.received_per_second.round().into())
    }

    /// The smoothed round trip, and the shortest of late.
    pub fn round_trips(&self) -> (Duration, Duration) {
        (Duration::from_micros(self.rtt.into()), Duration::from_micros(self.min_rtt.into()))
    }

    /// The most that was sent and not acknowledged.
    pub fn flight(&self) -> u64 {
        self.flight.into()
    }

    /// What the socket had not sent.
    pub fn unsent(&self) -> u64 {
        self.unsent.into()
    }

    /// The congestion window.
    pub fn congestion_window(&self) -> u64 {
        self.congestion_window.into()
    }

    /// The window that the client offers, and the one that we offer.
    pub fn windows(&self) -> (Option<u64>, Option<u64>) {
        let known = |window: u32| (window != UNKNOWN).then_some(window.into());
        (known(self.peer_window), known(self.window))
    }

    /// The send buffer, and the receive buffer.
    pub fn buffers(&self) -> (u64, u64) {
        (self.send_buffer.into(), self.receive_buffer.into())
    }

    /// What was received and not read.
    pub fn unread(&self) -> u64 {
        self.unread.into()
    }

    /// Calls received and not answered.
    pub fn outstanding(&self) -> u32 {
        self.outstanding
    }

    /// What limited it for the longest part; none if it was not judged.
    pub fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }
}

/// One less than what stands for not knowing.
fn packed(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(UNKNOWN).min(UNKNOWN - 1)
}

fn microseconds(time: Duration) -> u32 {
    u32::try_from(time.as_micros()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_small_and_tells_what_was_seen() {
        assert_eq!(size_of::<Point>(), 64);
        let mut sample = Sample { at: Duration::from_millis(1500), ..Sample::default() };
        sample.sending.peer_window = Some(1 << 40);
        sample.path.rtt = Duration::from_micros(90);
        let past = Past { sent_per_second: 1e9, flight: 7, ..Past::default() };
        let point = Point::new(&sample, &past);
        assert_eq!(point.at(), sample.at);
        assert_eq!(point.rates(), (1e9, 0.0));
        assert_eq!(point.windows(), (Some(u64::from(u32::MAX) - 1), None));
        assert_eq!((point.round_trips().0, point.flight()), (sample.path.rtt, 7));
    }
}
