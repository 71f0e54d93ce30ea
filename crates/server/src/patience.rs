//! How long a peer may keep us waiting: rules over figures and times, which know neither sockets nor the clock.

use std::time::{Duration, Instant};

use crate::limits::{RECORD_PATIENCE, RECORD_RATE_MIN, SEND_PATIENCE};

/// A connection at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sight {
    /// Bytes received so far.
    pub received: u64,
    /// Whole records received so far.
    pub records: u64,
    /// Whether a record has started and is not whole.
    pub partial: bool,
    /// Whether bytes wait in the socket: then it is we who are late.
    pub unread: bool,
    /// Bytes sent so far.
    pub sent: usize,
    /// Whether replies wait to be sent.
    pub replies_wait: bool,
}

/// What is remembered of a connection.
#[derive(Debug, Clone, Copy)]
pub struct SilencePatience {
    last: Sight,
    /// When the present record was first seen.
    record_since: Instant,
    /// Since when the peer could have gone on with it, and how many bytes had come by then.
    owes_since: Instant,
    owes_from: u64,
    /// When bytes last went out, or none had to.
    sent_since: Instant,
}

impl SilencePatience {
    /// A connection seen for the first time.
    pub fn new(sight: Sight, now: Instant) -> Self {
        Self { last: sight, record_since: now, owes_since: now, owes_from: sight.received, sent_since: now }
    }

    /// The connection again; why it must go, if it must.
    pub fn look(&mut self, sight: Sight, now: Instant) -> Option<&'static str> {
        if !sight.partial || sight.records != self.last.records {
            self.record_since = now;
        }
        // Bytes that we leave in the socket are no debt of the peer: it may wait for its replies, or for our storage.
        if self.record_since == now || sight.unread {
            (self.owes_since, self.owes_from) = (now, sight.received);
        }
        if !sight.replies_wait || sight.sent != self.last.sent {
            self.sent_since = now;
        }
        self.last = sight;
        let taken = now - self.owes_since;
        if taken > RECORD_PATIENCE && sight.received - self.owes_from < RECORD_RATE_MIN * taken.as_secs() {
            return Some("its record comes in too slowly");
        }
        (now - self.sent_since > SEND_PATIENCE).then_some("it does not read its replies")
    }

    /// For how long its present record has taken room, no matter whose fault it is.
    pub fn record_age(&self, now: Instant) -> Duration {
        now - self.record_since
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks once a second at what a peer does; says in which second it must go.
    fn goes_after(seconds: u64, peer: impl Fn(u64) -> Sight) -> Option<u64> {
        let start = Instant::now();
        let mut patience = SilencePatience::new(peer(0), start);
        (1..seconds)
            .find(|&second| patience.look(peer(second), start + Duration::from_secs(second)).is_some())
    }

    #[test]
    fn a_slow_but_honest_upload_lives() {
        // 1 MiB records at 20 KB/s, one after the other: each takes 52 s.
        let peer = |second| {
            let received = second * 20_000;
            Sight { received, records: received >> 20, partial: true, ..Sight::default() }
        };
        assert_eq!(goes_after(3600, peer), None);
    }

    #[test]
    fn a_dribbled_record_goes() {
        let peer = |second| Sight { received: second, partial: true, ..Sight::default() };
        assert_eq!(goes_after(3600, peer), Some(31));
    }

    #[test]
    fn a_peer_is_not_blamed_for_what_we_do_not_read() {
        // It reads 8 MiB of replies at 20 KB/s, while half a call of its own waits before our door.
        let peer = |second: u64| Sight {
            received: 100,
            partial: true,
            unread: true,
            sent: second as usize * 20_000,
            replies_wait: true,
            ..Sight::default()
        };
        assert_eq!(goes_after(3600, peer), None);
        // All the same it holds room.
        let start = Instant::now();
        let mut patience = SilencePatience::new(peer(0), start);
        patience.look(peer(9), start + Duration::from_secs(9));
        assert_eq!(patience.record_age(start + Duration::from_secs(9)), Duration::from_secs(9));
    }

    #[test]
    fn a_peer_that_reads_nothing_goes_and_a_slow_reader_stays() {
        let peer = |_| Sight { replies_wait: true, ..Sight::default() };
        assert_eq!(goes_after(3600, peer), Some(SEND_PATIENCE.as_secs() + 1));
        // The kernel says that it takes bytes again when a third of its 4 MiB is free: at 20 KB/s, every 70 s.
        let reader = |second: u64| Sight { sent: (second / 70) as usize, ..peer(second) };
        assert_eq!(goes_after(3600, reader), None);
    }

    #[test]
    fn an_idle_connection_stays() {
        assert_eq!(goes_after(100_000, |_| Sight::default()), None);
    }
}
