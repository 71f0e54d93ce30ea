//! The watch: hands on connections and sockets whose call hangs, keeps workers free, and ends connections that hold what they do
//! not use.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use howdah_net::Token;

use crate::connection::{Connection, Onlooker};
use crate::counts::PLACES;
use crate::crew::Crew;
use crate::gates::Turned;
use crate::limits::CALL_PATIENCE;
use crate::patience::{Sight, SilencePatience};
use crate::room::{Holding, who_gives_memory_back};
use crate::shared::{Shared, Source};

/// How long the watch sleeps while nothing happens, at most.
const IDLE_TICK: Duration = Duration::from_millis(100);
/// After so long without a call workers wake the watch when they have something to do.
const QUIET_AFTER: Duration = Duration::from_secs(1);
/// After so long it relies on that. What a worker had begun before has been seen by then.
const SLEEPS_AFTER: Duration = Duration::from_secs(2);
/// How often connections are looked at.
const INSPECTION: Duration = Duration::from_secs(1);
/// How often the log says that an export holds as many calls as it may.
const TELLING: Duration = Duration::from_secs(60);
/// How long a receive buffer is kept that nobody needs.
const BUFFER_KEPT: Duration = Duration::from_secs(60);

/// The watch.
pub struct Watch {
    shared: Arc<Shared>,
    crew: Crew,
    seen: HashMap<Token, Seen>,
    /// When the log last said that an export holds as many calls as it may.
    warned: HashMap<u16, Instant>,
    listeners_woken: Instant,
    inspected: Instant,
    buffers_freed: Instant,
    /// When anything last was to be done.
    active: Instant,
    /// Workers wake it.
    lies: bool,
}

/// A connection that moved something of late.
struct Seen {
    connection: Weak<Connection>,
    patience: SilencePatience,
    /// It is looked at for the last time, unless something moves.
    rests: bool,
}

impl Watch {
    /// Watches these workers.
    pub fn new(shared: Arc<Shared>, crew: Crew) -> Self {
        let (now, seen, warned) = (Instant::now(), HashMap::new(), HashMap::new());
        shared.watch.open();
        let (listeners_woken, inspected, buffers_freed, active) = (now, now, now, now);
        Self { shared, crew, seen, warned, listeners_woken, inspected, buffers_freed, active, lies: false }
    }

    /// Watches until the server stops: often while calls run, seldom while none does, and when woken after a while without any.
    pub fn run(mut self) {
        self.shared.watch.attend();
        let mut tick = IDLE_TICK;
        while !self.shared.stopping.load(Ordering::SeqCst) {
            std::thread::park_timeout(tick);
            let is_active = self.look_at_workers();
            tick = if is_active { CALL_PATIENCE } else { (tick * 2).min(IDLE_TICK) };
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
                self.shared.service.dispatcher.long_buffers.free_unneeded();
            }
            if self.may_sleep(Instant::now(), is_active) {
                tick = BUFFER_KEPT;
            }
        }
        self.crew.end();
    }

    /// Whether there is nothing to do before something happens, which wakes the watch.
    fn may_sleep(&mut self, now: Instant, is_active: bool) -> bool {
        let has_work = !self.seen.is_empty()
            || self.shared.gates.any_shut()
            || !self.shared.resting.lock().is_empty()
            || !self.crew.is_settled();
        // While it lies workers wake it all the time: one that does so between two turns is not missed.
        let is_woken = self.lies && !self.shared.watch.sleeps();
        if is_active || has_work || is_woken {
            self.active = now;
        }
        let quiet = now - self.active;
        if quiet < QUIET_AFTER {
            if std::mem::take(&mut self.lies) {
                self.shared.watch.rise();
            }
            return false;
        }
        self.lies = true;
        self.shared.watch.lie_down() && quiet >= SLEEPS_AFTER
    }

    /// Hands on what hangs, shuts and opens gates, keeps workers free; says whether any worker did anything since last time.
    fn look_at_workers(&mut self) -> bool {
        let far = self.far();
        let sight = self.crew.look(&far);
        let held = sight.held.iter().sum();
        let (shared, warned, crew) = (&self.shared, &mut self.warned, &self.crew);
        let share = |export: u16| crew.share(held, far[usize::from(export)]);
        let permitted = shared.gates.look(&sight.held, &sight.inside, share, |export, turned, most| {
            let is_due = warned.get(&export).is_none_or(|last| last.elapsed() >= TELLING);
            if turned == Turned::Shut && is_due {
                warned.insert(export, Instant::now());
                let name = shared.service.dispatcher.counts.export_name(export);
                tracing::warn!(
                    export = name,
                    calls = most,
                    "this export has as many calls in its storage as it may; further calls of it are queued"
                );
            }
        });
        for token in sight.hanging {
            match self.shared.source(token) {
                Source::Connection(connection) => self.shared.hand_on(connection),
                Source::Udp(port) => {
                    if let Err(error) = self.shared.arm_udp(&port) {
                        tracing::error!(%error, "arming a UDP socket");
                    }
                }
                _ => {}
            }
        }
        let waiting = sight.held.iter().zip(&far).map(|(held, far)| if *far { *held } else { 0 }).sum();
        let grew = self.crew.fit(held, waiting);
        if permitted {
            self.shared.waker.wake();
        }
        sight.active || permitted || grew
    }

    /// The exports whose calls wait for another host, by their places.
    fn far(&self) -> [bool; PLACES] {
        let mut far = [false; PLACES];
        if self.shared.service.any_waits() {
            for export in self.shared.service.exports().iter().filter(|export| export.waits()) {
                far[usize::from(export.place())] = true;
            }
        }
        far
    }

    fn wake_listeners(&self) {
        for index in self.shared.resting.lock().drain(..) {
            if let Err(error) = self.shared.arm_listener(index) {
                tracing::error!(%error, "arming a listener");
            }
        }
    }

    /// Looks at the connections that moved something of late, or hold something.
    fn inspect(&mut self) {
        let now = Instant::now();
        for listed in self.shared.watch.take() {
            let Some(connection) = listed.upgrade() else { continue };
            let new = || Seen {
                connection: listed,
                patience: SilencePatience::new(sight(&connection), now),
                rests: false,
            };
            self.seen.entry(connection.token()).or_insert_with(new).rests = false;
        }
        let mut connections = Vec::with_capacity(self.seen.len());
        let shared = &self.shared;
        self.seen.retain(|_, seen| {
            let live = seen.connection.upgrade().filter(|connection| !connection.onlookers().has_ended());
            let Some(connection) = live else { return false };
            let sight = sight(&connection);
            let is_late = connection.is_late_to_secure(shared.tls.as_deref(), now);
            if let Some(why) = is_late.or_else(|| seen.patience.look(sight, now)) {
                shared.cut(&connection, &why);
                return false;
            }
            let stays = seen.stays(&connection, sight);
            connections.push(connection);
            stays
        });
        self.relieve_memory(&connections, now);
    }

    /// Closes the connections that hold most for a record and move least, until the rest fits the budget.
    fn relieve_memory(&self, connections: &[Arc<Connection>], now: Instant) {
        let holding = |connection: &Arc<Connection>| Holding {
            memory: connection.holdings().map_or(0, |(_, memory)| memory),
            age: self
                .seen
                .get(&connection.token())
                .map_or(Duration::ZERO, |seen| seen.patience.record_age(now)),
        };
        let held: Vec<Holding> = connections.iter().map(holding).collect();
        for index in who_gives_memory_back(&held) {
            let why = "memory for half-received records ran out, and this one moves least";
            self.shared.cut(&connections[index], &why);
        }
    }
}

impl Seen {
    /// Whether the connection is looked at any longer. One that rests is struck off the list first: a worker may have listed nothing
    /// just before.
    fn stays(&mut self, connection: &Connection, sight: Sight) -> bool {
        let holds = sight.partial || sight.replies_wait || sight.unread || connection.is_securing();
        if holds || connection.outstanding() > 0 || connection.holdings() != Some((false, 0)) {
            if std::mem::take(&mut self.rests) {
                connection.onlookers().put(Onlooker::Watch);
            }
            return true;
        }
        let rested = std::mem::replace(&mut self.rests, true);
        if !rested {
            connection.onlookers().strike(Onlooker::Watch);
        }
        !rested
    }
}

fn sight(connection: &Connection) -> Sight {
    let (received, records) = (connection.inbox().received(), connection.inbox().records());
    let partial = connection.holdings().is_some_and(|(partial, _)| partial);
    // A socket that cannot say is broken, which its next user will see.
    let waiting = if partial { connection.stream().waiting().unwrap_or(0) } else { 0 };
    // What waits for the rest of a bulk WRITE has come as if it were received; anything else we have left unread.
    let late = connection.wakes_late();
    let received = if late { received + waiting as u64 } else { received };
    // So are calls that came whole, while the connection is not read.
    let unread = (waiting > 0 && !late)
        || connection.stream().keeps_bytes()
        || connection.is_paused()
        || connection.is_parked();
    let outbox = connection.outbox();
    Sight { received, records, partial, unread, sent: outbox.sent(), replies_wait: !outbox.is_empty() }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use howdah_rpc::server::BufferPool;
    use howdah_tune::budget::HostMemory;
    use howdah_tune::{Settings, Tuner};

    use super::*;
    use crate::connection::tests::connected;
    use crate::limits::RECORD_MAX;
    use crate::service::Service;

    #[test]
    fn connections_that_rest_are_not_looked_at() {
        let memory = HostMemory { total: 8 << 30, tcp: [1 << 30; 3], group: None };
        let settings = Settings::automatic(howdah_net::probe_host().expect("a socket"), memory);
        let shared = Shared::new(Service::new(Default::default()), Vec::new(), Tuner::new(settings));
        let shared = Arc::new(shared.expect("descriptors"));
        let crew = Crew::start(Arc::clone(&shared), 1).expect("a thread");
        let mut watch = Watch::new(Arc::clone(&shared), crew);
        let (stream, _client) = connected();
        shared.add(stream).expect("taken in");
        let connection = shared.connections().pop().expect("it");
        let mut looks = Vec::new();
        for _ in 0..4 {
            watch.inspect();
            looks.push(watch.seen.len());
        }
        assert_eq!(looks, [1, 0, 0, 0], "struck off, looked at once more");
        shared.moved(&connection);
        connection.hold(true);
        connection.pause();
        connection.park();
        for _ in 0..4 {
            watch.inspect();
            assert_eq!(watch.seen.len(), 1, "a call of it waits");
        }
        // Nothing happens for long: the watch sleeps, and a worker wakes it.
        watch.seen.clear();
        let quiet = |watch: &mut Watch, seconds| watch.may_sleep(watch.active + seconds, false);
        assert!(!quiet(&mut watch, QUIET_AFTER / 2) && !shared.watch.sleeps());
        assert!(!quiet(&mut watch, QUIET_AFTER) && shared.watch.sleeps());
        assert!(quiet(&mut watch, SLEEPS_AFTER) && shared.watch.sleeps());
        shared.watch.wake();
        assert!(!quiet(&mut watch, SLEEPS_AFTER * 2), "woken");
        shared.stopping.store(true, Ordering::SeqCst);
        watch.crew.end();
    }

    #[test]
    fn a_peer_is_not_blamed_while_we_do_not_read_what_it_sent() {
        let (stream, mut client) = connected();
        let connection = Connection::new(Token(1), stream);
        client.write_all(&[0x80, 0, 0, 40, 1, 2, 3]).expect("sending");
        let mut buffers = BufferPool::new(RECORD_MAX);
        while !sight(&connection).partial {
            connection.receive(&mut buffers, None).expect("a socket");
        }
        assert!(!sight(&connection).unread, "nothing is left in the socket");
        connection.park();
        assert!(sight(&connection).unread);
        connection.unpark();
        assert!(!sight(&connection).unread);
        connection.hold(true);
        assert!(connection.pause() && sight(&connection).unread);
    }
}
