//! Our own gauges of a connection, read a hundred times a second from counters that workers keep anyway, so that no call pays
//! for a look at the clock.

use std::time::Duration;

use howdah_tune::Gauges;

use super::processors::ProcessorLoad;
use crate::connection::Connection;

/// For how long a connection counts as active after it moved something.
const ACTIVE_FOR: Duration = Duration::from_secs(1);

/// Sums over the looks at one connection.
#[derive(Debug, Default)]
pub struct Gauge {
    sums: Gauges,
    last: Duration,
    moved: Moved,
    /// What waited in the kernel at the last look, in the middle of a call.
    waiting: usize,
    active_at: Option<Duration>,
}

/// What had moved so far: if it is the same next time, nothing did.
#[derive(Debug, Default, PartialEq, Eq)]
struct Moved {
    calls: u64,
    received: u64,
    sent: usize,
}

impl Gauge {
    /// One of a server whose calls wait for so long before they reach storage, for an experiment.
    pub fn with_delay(delay: Duration) -> Self {
        Self { sums: Gauges { delay, ..Gauges::default() }, ..Self::default() }
    }

    /// Nobody looked for a while, since nothing moved: that time counts for nothing.
    pub fn wake(&mut self, now: Duration) {
        self.last = now;
    }

    /// Looks at a connection.
    pub fn look(&mut self, now: Duration, connection: &Connection, processors: ProcessorLoad) {
        let passed = now.saturating_sub(self.last);
        self.last = now;
        let inbox = connection.inbox();
        let moved =
            Moved { calls: inbox.records(), received: inbox.received(), sent: connection.outbox().sent() };
        self.sums.outstanding = u32::try_from(connection.outstanding()).unwrap_or(u32::MAX);
        self.sums.replies_waiting = connection.outbox().waiting() as u64;
        self.sums.calls = moved.calls;
        self.sums.in_cipher = connection.stream().in_cipher();
        self.sums.processors_busy = processors.busy;
        self.sums.processors_own = processors.own;
        self.sums.threads_wanting = processors.threads_wanting;
        if self.sums.outstanding > 0 {
            self.sums.executing += passed;
        }
        if inbox.is_in_mid_call() {
            self.sums.mid_call += passed;
            // The data of a bulk WRITE is left in the kernel until all of it is there.
            let waiting = connection.stream().waiting().unwrap_or(0);
            let came = moved.received != self.moved.received || waiting > self.waiting;
            self.waiting = waiting;
            if !came {
                self.sums.silent += passed;
            }
        } else {
            self.waiting = 0;
        }
        if self.sums.replies_waiting > 0 {
            self.sums.held_up += passed;
        }
        if connection.held().count() > 0 {
            self.sums.capped += passed;
        }
        if connection.is_paused() {
            self.sums.refused_to_read += passed;
        }
        if moved != self.moved || self.sums.outstanding > 0 || self.sums.replies_waiting > 0 {
            self.active_at = Some(now);
        }
        self.moved = moved;
    }

    /// Whether nothing goes on that time is summed of.
    pub fn is_quiet(&self, connection: &Connection) -> bool {
        self.sums.outstanding == 0
            && self.sums.replies_waiting == 0
            && !connection.inbox().is_in_mid_call()
            && !connection.is_paused()
    }

    /// Whether it moved something of late.
    pub fn is_active(&self, now: Duration) -> bool {
        self.active_at.is_some_and(|at| now.saturating_sub(at) <= ACTIVE_FOR)
    }

    /// The sums so far.
    pub fn sums(&self) -> &Gauges {
        &self.sums
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use howdah_net::Token;
    use howdah_rpc::server::BufferPool;
    use howdah_wire::rpc::RecordMark;

    use super::*;
    use crate::connection::tests::connected;
    use crate::limits::RECORD_MAX;

    #[test]
    fn bytes_that_wait_in_the_kernel_for_the_rest_of_their_call_are_no_silence() {
        const TICK: Duration = Duration::from_millis(10);
        let (stream, mut client) = connected();
        let connection = Connection::new(Token(1), stream);
        let mut buffers = BufferPool::new(RECORD_MAX);
        let mark = RecordMark { length: 1 << 20, last: true };
        client.write_all(&[&mark.to_bytes()[..], &[7; 252]].concat()).expect("sending");
        while connection.stream().waiting().expect("a socket") < 256 {}
        connection.receive(&mut buffers, None).expect("a socket");
        let (mut gauge, mut now) = (Gauge::default(), Duration::ZERO);
        gauge.look(now, &connection, ProcessorLoad::default());
        // Its data comes all the time, and nobody reads it.
        for part in 1..=10 {
            client.write_all(&[7; 100]).expect("sending");
            while connection.stream().waiting().expect("a socket") < part * 100 {}
            now += TICK;
            gauge.look(now, &connection, ProcessorLoad::default());
        }
        assert_eq!((gauge.sums().mid_call, gauge.sums().silent), (10 * TICK, Duration::ZERO));
        gauge.look(now + TICK, &connection, ProcessorLoad::default());
        assert_eq!((gauge.sums().mid_call, gauge.sums().silent), (11 * TICK, TICK));
    }
}
