//! A verdict as a sentence: what limits, the figures behind it, and what can be done about it, on which side.

use std::fmt;
use std::time::Duration;

use howdah_units::{bytes, rate, time};

use super::receiving::TELLING_ROUND_TRIP;
use super::server::ALL_BUSY;
use super::{Direction, Judgement, Verdict};
use crate::floor::{flight_of, send_buffer_for};
use crate::{Gauges, Sample};

/// A verdict with its evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The word.
    pub verdict: Verdict,
    /// Of what.
    pub direction: Direction,
    /// What limits, with the figures behind it.
    pub evidence: String,
    /// What can be done, and where; none if there is nothing to do.
    pub advice: Option<String>,
}

impl Explanation {
    /// Of the direction that moves more.
    pub(super) fn of(judgement: &Judgement, sample: &Sample, found: Found) -> Self {
        let direction = judgement.direction();
        let rate = match direction {
            Direction::Reads => judgement.sent_per_second,
            Direction::Writes => judgement.received_per_second,
        };
        let facts = Facts { sample, rate, direction, found };
        let verdict = judgement.verdict();
        Self { verdict, direction, evidence: facts.evidence(verdict), advice: facts.advice(verdict) }
    }
}

/// What a judge knows that the last sample does not show.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Found {
    /// In so many segments there was a loss of late, if there was any.
    pub loss_in: Option<f64>,
    /// The peer offers less than half of what it offered before.
    pub peer_takes_less: bool,
    /// In what part of the time it was encrypted and decrypted.
    pub in_cipher: f64,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.verdict == Verdict::Idle {
            return f.write_str("idle: the client asks for no more");
        }
        let what = match self.direction {
            Direction::Reads => "reads",
            Direction::Writes => "writes",
        };
        let verb = if self.verdict == Verdict::Capped { "capped" } else { "limited" };
        write!(f, "{what} {verb} by {}", self.evidence)?;
        match &self.advice {
            Some(advice) => write!(f, "; {advice}"),
            None => Ok(()),
        }
    }
}

/// What a sentence is made of.
struct Facts<'a> {
    sample: &'a Sample,
    /// Bytes per second of the direction.
    rate: f64,
    direction: Direction,
    found: Found,
}

impl Facts<'_> {
    fn evidence(&self, verdict: Verdict) -> String {
        let (sending, receiving) = (&self.sample.sending, &self.sample.receiving);
        let (rtt, per) = (self.round_trip(), self.per_round_trip());
        let rate = rate(self.rate);
        match verdict {
            Verdict::Idle => "nothing".to_owned(),
            Verdict::ClientSlots => {
                format!("too few calls in flight from the client: {per} per round trip of {rtt}")
            }
            Verdict::ClientSendBuffer if self.may_be_full() => format!(
                "the client's send buffer, or a full path: {per} in flight per round trip of {rtt}, as from a buffer of \
                 the usual size"
            ),
            Verdict::ClientSendBuffer => {
                format!("the client's send buffer: {per} in flight per round trip of {rtt}")
            }
            Verdict::Storage => match self.sample.gauges.delay {
                Duration::ZERO => format!("the storage: {rate}, calls wait for it"),
                delay => {
                    format!(
                        "the storage, which the server delays by {} a call (--delay): {rate}",
                        time(delay)
                    )
                }
            },
            Verdict::Processor => match self.others_busy() {
                Some(own) => format!(
                    "other programs on this host: its CPUs are {:.0} % busy, howdah uses {own:.0} %, {rate}",
                    self.busy_percent()
                ),
                None => format!("the CPUs of this host: {:.0} % busy, {rate}", self.busy_percent()),
            },
            Verdict::Encrypting => format!(
                "the CPU, encrypting: {:.0} % of one CPU encrypts, {:.0} % of all are busy, {rate}",
                self.found.in_cipher * 100.0,
                self.busy_percent()
            ),
            Verdict::Capped => format!("this server's [limit] rule: {rate}"),
            Verdict::SendBuffer => format!(
                "our send buffer of {}: at most {} in flight per round trip of {rtt}",
                bytes(sending.buffer as f64),
                bytes(flight_of(sending.buffer) as f64)
            ),
            Verdict::PeerWindow if self.peer_is_slow() => {
                format!("the client, which reads no faster than {rate}: its receive window is full")
            }
            Verdict::PeerWindow => format!(
                "the client's receive window: {} per round trip of {rtt}",
                bytes(sending.peer_window.unwrap_or(sending.flight) as f64)
            ),
            Verdict::OurWindow => format!(
                "our receive window: {} per round trip of {rtt}",
                bytes(receiving.window.unwrap_or(receiving.buffer / 2) as f64)
            ),
            Verdict::Loss => {
                let often = self
                    .found
                    .loss_in
                    .map_or_else(String::new, |segments| format!(", one in {segments:.0} segments"));
                format!("losses on the path: {rate} at a round trip of {rtt}{often}")
            }
            Verdict::PathFull => format!("the path, which is full: {rate} at a round trip of {rtt}"),
            Verdict::Ramping => format!("connection start-up: {rate} and growing"),
        }
    }

    /// What keeps a client from more calls at once: of a Linux one that reads it is the read-ahead, of 128 KiB as it comes.
    fn advice_for_more_calls(&self, flight: u64) -> String {
        // A client that paces itself looks the same from here.
        let unless = "unless the client limits its rate itself (--rate, --bwlimit):";
        if self.sample.base_rtt() < FAR {
            return format!("{unless} more threads on the client, or larger transfers");
        }
        let relay = "or put a howdah relay near the client";
        match self.direction {
            Direction::Reads => {
                let ahead =
                    flight.saturating_mul(EIGHT).next_power_of_two().clamp(READ_AHEAD_MIN, READ_AHEAD_MAX);
                format!(
                    "{unless} raise the read-ahead of the mount on the client (Linux: echo {} > /sys/class/bdi/$(mountpoint -d \
                     DIRECTORY)/read_ahead_kb), read with more threads, {relay}",
                    ahead >> 10
                )
            }
            Direction::Writes => format!(
                "{unless} fewer syncs and larger writes on the client, more threads, more slots (Linux: \
                 sunrpc.tcp_max_slot_table_entries with NFSv3, nfs.max_session_slots with NFSv4), {relay}"
            ),
        }
    }

    fn advice(&self, verdict: Verdict) -> Option<String> {
        let flight = (self.rate * self.sample.path.rtt.as_secs_f64()) as u64;
        Some(match verdict {
            Verdict::ClientSlots => self.advice_for_more_calls(flight),
            Verdict::ClientSendBuffer => {
                // Eight times as much: what eight connections have, too.
                let wanted = send_buffer_for(flight.saturating_mul(EIGHT));
                let tells = if self.may_be_full() { ", which tells them apart" } else { "" };
                format!(
                    "mount with nconnect={EIGHT}{tells}, or raise the max of net.ipv4.tcp_wmem there to {wanted}"
                )
            }
            Verdict::SendBuffer => {
                "let the server size it (tcp_sndbuf = \"auto\", CAP_NET_ADMIN), raise memory_budget, or mount with nconnect=8"
                    .to_owned()
            }
            Verdict::PeerWindow if self.peer_is_slow() => {
                "check the program and the CPU there: a larger window would fill, too".to_owned()
            }
            // Up to what the scale can express that was agreed on when it was mounted.
            Verdict::PeerWindow => format!(
                "raise the max of net.ipv4.tcp_rmem on the client to {} and mount again, or mount with \
                 nconnect={EIGHT}",
                flight.saturating_mul(2 * EIGHT)
            ),
            Verdict::OurWindow => {
                "let the server size it (tcp_rcvbuf = \"auto\", CAP_NET_ADMIN), raise memory_budget, or mount with nconnect=8"
                    .to_owned()
            }
            Verdict::Encrypting if self.sample.gauges.processors_busy < ALL_BUSY => format!(
                "mount with nconnect={EIGHT}: a connection is encrypted by one CPU at a time"
            ),
            Verdict::Loss => "bbr on the sender, or several connections (nconnect)".to_owned(),
            Verdict::Processor if self.others_busy().is_some() => {
                "move them elsewhere, or raise CPUWeight= in the unit of howdah".to_owned()
            }
            Verdict::Storage if !self.sample.gauges.delay.is_zero() => {
                "restart the server without --delay".to_owned()
            }
            Verdict::Idle
            | Verdict::Storage
            | Verdict::Processor
            | Verdict::Encrypting
            | Verdict::Capped
            | Verdict::PathFull
            | Verdict::Ramping => return None,
        })
    }

    /// Whether the round trip is too short to distinguish a client's send buffer from a full path without a queue.
    fn may_be_full(&self) -> bool {
        self.sample.base_rtt() < TELLING_ROUND_TRIP
    }

    /// Whether the client does not take what its window has room for, be the path as it may.
    fn peer_is_slow(&self) -> bool {
        let needed = self.rate * self.sample.base_rtt().as_secs_f64();
        let window = self.sample.sending.peer_window.unwrap_or(0);
        self.found.peer_takes_less || window as f64 > WINDOWS_NEEDED * needed
    }

    fn busy_percent(&self) -> f64 {
        self.sample.gauges.processors_busy * 100.0
    }

    /// What part of the CPUs we use, in percent, if others use most of what is in use.
    fn others_busy(&self) -> Option<f64> {
        let Gauges { processors_busy: busy, processors_own: own, .. } = &self.sample.gauges;
        own.filter(|own| *own < busy * MOST).map(|own| own * 100.0)
    }

    fn round_trip(&self) -> String {
        time(self.sample.path.rtt)
    }

    fn per_round_trip(&self) -> String {
        bytes(self.rate * self.sample.path.rtt.as_secs_f64())
    }
}

/// A window of more than so many times what the path holds at the rate that is seen is not what limits: its sender is slow to
/// fill it.
const WINDOWS_NEEDED: f64 = 2.0;
/// Others use most of the CPUs if our part of what is in use is less than this.
const MOST: f64 = 0.5;
/// From this round trip on it is read-ahead and slots that fill a path, not threads.
const FAR: Duration = Duration::from_millis(2);
/// What read-ahead is advised at least and at most, in bytes.
const READ_AHEAD_MIN: u64 = 4 << 20;
const READ_AHEAD_MAX: u64 = 128 << 20;
/// How many connections one mount may well have.
const EIGHT: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PathState, Sending};

    fn explain(verdict: Verdict, sent: f64, received: f64) -> String {
        explain_at(100, verdict, sent, received)
    }

    /// The same on a path of so many milliseconds.
    fn explain_at(rtt: u64, verdict: Verdict, sent: f64, received: f64) -> String {
        let judgement = Judgement {
            sending: verdict,
            receiving: verdict,
            sent_per_second: sent,
            received_per_second: received,
        };
        let sample = Sample {
            path: PathState { rtt: Duration::from_millis(rtt), ..PathState::default() },
            sending: Sending { buffer: 4 << 20, peer_window: Some(6_000_000), ..Sending::default() },
            ..Sample::default()
        };
        let found = Found { loss_in: Some(1000.4), in_cipher: 0.624, ..Found::default() };
        Explanation::of(&judgement, &sample, found).to_string()
    }

    #[test]
    fn a_sentence_says_what_limits_with_figures_and_what_to_do() {
        assert_eq!(
            explain(Verdict::ClientSendBuffer, 0.0, 27e6),
            "writes limited by the client's send buffer: 2.7 MB in flight per round trip of 100 ms; \
             mount with nconnect=8, or raise the max of net.ipv4.tcp_wmem there to 51840000"
        );
        assert_eq!(
            explain_at(20, Verdict::ClientSendBuffer, 0.0, 117e6),
            "writes limited by the client's send buffer, or a full path: 2.3 MB in flight per round trip of 20 ms, as \
             from a buffer of the usual size; mount with nconnect=8, which tells them apart, or raise the max of net.ipv4.tcp_wmem there to 44928000"
        );
        assert_eq!(
            explain(Verdict::PathFull, 117e6, 1e3),
            "reads limited by the path, which is full: 117.0 MB/s at a round trip of 100 ms"
        );
        let both = [explain(Verdict::SendBuffer, 28e6, 0.0), explain(Verdict::OurWindow, 0.0, 28e6)];
        assert!(both.iter().all(|said| said.contains("raise memory_budget")), "{both:?}");
        assert!(both[0].starts_with(
            "reads limited by our send buffer of 4.2 MB: at most 2.8 MB in flight per round trip of 100 ms; "
        ));
        assert_eq!(
            explain(Verdict::PeerWindow, 58e6, 0.0),
            "reads limited by the client's receive window: 6.0 MB per round trip of 100 ms; raise the max of net.ipv4.tcp_rmem on the client to 92800000 and mount again, or mount with nconnect=8"
        );
        assert_eq!(
            explain(Verdict::PeerWindow, 20e6, 0.0),
            "reads limited by the client, which reads no faster than 20.0 MB/s: its receive window is full; \
             check the program and the CPU there: a larger window would fill, too"
        );
        assert_eq!(
            explain(Verdict::ClientSlots, 12e6, 0.0),
            "reads limited by too few calls in flight from the client: 1.2 MB per round trip of 100 ms; unless the \
             client limits its rate itself (--rate, --bwlimit): raise the read-ahead of the mount on the client (Linux: echo 16384 > /sys/class/bdi/$(mountpoint -d \
             DIRECTORY)/read_ahead_kb), read with more threads, or put a howdah relay near the client"
        );
        assert!(explain(Verdict::ClientSlots, 0.0, 12e6).contains("sunrpc.tcp_max_slot_table_entries"));
        assert!(
            explain_at(1, Verdict::ClientSlots, 12e6, 0.0)
                .ends_with("more threads on the client, or larger transfers")
        );
        assert_eq!(
            explain(Verdict::Loss, 0.0, 12e6),
            "writes limited by losses on the path: 12.0 MB/s at a round trip of 100 ms, one in 1000 segments; \
             bbr on the sender, or several connections (nconnect)"
        );
        assert_eq!(
            explain(Verdict::Encrypting, 1.9e9, 0.0),
            "reads limited by the CPU, encrypting: 62 % of one CPU encrypts, 0 % of all are busy, 1900 MB/s; mount with \
             nconnect=8: a connection is encrypted by one CPU at a time"
        );
        assert_eq!(explain(Verdict::Idle, 0.0, 0.0), "idle: the client asks for no more");
    }

    #[test]
    fn a_delay_that_was_asked_for_is_named() {
        let judgement = Judgement {
            sending: Verdict::Storage,
            receiving: Verdict::Idle,
            sent_per_second: 50e6,
            received_per_second: 0.0,
        };
        let mut sample = Sample::default();
        let explain = |sample: &Sample| Explanation::of(&judgement, sample, Found::default()).to_string();
        assert_eq!(explain(&sample), "reads limited by the storage: 50.0 MB/s, calls wait for it");
        sample.gauges.delay = Duration::from_millis(20);
        assert_eq!(
            explain(&sample),
            "reads limited by the storage, which the server delays by 20 ms a call (--delay): 50.0 MB/s; restart the \
             server without --delay"
        );
    }

    #[test]
    fn other_programs_that_use_the_cpus_are_named() {
        let explain = |own: Option<f64>| {
            let judgement = Judgement {
                sending: Verdict::Processor,
                receiving: Verdict::Idle,
                sent_per_second: 50e6,
                received_per_second: 0.0,
            };
            let mut sample = Sample::default();
            (sample.gauges.processors_busy, sample.gauges.processors_own) = (0.97, own);
            Explanation::of(&judgement, &sample, Found::default()).to_string()
        };
        let ours = "reads limited by the CPUs of this host: 97 % busy, 50.0 MB/s";
        assert_eq!((explain(None), explain(Some(0.6))), (ours.to_owned(), ours.to_owned()));
        assert_eq!(
            explain(Some(0.12)),
            "reads limited by other programs on this host: its CPUs are 97 % busy, howdah uses 12 %, 50.0 MB/s; move \
             them elsewhere, or raise CPUWeight= in the unit of howdah"
        );
    }
}
