//! The thread that looks at connections and sizes them.

use std::collections::HashMap;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use howdah_net::{Token, is_local};
use howdah_tune::budget::{MemoryUse, Pressure};
use howdah_tune::{Change, Judgement, Verdict};

use super::endings::Ending;
use super::gauge::Gauge;
use super::networks::{NetworkSizes, sizes_for};
use super::offers::Offers;
use super::processors::{Load, Processors};
use super::report::VerdictReport;
use super::reporting;
use super::telling::{apply, ask, tell_all};
use super::watcher::{Look, Watcher};
use crate::Peer;
use crate::connection::Connection;
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
/// How often it is looked for new connections while nothing moves.
const IDLE_TICK: Duration = Duration::from_millis(100);
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
    /// How many moved something in the last turn.
    active: u32,
    /// Empty between turns; kept so that a turn allocates nothing.
    connections: Vec<Arc<Connection>>,
    processors: Processors,
    load: Load,
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
        Self {
            shared,
            seen: HashMap::new(),
            active: 0,
            connections: Vec::new(),
            processors: Processors::default(),
            load: Load::default(),
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
        while !self.shared.stopping.load(Ordering::SeqCst) {
            self.turn();
            let gauges = Duration::from_millis(1) * u32::try_from(self.seen.len()).unwrap_or(u32::MAX);
            let tick = TICK.max(gauges / GAUGES_PER_MILLISECOND);
            std::thread::park_timeout(if self.active > 0 { tick } else { IDLE_TICK.max(tick) });
        }
    }

    /// Looks at all connections once.
    fn turn(&mut self) {
        let now = self.shared.started.elapsed();
        // Knobs may have been turned.
        ask(&self.shared, |_| ());
        // Taken before the list: a connection that ended is not in that, and one that ends later is known when it is taken.
        let endings = self.shared.endings.take();
        let mut connections = std::mem::take(&mut self.connections);
        self.shared.list_connections(&mut connections);
        let at_least = turns(self.active);
        self.active = 0;
        for connection in &connections {
            self.active += u32::from(self.visit(now, connection, at_least));
        }
        endings.iter().for_each(|ending| self.end(now, ending));
        // Not held on to: a connection that was closed meanwhile closes its socket with the last of these.
        connections.clear();
        self.connections = connections;
        self.offers.turn(&self.shared);
        if now.saturating_sub(self.memory_at) >= self.memory_tick {
            self.memory_at = now;
            self.look_at_memory(now);
            self.shared.samples.lock().forget(now);
        }
    }

    /// One connection; says whether it is active. The kernel is not asked about it again before `at_least` has passed.
    fn visit(&mut self, now: Duration, connection: &Arc<Connection>, at_least: Duration) -> bool {
        let token = connection.token();
        if !self.seen.contains_key(&token) {
            let changes = self.open(now, token, connection.peer());
            apply(connection, &changes);
            self.offers.on_new(&self.shared, connection);
        }
        let new = || Seen { gauge: Gauge::with_delay(self.delay), ..Seen::default() };
        let seen = self.seen.entry(token).or_insert_with(new);
        seen.gauge.look(now, connection, self.load);
        let active = seen.gauge.is_active(now) || seen.memory != MemoryUse::default();
        if active && now >= seen.due {
            match howdah_net::sample(connection.stream().as_fd(), now, seen.gauge.sums()) {
                Ok(sample) => {
                    seen.memory = MemoryUse {
                        sending: sample.sending.queued,
                        unread: sample.receiving.queued,
                        ..MemoryUse::default()
                    };
                    let changes = ask(&self.shared, |tuner| {
                        let changes = tuner.on_sample(token, sample);
                        if let Some(tuned) = tuner.get(token) {
                            show(self.watcher.as_ref(), connection, tuned);
                            remember(&self.shared, connection, tuned);
                            seen.due = now + tuned.interval().max(at_least);
                            tell(connection, tuned, &mut seen.verdict);
                            keep(now, tuned, &mut seen.said);
                        }
                        changes
                    });
                    apply(connection, &changes);
                }
                Err(error) => tracing::debug!(%error, "looking at a connection"),
            }
        }
        active
    }

    /// The tuner gets to know a connection.
    fn open(&self, now: Duration, token: Token, peer: &Peer) -> Vec<Change> {
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

/// Shows a look to whoever wants to see them.
fn show(watcher: Option<&Watcher>, connection: &Connection, tuned: &howdah_tune::Connection) {
    if let (Some(watcher), Some(sample)) = (watcher, tuned.last()) {
        let (unsent_mark, judgement) = (tuned.unsent_mark(), tuned.judgement());
        watcher.show(&Look { client: connection.peer().ends.client, unsent_mark, sample, judgement });
    }
}

/// Keeps a look for whoever asks what a connection did of late.
fn remember(shared: &Shared, connection: &Connection, tuned: &howdah_tune::Connection) {
    let peer = connection.peer();
    if let Some(sample) = tuned.last() {
        let ends = (peer.ends.client, peer.ends.server);
        shared.samples.lock().look(connection.token(), ends, sample, tuned.judgement());
    }
}

/// Says what limits a connection, when that changes.
fn tell(connection: &Connection, tuned: &howdah_tune::Connection, last: &mut Option<Verdict>) {
    let verdict = tuned.judgement().map(Judgement::verdict);
    if verdict != std::mem::replace(last, verdict)
        && tracing::enabled!(tracing::Level::DEBUG)
        && let Some(explanation) = tuned.explanation()
    {
        tracing::debug!(client = %connection.peer().ends.client, "{explanation}");
    }
}

/// Keeps what is said of a connection while it moves something. The sentence is made anew once a second at most.
fn keep(now: Duration, tuned: &howdah_tune::Connection, said: &mut Option<(Duration, VerdictReport)>) {
    let moves = tuned.judgement().is_some_and(|judgement| judgement.verdict() != Verdict::Idle);
    let is_due = said.as_ref().is_none_or(|(at, _)| now.saturating_sub(*at) >= SAID_ANEW);
    if moves
        && is_due
        && let Some(verdict) = reporting::verdict(tuned)
    {
        *said = Some((now, verdict));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_not_asked_more_often_the_more_connections_there_are() {
        assert_eq!(turns(0), Duration::ZERO);
        assert!(turns(300) <= Duration::from_millis(100), "as often as the judge wants, up to so many");
        assert_eq!(turns(SAMPLES_PER_SECOND / 2), Duration::from_millis(500));
        assert_eq!(turns(u32::MAX), TURN_MOST);
    }
}
