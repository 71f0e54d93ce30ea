//! The thread that looks at connections and sizes them.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;

use howdah_net::{Token, is_local};
use howdah_tune::budget::{MemoryUse, Pressure};
use howdah_tune::{Judgement, Sample, SizeChange, Verdict};

use super::endings::Ending;
use super::gauge::Gauge;
use super::networks::{NetworkSizes, sizes_for};
use super::offers::Offers;
use super::processors::{ProcessorLoad, Processors};
use super::report::VerdictReport;
use super::reporting;
use super::telling::{apply, ask, tell_all};
use super::watcher::{Look, Watcher};
use crate::Peer;
use crate::connection::{Connection, Onlooker};
use crate::room::one_client;
use crate::shared::{Shared, Source};

/// How often gauges are read while something moves: short beside the shortest interval that is judged.
const TICK: Duration = Duration::from_millis(10);
/// With many connections they are read less often: at most so many connections in each millisecond. Of a thousand each takes
/// half a microsecond, for the most part until it is in the processor's cache.
const GAUGES_PER_MILLISECOND: u32 = 15;
/// The kernel is asked about so many connections a second at most, though each be due: that takes some 3.5 microseconds each.
const SAMPLES_PER_SECOND: u32 = 3_000;
/// None that moves something waits longer for its turn.
const TURN_MOST: Duration = Duration::from_secs(1);
/// How often they are read of connections that wait in the middle of something.
const IDLE_TICK: Duration = Duration::from_millis(100);
/// For so long after the last movement memory is looked at as usual: then nothing changes any more.
const SETTLED_AFTER: Duration = Duration::from_secs(15);
/// How often, from then on, until something moves: the kernel's memory is used by others, too.
const REST: Duration = Duration::from_secs(60);
/// How often memory and processors are looked at,
const MEMORY_TICK: Duration = Duration::from_secs(1);
/// and if more than half of the memory is used: what comes in meanwhile at 10 Gb/s is 125 MB.
const PRESSED_TICK: Duration = Duration::from_millis(100);

/// How often what is said of a connection is kept for the time after its end.
const SAID_ANEW: Duration = Duration::from_secs(1);

/// From this part of all processors on somebody may have to wait for one.
const BUSY: f64 = 0.5;

/// Sizes the connections of a server.
pub struct Sizing {
    shared: Arc<Shared>,
    seen: HashMap<Token, Seen>,
    /// Those that moved something of late.
    followed: Vec<Weak<Connection>>,
    /// How many moved something in the last turn.
    active: u32,
    /// When there last was any of them, or something else that woke this thread.
    moved_at: Duration,
    processors: Processors,
    load: ProcessorLoad,
    memory_at: Duration,
    memory_tick: Duration,
    pressure: Pressure,
    offers: Offers,
    watcher: Option<Watcher>,
    networks: Vec<NetworkSizes>,
    /// What every call waits for, for an experiment.
    delay: Duration,
}

/// What is remembered of a connection.
#[derive(Default)]
struct Seen {
    gauge: Gauge,
    /// When to look at it again.
    due: Duration,
    /// It is followed,
    is_followed: bool,
    /// for the last time, unless something moves.
    rests: bool,
    /// Unread and unacknowledged bytes when it was last looked at. While there are any, it is looked at.
    memory: MemoryUse,
    /// It is not read, since memory is short.
    is_held: bool,
    verdict: Option<Verdict>,
    /// What limited it when it last moved something, and when that was found.
    said: Option<(Duration, VerdictReport)>,
}

impl Sizing {
    /// Of that server; every look is shown to the watcher. Clients of these networks have sizes of their own. `delay`: what every call
    /// waits for, for an experiment.
    pub fn new(
        shared: Arc<Shared>,
        watcher: Option<Watcher>,
        networks: Vec<NetworkSizes>,
        delay: Option<Duration>,
    ) -> Self {
        shared.endings.open();
        shared.sizing.open();
        Self {
            shared,
            seen: HashMap::new(),
            followed: Vec::new(),
            active: 0,
            moved_at: Duration::ZERO,
            processors: Processors::default(),
            load: ProcessorLoad::default(),
            memory_at: Duration::ZERO,
            memory_tick: MEMORY_TICK,
            pressure: Pressure::None,
            offers: Offers::beside(&networks),
            watcher,
            networks,
            delay: delay.unwrap_or_default(),
        }
    }

    /// Until the server stops.
    pub fn run(mut self) {
        self.shared.sizing.attend();
        while !self.shared.stopping.load(Ordering::SeqCst) {
            self.turn(self.shared.started.elapsed());
            std::thread::park_timeout(self.pause());
        }
    }

    /// How long to wait for the next turn; while nothing moves, what happens wakes this thread before.
    fn pause(&self) -> Duration {
        if self.followed.is_empty() {
            return match self.shared.sizing.lie_down() && self.shared.endings.is_empty() {
                true if self.is_settled() => REST,
                true => self.memory_tick,
                false => Duration::ZERO,
            };
        }
        let gauges = Duration::from_millis(1) * u32::try_from(self.followed.len()).unwrap_or(u32::MAX);
        let tick = TICK.max(gauges / GAUGES_PER_MILLISECOND);
        if self.active > 0 { tick } else { IDLE_TICK.max(tick) }
    }

    /// Whether all that follows from movements is done.
    fn is_settled(&self) -> bool {
        let rested = self.memory_at.saturating_sub(self.moved_at);
        rested >= SETTLED_AFTER && self.pressure == Pressure::None
    }

    /// Looks once at all connections that moved something of late.
    fn turn(&mut self, now: Duration) {
        if !self.shared.sizing.rise() {
            self.moved_at = now;
        }
        // Knobs may have been turned.
        ask(&self.shared, |_| ());
        // Taken before the others are looked at: of one that has ended and is not among these, the end is known when these are taken.
        let endings = self.shared.endings.take();
        for connection in self.shared.sizing.take() {
            self.follow(now, connection);
        }
        let at_least = turns(self.active);
        self.active = 0;
        let mut followed = std::mem::take(&mut self.followed);
        followed.retain(|connection| {
            connection.upgrade().is_some_and(|connection| self.visit(now, &connection, at_least))
        });
        self.followed = followed;
        endings.iter().for_each(|ending| self.end(now, ending));
        self.offers.turn(&self.shared);
        if now.saturating_sub(self.memory_at) >= self.memory_tick {
            self.memory_at = now;
            self.look_at_memory(now);
            self.shared.samples.lock().forget(now);
        }
    }

    /// A connection moved something, or is new.
    fn follow(&mut self, now: Duration, listed: Weak<Connection>) {
        let Some(connection) = listed.upgrade().filter(|one| !one.onlookers().has_ended()) else { return };
        let token = connection.token();
        if !self.seen.contains_key(&token) {
            let changes = self.open(now, token, connection.peer());
            apply(&connection, &changes);
            self.offers.on_new(&self.shared, &connection);
        }
        let new = || Seen { gauge: Gauge::with_delay(self.delay), ..Seen::default() };
        let seen = self.seen.entry(token).or_insert_with(new);
        seen.rests = false;
        if !std::mem::replace(&mut seen.is_followed, true) {
            seen.gauge.wake(now);
            self.followed.push(listed);
        }
    }

    /// Looks at one connection; says whether it is followed any longer. The kernel is not asked about it again before `at_least` has
    /// passed.
    fn visit(&mut self, now: Duration, connection: &Arc<Connection>, at_least: Duration) -> bool {
        let token = connection.token();
        let Some(seen) = self.seen.get_mut(&token).filter(|_| !connection.onlookers().has_ended()) else {
            return false;
        };
        seen.gauge.look(now, connection, self.load);
        let active = seen.gauge.is_active(now) || seen.memory != MemoryUse::default();
        self.active += u32::from(active);
        if active && now >= seen.due {
            match connection.stream().sample(now, seen.gauge.sums()) {
                Ok(sample) => self.on_sample(connection, sample, at_least),
                Err(error) => tracing::debug!(%error, "looking at a connection"),
            }
        }
        let Some(seen) = self.seen.get_mut(&token) else { return false };
        if active || !seen.gauge.is_quiet(connection) {
            if std::mem::take(&mut seen.rests) {
                connection.onlookers().put(Onlooker::Sizing);
            }
            return true;
        }
        // One more look after it was struck off: a worker may have listed nothing just before, as it was on the list.
        seen.is_followed = !std::mem::replace(&mut seen.rests, true);
        if seen.is_followed {
            connection.onlookers().strike(Onlooker::Sizing);
        }
        seen.is_followed
    }

    /// The kernel told of one.
    fn on_sample(&mut self, connection: &Arc<Connection>, sample: Sample, at_least: Duration) {
        let (now, token) = (sample.at, connection.token());
        let Some(seen) = self.seen.get_mut(&token) else { return };
        seen.memory = MemoryUse {
            sending: sample.sending.queued,
            unread: sample.receiving.queued,
            ..MemoryUse::default()
        };
        let (changes, found) = ask(&self.shared, |tuner| {
            let changes = tuner.on_sample(token, sample.clone());
            (changes, tuner.get(token).map(|tuned| Found::of(tuned, seen.wants_sentence(now, tuned))))
        });
        if let Some(Found { judgement, unsent_mark, interval, said }) = found {
            seen.due = now + interval.max(at_least);
            let judgement = judgement.as_ref();
            let ends = connection.peer().ends;
            if let Some(watcher) = &self.watcher {
                watcher.show(&Look { client: ends.client, unsent_mark, sample: &sample, judgement });
            }
            // For whoever asks what a connection did of late.
            self.shared.samples.lock().look(token, (ends.client, ends.server), &sample, judgement);
            seen.on_verdict(now, ends.client, judgement, said);
        }
        apply(connection, &changes);
    }

    /// The tuner gets to know a connection.
    fn open(&self, now: Duration, token: Token, peer: &Peer) -> Vec<SizeChange> {
        let address = peer.ends.client.ip();
        let local = is_local(address, peer.ends.server.ip());
        let own = sizes_for(&self.networks, address);
        ask(&self.shared, |tuner| {
            let changes = tuner.on_open_with(now, token, one_client(address), local, own);
            tuner.on_address(one_client(address), address);
            changes
        })
    }

    /// A connection has ended; one that was short is not known yet.
    fn end(&mut self, now: Duration, ending: &Ending) {
        let seen = self.seen.remove(&ending.token);
        if seen.is_none() {
            self.open(now, ending.token, &ending.peer);
        }
        let mut tuner = self.shared.tuner.lock();
        if let Some(last) = &ending.last {
            tuner.on_end(ending.token, last);
        }
        let said = seen.and_then(|seen| seen.said).map(|(_, said)| said);
        if let Some(tuned) = tuner.get(ending.token) {
            let ended = reporting::ended(tuned, ending.opened.elapsed(), said);
            self.shared.gone.lock().add(now, ending.peer.ends.client.ip(), ended);
        }
        tuner.on_close(now, ending.token);
        let mut samples = self.shared.samples.lock();
        // The time within the lock: whoever asked before is told of it the next time.
        samples.close(self.shared.started.elapsed(), ending.token);
    }

    fn look_at_memory(&mut self, now: Duration) {
        self.load = self.processors.load(now);
        // Where nobody tells how busy they are, as in some containers, our own threads do.
        let ours = self.load.threads_wanting / self.shared.processors as f64;
        self.shared.shares.set_wanted(self.load.busy.max(ours) >= BUSY);
        let mut used = MemoryUse { host_tcp: howdah_net::memory_of_tcp(), ..MemoryUse::default() };
        for seen in self.seen.values() {
            used.sending += seen.memory.sending;
            used.unread += seen.memory.unread;
        }
        let (told, level, budget, changed, stuck) = ask(&self.shared, |tuner| {
            let told = tuner.on_memory(now, &used);
            let changed: Vec<Token> = (self.seen.iter())
                .filter(|(token, seen)| seen.is_held != tuner.should_hold(**token, seen.is_held))
                .map(|(token, _)| *token)
                .collect();
            (told, tuner.pressure(), tuner.settings().budget.total(), changed, tuner.stuck())
        });
        tell_all(&self.shared, told);
        self.memory_tick = if used.sending + used.unread > budget / 2 { PRESSED_TICK } else { MEMORY_TICK };
        self.hold_or_let_go(&changed);
        self.cut(&stuck);
        self.on_pressure(level, &used, budget);
    }

    /// Stops to read these, or reads them again.
    fn hold_or_let_go(&mut self, tokens: &[Token]) {
        for token in tokens {
            let Some(seen) = self.seen.get_mut(token) else { continue };
            seen.is_held = !seen.is_held;
            let Source::Connection(connection) = self.shared.source(*token) else { continue };
            connection.hold(seen.is_held);
            tracing::debug!(client = %connection.peer().ends.client, held = seen.is_held, "memory is short");
            if seen.is_held {
                self.shared.pressing.count_held();
            } else if connection.resume() {
                self.shared.hand_on(connection);
            }
        }
    }

    /// Ends these, so that the kernel has back what they hold.
    fn cut(&self, stuck: &[Token]) {
        for token in stuck {
            let Source::Connection(connection) = self.shared.source(*token) else { continue };
            self.shared.cut(&connection, &"memory is short, and it takes next to nothing of its replies");
            self.shared.pressing.count_cut();
        }
    }

    /// Says when the level changes, and does what it asks of those who accept.
    fn on_pressure(&mut self, level: Pressure, used: &MemoryUse, budget: u64) {
        let before = std::mem::replace(&mut self.pressure, level);
        if before == level {
            return;
        }
        self.shared.pressing.set_refuses(level == Pressure::Refuse);
        let (refused, cut) = (self.shared.pressing.refused(), self.shared.pressing.cut());
        let (sending, unread) = (used.sending, used.unread);
        let means = reporting::pressure_in_words(level);
        if level > before {
            tracing::warn!(sending, unread, budget, refused, cut, "memory of connections: {means}");
        } else {
            tracing::info!(sending, unread, budget, refused, cut, "memory of connections: {means}");
        }
    }
}

/// How long it is between two looks at a connection, if so many want one.
fn turns(active: u32) -> Duration {
    (Duration::from_secs(1) * active / SAMPLES_PER_SECOND).min(TURN_MOST)
}

/// What the tuner found at a look.
struct Found {
    judgement: Option<Judgement>,
    unsent_mark: u64,
    /// When the next look is due.
    interval: Duration,
    /// The verdict in words, if somebody wants them.
    said: Option<VerdictReport>,
}

impl Found {
    fn of(tuned: &howdah_tune::Connection, in_words: bool) -> Self {
        Self {
            judgement: tuned.judgement().copied(),
            unsent_mark: tuned.unsent_mark(),
            interval: tuned.interval(),
            said: if in_words { reporting::verdict(tuned) } else { None },
        }
    }
}

impl Seen {
    /// Whether the sentence of a verdict is needed: once a second while something moves, and for the log.
    fn wants_sentence(&self, now: Duration, tuned: &howdah_tune::Connection) -> bool {
        let verdict = tuned.judgement().map(Judgement::verdict);
        self.is_sentence_due(now, verdict)
            || (verdict != self.verdict && tracing::enabled!(tracing::Level::DEBUG))
    }

    fn is_sentence_due(&self, now: Duration, verdict: Option<Verdict>) -> bool {
        let is_due = self.said.as_ref().is_none_or(|(at, _)| now.saturating_sub(*at) >= SAID_ANEW);
        is_due && verdict.is_some_and(|verdict| verdict != Verdict::Idle)
    }

    /// Says what limits the connection, when that changes, and keeps what is said while it moves something.
    fn on_verdict(
        &mut self,
        now: Duration,
        client: SocketAddr,
        judgement: Option<&Judgement>,
        said: Option<VerdictReport>,
    ) {
        let verdict = judgement.map(Judgement::verdict);
        let before = std::mem::replace(&mut self.verdict, verdict);
        let Some(said) = said else { return };
        if verdict != before {
            tracing::debug!(%client, "{}", said.sentence);
        }
        if self.is_sentence_due(now, verdict) {
            self.said = Some((now, said));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use howdah_net::probe_host;
    use howdah_rpc::server::BufferPool;
    use howdah_tune::budget::HostMemory;
    use howdah_tune::{Settings, Tuner};

    use super::*;
    use crate::connection::tests::connected;
    use crate::limits::RECORD_MAX;
    use crate::service::Service;

    const HOUR: Duration = Duration::from_secs(3600);

    fn sizing() -> Sizing {
        let memory = HostMemory { total: 8 << 30, tcp: [1 << 30; 3], group: None };
        let settings = Settings::automatic(probe_host().expect("a socket"), memory);
        let shared = Shared::new(Service::new(Default::default()), Vec::new(), Tuner::new(settings));
        Sizing::new(Arc::new(shared.expect("descriptors")), None, Vec::new(), None)
    }

    /// Takes turns from `now` on for an hour, as the thread does while nothing wakes it; how many those are.
    fn turns_in_an_hour(sizing: &mut Sizing, now: &mut Duration) -> u32 {
        let (end, mut count) = (*now + HOUR, 0);
        while *now < end {
            sizing.turn(*now);
            *now += sizing.pause();
            count += 1;
        }
        count
    }

    #[test]
    fn who_has_nothing_to_look_at_sleeps_until_something_moves() {
        let (mut sizing, mut now) = (sizing(), Duration::ZERO);
        let until_settled = (SETTLED_AFTER.as_secs() + 2) as u32;
        let resting = (HOUR.as_secs() / REST.as_secs()) as u32;
        let turns = turns_in_an_hour(&mut sizing, &mut now);
        assert!(turns <= until_settled + resting, "{turns} turns without a connection");
        assert_eq!(turns_in_an_hour(&mut sizing, &mut now), resting);
        let (streams, mut clients): (Vec<_>, Vec<_>) = (0..100).map(|_| connected()).unzip();
        streams.into_iter().for_each(|stream| sizing.shared.add(stream).expect("taken in"));
        assert!(!sizing.shared.sizing.sleeps(), "a new connection wakes it");
        sizing.turn(now);
        assert_eq!((sizing.followed.len(), sizing.seen.len()), (100, 100));
        let turns = turns_in_an_hour(&mut sizing, &mut now);
        assert!(turns <= 20 + until_settled + resting, "{turns} turns with 100 idle ones");
        assert_eq!((sizing.followed.len(), sizing.seen.len()), (0, 100));
        assert_eq!(turns_in_an_hour(&mut sizing, &mut now), resting);
        // One sends half a call.
        let connection = sizing.shared.connections().pop().expect("one");
        let ours = |client: &&mut std::net::TcpStream| {
            client.local_addr().is_ok_and(|end| end == connection.peer().ends.client)
        };
        let client = clients.iter_mut().find(ours).expect("its client");
        client.write_all(&[0x80, 0, 0, 40, 1, 2, 3]).expect("sending");
        let mut buffers = BufferPool::new(RECORD_MAX);
        while connection.inbox().received() == 0 {
            connection.receive(&mut buffers, None).expect("a socket");
        }
        sizing.shared.moved(&connection);
        assert!(!sizing.shared.sizing.sleeps());
        sizing.turn(now);
        assert_eq!((sizing.followed.len(), sizing.active), (1, 1), "only what moved is looked at");
        assert!(sizing.shared.tuner.lock().get(connection.token()).is_some_and(|one| one.last().is_some()));
        assert_eq!(sizing.pause(), TICK);
        // It owes the rest: that is summed as long as it lasts.
        for _ in 0..100 {
            now += IDLE_TICK;
            sizing.turn(now);
        }
        assert_eq!((sizing.followed.len(), sizing.active, sizing.pause()), (1, 0, IDLE_TICK));
        let summed = sizing.seen[&connection.token()].gauge.sums().silent;
        assert!(summed >= 99 * IDLE_TICK && summed < HOUR, "{summed:?}");
        // It ends: its place is free at once.
        sizing.shared.close(&connection, &"test");
        sizing.turn(now);
        assert_eq!((sizing.followed.len(), sizing.seen.len()), (0, 99));
    }

    #[test]
    fn the_kernel_is_not_asked_more_often_the_more_connections_there_are() {
        assert_eq!(turns(0), Duration::ZERO);
        assert!(turns(300) <= Duration::from_millis(100), "as often as the judge wants, up to so many");
        assert_eq!(turns(SAMPLES_PER_SECOND / 2), Duration::from_millis(500));
        assert_eq!(turns(u32::MAX), TURN_MOST);
    }
}
