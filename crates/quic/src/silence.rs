//! When a client probes a silent server. A server that restarted answers a probe by a stateless reset (RFC 9000 10.3).
//!
//! The timers of RFC 9002 are not enough: they double while a server is away, and nothing is sent while a call that was
//! acknowledged waits for its reply.

use std::time::{Duration, Instant};

/// The shortest silence after which a client probes.
const INTERVAL_MIN: Duration = Duration::from_millis(500);
/// Probes of a silent connection that has nothing in flight, after its streams were last used. Then keep-alives must do.
const PROBES_OF_USE: u8 = 16;
/// Bytes of a packet that are sent again: too few to be valid, enough to be answered by a reset.
const PIECE: usize = 64;

/// What a client does about the silence of one server.
#[derive(Debug, Default)]
pub(crate) struct SilenceProbe {
    /// The last packet; of one after the handshake, its beginning.
    last: Vec<u8>,
    /// When the peer was last heard, or the silence began to count.
    since: Option<Instant>,
    /// When to look.
    due: Option<Instant>,
    left: u8,
}

/// What to send.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ProbeKind {
    /// The last packet again.
    Repeat(Vec<u8>),
    /// A packet that the peer acknowledges.
    Ping,
}

impl SilenceProbe {
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// A stream of the connection is used.
    pub(crate) fn on_use(&mut self) {
        self.left = PROBES_OF_USE;
    }

    /// A packet of the peer came.
    pub(crate) fn on_heard(&mut self, now: Instant) {
        self.since = Some(now);
    }

    /// A packet goes to the peer.
    pub(crate) fn on_sent(&mut self, now: Instant, round_trip: Duration, packet: &[u8]) {
        // Long headers are those of the handshake, whose packets a server that restarted takes as they are.
        let is_long = packet.first().is_some_and(|first| first & 0x80 != 0);
        self.last.clear();
        self.last.extend_from_slice(if is_long { packet } else { &packet[..packet.len().min(PIECE)] });
        if self.due.is_none() {
            self.since = Some(now);
            self.due = Some(now + interval(round_trip));
        }
    }

    /// Time has passed; says what to send. `is_unanswered`: what was sent is not acknowledged.
    pub(crate) fn poll(
        &mut self,
        now: Instant,
        round_trip: Duration,
        is_unanswered: bool,
    ) -> Option<ProbeKind> {
        self.due.filter(|due| *due <= now)?;
        let next = self.since.unwrap_or(now) + interval(round_trip);
        if next > now {
            self.due = Some(next);
            return None;
        }
        self.due = Some(now + interval(round_trip));
        if is_unanswered {
            return Some(ProbeKind::Repeat(self.last.clone()));
        }
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Some(ProbeKind::Ping)
            }
            None => {
                self.due = None;
                None
            }
        }
    }
}

fn interval(round_trip: Duration) -> Duration {
    INTERVAL_MIN.max(2 * round_trip)
}
