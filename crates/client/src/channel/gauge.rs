//! What only the client knows of a connection, summed up at every look: who asks, and where calls wait.

use std::time::Duration;

use howdah_rpc::client::core::{Glance, MovedBulk};
use howdah_rpc::client::lanes::Asked;
use howdah_tune::Gauges;

use super::link::Link;

/// A state that held for more than half of the time held.
const MOSTLY: f64 = 0.5;
/// Unread bytes beyond this part of the window: we read too slowly.
const UNREAD: u64 = 4;
/// Whether something came is asked no more often: on a path that is not the fastest, packets are further apart than two
/// looks may be.
const LISTENED: Duration = Duration::from_millis(10);

/// Sums over the looks at a lane.
#[derive(Debug, Default)]
pub(super) struct Gauge {
    sums: Gauges,
    last: Duration,
    /// When it was last asked whether something came, and how many bytes had by then.
    listened: Duration,
    received: u64,
    now: Sums,
    /// The sums when it was last asked for.
    before: Sums,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    at: Duration,
    /// Bulk calls in flight on all lanes, times the time, in seconds.
    in_flight: f64,
    /// Time in which bulk calls waited for others to be answered.
    waiting: Duration,
    /// Time in which calls waited for a slot of the session.
    without_slot: Duration,
    moved: MovedBulk,
    unread: u64,
}

impl Gauge {
    /// From now on it is looked at again: of the time before, nothing is known.
    pub(super) fn begin(&mut self, now: Duration, moved: MovedBulk) {
        (self.last, self.listened) = (now, now);
        (self.now.at, self.now.moved) = (now, moved);
        self.before = self.now;
    }

    /// Looks.
    pub(super) fn look(&mut self, now: Duration, glance: &Glance, link: &Link) {
        let passed = now.saturating_sub(self.last);
        self.last = now;
        self.sums.outstanding = u32::try_from(glance.load).unwrap_or(u32::MAX);
        // How many bytes is not known here, nor does it matter.
        self.sums.replies_waiting = u64::from(glance.has_unsent);
        if glance.has_unsent {
            self.sums.held_up += passed;
        }
        if link.is_mid_reply() {
            self.sums.mid_call += passed;
        }
        self.listen(now, link);
        self.now.at = now;
        self.now.in_flight += glance.in_flight as f64 * passed.as_secs_f64();
        if glance.waits {
            self.now.waiting += passed;
        }
        if glance.waits_for_slot {
            self.now.without_slot += passed;
        }
        self.now.moved = glance.moved;
    }

    /// Finds out whether the server is silent in the middle of a reply. The kernel is asked, since whoever receives waits in
    /// it for all of a reply's data.
    fn listen(&mut self, now: Duration, link: &Link) {
        let passed = now.saturating_sub(self.listened);
        if passed < LISTENED {
            return;
        }
        self.listened = now;
        if !link.is_mid_reply() {
            return;
        }
        let Ok(sample) = link.connection.sample(now, &self.sums) else { return };
        if sample.receiving.received == self.received {
            self.sums.silent += passed;
        }
        self.received = sample.receiving.received;
    }

    /// For a sample.
    pub(super) fn sums(&self) -> &Gauges {
        &self.sums
    }

    /// What was asked since this was last called. Of a window, so much is unread now.
    pub(super) fn asked(&mut self, unread: u64, window: u64) -> Asked {
        self.now.unread = unread;
        let before = std::mem::replace(&mut self.before, self.now);
        asked_between(&before, &self.now, window)
    }
}

/// What was asked between two moments.
fn asked_between(before: &Sums, now: &Sums, window: u64) -> Asked {
    let time = now.at.saturating_sub(before.at).as_secs_f64();
    let calls = now.moved.calls.saturating_sub(before.moved.calls);
    // Little's law; if none was answered, they are in flight at least that long.
    let latency = match calls {
        0 if now.in_flight > before.in_flight => time,
        0 => 0.0,
        _ => (now.in_flight - before.in_flight) / calls as f64,
    };
    let waiting = now.waiting.saturating_sub(before.waiting).as_secs_f64();
    let without_slot = now.without_slot.saturating_sub(before.without_slot).as_secs_f64();
    let unread = before.unread.min(now.unread);
    Asked {
        waits_for_place: waiting > MOSTLY * time,
        waits_for_slot: without_slot > MOSTLY * time,
        latency: Duration::try_from_secs_f64(latency).unwrap_or(Duration::MAX),
        reads_too_slowly: unread > 0 && unread >= window / UNREAD,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    use howdah_net::Connection;

    use super::super::ChannelOptions;
    use super::super::connecting::Connector;
    use super::*;

    const NOTHING: Glance = Glance {
        in_flight: 0,
        waits: false,
        waits_for_slot: false,
        load: 0,
        has_unsent: false,
        moved: MovedBulk { calls: 0, bytes: 0, written: 0 },
    };

    /// A connection whose server is in the middle of a reply.
    fn in_mid_reply() -> (Link, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let connector = Connector::new(&ChannelOptions::default(), Vec::new(), None);
        let connection = Connection::open(address, connector.settings()).expect("it listens");
        let (server, _) = listener.accept().expect("it connected");
        let link = Link::new(connection, 1);
        link.set_mid_reply(true);
        (link, server)
    }

    #[test]
    fn time_in_which_nobody_looked_is_not_taken_for_what_is_seen_then() {
        let (link, _server) = in_mid_reply();
        let (mut gauge, later) = (Gauge::default(), Duration::from_secs(600));
        gauge.begin(later, MovedBulk::default());
        gauge.look(later + LISTENED, &NOTHING, &link);
        assert_eq!((gauge.sums().mid_call, gauge.before.at), (LISTENED, later));
    }

    #[test]
    fn bytes_that_come_while_somebody_waits_for_more_are_no_silence() {
        let (link, mut server) = in_mid_reply();
        let (mut gauge, mut now) = (Gauge::default(), Duration::ZERO);
        let received = || {
            let sample = link.connection.sample(Duration::ZERO, &Gauges::default());
            sample.expect("a connection").receiving.received
        };
        for part in 1..=10 {
            server.write_all(&[0; 100]).expect("written");
            while received() < part * 100 {
                std::thread::yield_now();
            }
            // Nobody reads it meanwhile, and others look more often than packets come.
            for _ in 0..20 {
                now += Duration::from_millis(1);
                gauge.look(now, &NOTHING, &link);
            }
        }
        let (mid_call, silent) = (gauge.sums().mid_call, gauge.sums().silent);
        assert_eq!(mid_call, Duration::from_millis(200));
        assert_eq!(silent, Duration::from_millis(100), "half of each time between two parts");
        now += Duration::from_millis(100);
        gauge.look(now, &NOTHING, &link);
        assert_eq!(gauge.sums().silent, silent + Duration::from_millis(100));
    }

    #[test]
    fn a_calls_time_is_what_was_in_flight_over_what_was_answered() {
        let second = Duration::from_secs(1);
        let before = Sums::default();
        let moved = MovedBulk { calls: 20, ..MovedBulk::default() };
        let now = Sums { at: second, in_flight: 4.0, waiting: second, moved, ..before };
        let asked = asked_between(&before, &now, 1000);
        assert_eq!(asked.latency, Duration::from_millis(200));
        assert!(asked.waits_for_place && !asked.waits_for_slot && !asked.reads_too_slowly);
        let asked = asked_between(&before, &Sums { without_slot: second, ..now }, 1000);
        assert!(asked.waits_for_slot);
        let none = Sums { moved: MovedBulk::default(), unread: 500, ..now };
        let asked = asked_between(&Sums { unread: 300, ..before }, &none, 1000);
        assert_eq!(asked.latency, second);
        assert!(asked.reads_too_slowly);
    }
}
