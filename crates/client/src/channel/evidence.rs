//! What limits, with the figures behind it, in a sentence.

use std::fmt;
use std::time::Duration;

use howdah_tune::Sample;
use howdah_units::{bytes, rate, time};

use super::LaneLimit;

/// What limits a lane, and how it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Evidence {
    pub(super) limit: LaneLimit,
    /// Whether more is written than read.
    pub(super) writes: bool,
    /// Bytes per second in that direction.
    pub(super) rate: f64,
    pub(super) facts: Facts,
}

/// Figures of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Facts {
    round_trip: Duration,
    send_buffer: u64,
    our_window: u64,
    their_window: u64,
    /// Bytes sent again with reason, and bytes sent.
    lost: u64,
    sent: u64,
}

impl Facts {
    /// Of a sample.
    pub(super) fn of(sample: &Sample) -> Self {
        let (sending, receiving) = (&sample.sending, &sample.receiving);
        Self {
            round_trip: sample.path.rtt,
            send_buffer: sending.buffer,
            our_window: receiving.window.unwrap_or(receiving.buffer / 2),
            their_window: sending.peer_window.unwrap_or(sending.flight),
            lost: sending.retransmitted.saturating_sub(sending.spurious),
            sent: sending.sent,
        }
    }

    /// The part of what we sent that was lost.
    pub(super) fn loss(&self) -> f64 {
        self.lost as f64 / self.sent.max(1) as f64
    }

    /// The round trip as it is, with what waits on the path.
    pub(super) fn round_trip(&self) -> Duration {
        self.round_trip
    }
}

/// What limited reads, or writes, for most of the time.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitReport {
    /// What it was.
    pub limit: LaneLimit,
    /// Whether of writes.
    pub writes: bool,
    /// The part of the time in which something moved that it was.
    pub share: f64,
    /// Bytes per second in that time, on all lanes.
    pub rate: f64,
    pub(super) facts: Facts,
}

impl LimitReport {
    /// What limits, with its figures, and what can be done: without how long, and how fast.
    pub fn sentence(&self) -> String {
        let advice = self.advice().map_or(String::new(), |advice| format!("; {advice}"));
        format!("{}{advice}", Cause(self))
    }

    /// What can be done about it, and where, if anything can.
    pub fn advice(&self) -> Option<&'static str> {
        Some(match self.limit {
            LaneLimit::Requests => "use more threads, more read-ahead or larger transfers",
            LaneLimit::OurSendBuffer => {
                "more connections help or, without CAP_NET_ADMIN, a larger max of net.ipv4.tcp_wmem here"
            }
            LaneLimit::TheirSendBuffer | LaneLimit::PathOrTheirBuffer => {
                "more connections help, or a larger max of net.ipv4.tcp_wmem there"
            }
            LaneLimit::OurWindow => {
                "more connections help or, without CAP_NET_ADMIN, a larger max of net.ipv4.tcp_rmem here"
            }
            LaneLimit::TheirWindow => "more connections help, or a larger max of net.ipv4.tcp_rmem there",
            LaneLimit::Loss => {
                "more connections help, or bbr where the sender has another congestion control"
            }
            LaneLimit::SessionSlots => {
                "a server that grants more slots helps, and so does NFSv3, which has none"
            }
            LaneLimit::Idle
            | LaneLimit::Slots
            | LaneLimit::Server
            | LaneLimit::Processor
            | LaneLimit::Path
            | LaneLimit::Start => {
                return None;
            }
        })
    }

    fn figures(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts { send_buffer, our_window, their_window, lost, sent, .. } = self.facts;
        match self.limit {
            LaneLimit::OurSendBuffer => write!(formatter, " of {}", bytes(send_buffer as f64)),
            LaneLimit::OurWindow => write!(formatter, ", {}", bytes(our_window as f64)),
            LaneLimit::TheirWindow => write!(formatter, ", {}", bytes(their_window as f64)),
            // Of what comes to us only the sender knows.
            LaneLimit::Loss if self.writes => {
                write!(formatter, ": {:.3} % of all sent again", 100.0 * lost as f64 / sent.max(1) as f64)
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for LimitReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({:.0} % of the time, {}", Cause(self), self.share * 100.0, rate(self.rate))?;
        write!(formatter, ", round trip {})", time(self.facts.round_trip))?;
        match self.advice() {
            Some(advice) => write!(formatter, "; {advice}"),
            None => Ok(()),
        }
    }
}

/// What limits, with its figures.
struct Cause<'r>(&'r LimitReport);

impl fmt::Display for Cause<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = if self.0.writes { "writes" } else { "reads" };
        write!(formatter, "{what} limited by {}", self.0.limit)?;
        self.0.figures(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_says_what_limits_with_figures_and_what_to_do() {
        let facts = Facts {
            round_trip: Duration::from_millis(100),
            send_buffer: 4 << 20,
            their_window: 22_280_000,
            lost: 2,
            sent: 10_000,
            ..Facts::default()
        };
        let report =
            LimitReport { limit: LaneLimit::OurSendBuffer, writes: true, share: 0.93, rate: 27.4e6, facts };
        assert_eq!(
            report.to_string(),
            "writes limited by our send buffer of 4.2 MB (93 % of the time, 27.4 MB/s, round trip 100 ms); \
             more connections help or, without CAP_NET_ADMIN, a larger max of net.ipv4.tcp_wmem here"
        );
        let of = |limit, writes| LimitReport { limit, writes, ..report.clone() }.to_string();
        let say = |limit| of(limit, false);
        assert!(
            say(LaneLimit::TheirWindow)
                .starts_with("reads limited by the server's receive window, 22.3 MB (")
        );
        assert!(say(LaneLimit::Loss).contains("losses on the path ("));
        assert!(of(LaneLimit::Loss, true).contains("losses on the path: 0.020 % of all sent again ("));
        assert!(
            say(LaneLimit::Path)
                .ends_with("the path, which is full (93 % of the time, 27.4 MB/s, round trip 100 ms)")
        );
    }
}
