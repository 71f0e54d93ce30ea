//! The watch: hands on connections and sockets whose call hangs, and ends those that hold what they do not use.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use howdah_net::Token;

use crate::connection::Connection;
use crate::limits::CALL_PATIENCE;
use crate::patience::{Patience, Sight};
use crate::room::{Holding, who_gives_memory_back};
use crate::shared::{Shared, Source};
use crate::worker::Slot;

/// How long the watch sleeps while nothing happens, at most.
const IDLE_TICK: Duration = Duration::from_millis(100);
/// How often connections are looked at.
const INSPECTION: Duration = Duration::from_secs(1);
/// How long a receive buffer is kept that nobody needs.
const BUFFER_KEPT: Duration = Duration::from_secs(60);

/// What the watch remembers of a worker.
#[derive(Default)]
struct Pulse {
    turns: u64,
    /// The present hang has been dealt with.
    relieved: bool,
}

/// What a worker is found doing.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// Nothing, or nothing new.
    AtRest,
    /// It runs calls.
    Active,
    /// It has been in one call since last time.
    Hangs,
}

/// The watch.
pub struct Watch {
    shared: Arc<Shared>,
    slots: Vec<(Arc<Slot>, Pulse)>,
    seen: HashMap<Token, Patience>,
    listeners_woken: Instant,
    inspected: Instant,
    buffers_freed: Instant,
}

impl Watch {
    /// Watches these workers.
    pub fn new(shared: Arc<Shared>, slots: Vec<Arc<Slot>>) -> Self {
        let slots = slots.into_iter().map(|slot| (slot, Pulse::default())).collect();
        let now = Instant::now();
        Self { shared, slots, seen: HashMap::new(), listeners_woken: now, inspected: now, buffers_freed: now }
    }

    /// Watches until the server stops: often while calls run, seldom while none does.
    pub fn run(mut self) {
        let mut tick = IDLE_TICK;
        while !self.shared.stopping.load(Ordering::SeqCst) {
            std::thread::park_timeout(tick);
            tick = if self.look_at_workers() { CALL_PATIENCE } else { (tick * 2).min(IDLE_TICK) };
            if self.listeners_woken.elapsed() >= IDLE_TICK {
                self.listeners_woken = Instant::now();
                self.wake_listeners();
            }
            if self.inspected.elapsed() >= INSPECTION {
                self.inspected = Instant::now();
                self.inspect();
            }
            if self.buffers_freed.elapsed() >= BUFFER_KEPT {
                self.buffers_freed = Instant::now();
                self.shared.buffers.free_unneeded();
            }
        }
    }

    /// Hands on what hangs; says whether any worker did anything since last time.
    fn look_at_workers(&mut self) -> bool {
        let mut active = false;
        for (slot, pulse) in &mut self.slots {
            match pulse.feel(slot.turns()) {
                Found::AtRest => {}
                Found::Active => active = true,
                Found::Hangs => match self.shared.source(slot.token()) {
                    Source::Connection(connection) => self.shared.hand_on(connection),
                    Source::Udp(port) => {
                        if let Err(error) = self.shared.arm_udp(&port) {
                            tracing::error!(%error, "arming a UDP socket");
                        }
                    }
                    _ => {}
                },
            }
        }
        active
    }

    fn wake_listeners(&self) {
        for index in self.shared.resting.lock().drain(..) {
            if let Err(error) = self.shared.arm_listener(index) {
                tracing::error!(%error, "arming a listener");
            }
        }
    }

    fn inspect(&mut self) {
        let now = Instant::now();
        let connections = self.shared.connections();
        let mut seen = HashMap::with_capacity(connections.len());
        for connection in &connections {
            let sight = sight(connection);
            let mut patience =
                self.seen.remove(&connection.token()).unwrap_or_else(|| Patience::new(sight, now));
            if let Some(why) = patience.look(sight, now) {
                self.shared.cut(connection, &why);
            }
            seen.insert(connection.token(), patience);
        }
        self.seen = seen;
        self.relieve_memory(&connections, now);
    }

    /// Closes the connections that hold most for a record and move least, until the rest fits the budget.
    fn relieve_memory(&self, connections: &[Arc<Connection>], now: Instant) {
        let holding = |connection: &Arc<Connection>| Holding {
            memory: connection.inbox().holdings().map_or(0, |(_, memory)| memory),
            age: self
                .seen
                .get(&connection.token())
                .map_or(Duration::ZERO, |patience| patience.record_age(now)),
        };
        let held: Vec<Holding> = connections.iter().map(holding).collect();
        for index in who_gives_memory_back(&held) {
            let why = "memory for half-received records ran out, and this one moves least";
            self.shared.cut(&connections[index], &why);
        }
    }
}

impl Pulse {
    /// What a worker with this count of turns is doing. A hang is told of once.
    fn feel(&mut self, turns: u64) -> Found {
        let before = std::mem::replace(&mut self.turns, turns);
        if turns != before {
            self.relieved = false;
            return Found::Active;
        }
        let hangs = turns % 2 == 1 && !self.relieved;
        self.relieved |= hangs;
        if hangs { Found::Hangs } else { Found::AtRest }
    }
}

fn sight(connection: &Connection) -> Sight {
    let (received, records) = (connection.inbox().received(), connection.inbox().records());
    let partial = connection.inbox().holdings().is_some_and(|(partial, _)| partial);
    // A socket that cannot say is broken, which whoever uses it next will see.
    let waiting = if partial { connection.stream().waiting().unwrap_or(0) } else { 0 };
    // What waits for the rest of a bulk WRITE has come as if it were received; anything else we have left unread.
    let late = connection.wakes_late();
    let received = if late { received + waiting as u64 } else { received };
    // So are calls that came whole, while the connection is not read.
    let unread = (waiting > 0 && !late) || connection.is_paused() || connection.is_parked();
    let outbox = connection.outbox();
    Sight { received, records, partial, unread, sent: outbox.sent(), replies_wait: !outbox.is_empty() }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use howdah_rpc::server::BufferPool;

    use super::*;
    use crate::connection::tests::connected;
    use crate::limits::RECORD_MAX;

    #[test]
    fn a_peer_is_not_blamed_while_we_do_not_read_what_it_sent() {
        let (stream, mut client) = connected();
        let connection = Connection::new(Token(1), stream);
        client.write_all(&[0x80, 0, 0, 40, 1, 2, 3]).expect("sending");
        let mut buffers = BufferPool::new(RECORD_MAX);
        while !sight(&connection).partial {
            connection.receive(&mut buffers).expect("a socket");
        }
        assert!(!sight(&connection).unread, "nothing is left in the socket");
        connection.park();
        assert!(sight(&connection).unread);
        connection.unpark();
        assert!(!sight(&connection).unread);
        connection.hold(true);
        assert!(connection.pause() && sight(&connection).unread);
    }

    #[test]
    fn a_hang_is_told_of_once() {
        let mut pulse = Pulse::default();
        let found: Vec<Found> =
            [0, 1, 1, 1, 1, 2, 2, 5, 5].map(|turns| pulse.feel(turns)).into_iter().collect();
        use Found::{Active, AtRest, Hangs};
        assert_eq!(
            found,
            [AtRest, Active, Hangs, AtRest, AtRest, Active, AtRest, Active, Hangs],
            "a queue that grows with the length of a hang would have no bound"
        );
    }
}
