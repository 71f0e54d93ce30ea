//! The thread of each lane: connects it, and again when the connection breaks; receives when replies are due and nobody waits; has
//! late calls given up.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use howdah_net::{Connection, Readiness, Wait};
use howdah_rpc::client::core::LaneWork;

use super::backoff::Backoff;
use super::connecting::RECEIVE_TICK;
use super::lane::Lane;
use super::lead::{hand_over, lead};
use super::link::Link;
use super::lost_path::look_at_path;
use super::send::flush;
use super::shared::Shared;
use super::sizing::Sizing;
use super::starttls::is_tls;

/// How long replies may wait in a socket while nobody receives, and how often a lane in use is looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long a lane without calls is looked at before its thread sleeps until it is woken.
const WAKEFUL: Duration = Duration::from_secs(1);
/// How long a lane listens for calls of the server before it looks whether it is to do something else.
const LISTEN_TICK: Duration = Duration::from_secs(1);
/// How long to try to connect from the port of a connection before: something on the way may still hold that for open.
const SAME_PORT_PATIENCE: Duration = Duration::from_secs(3);

/// Starts the thread of a lane. It ends when the channel is closed; do not join it, since it may be connecting.
pub(super) fn start(shared: &Arc<Shared>, lane: usize) -> io::Result<()> {
    let thread = LaneThread::new(Arc::clone(shared), Arc::clone(&shared.lanes[lane]));
    thread::Builder::new().name(format!("lane-{lane}")).spawn(|| thread.run()).map(drop)
}

/// One lane's thread.
struct LaneThread {
    shared: Arc<Shared>,
    lane: Arc<Lane>,
    backoff: Backoff,
    /// Where the connection went that broke, and the port that it came from.
    left: Option<(SocketAddr, u16)>,
    /// When the lane last had calls, and when its connection was last judged.
    used: Instant,
    watched: Instant,
    sizing: Sizing,
}

impl LaneThread {
    fn new(shared: Arc<Shared>, lane: Arc<Lane>) -> Self {
        let (backoff, left, sizing) = Default::default();
        Self { shared, lane, backoff, left, used: Instant::now(), watched: Instant::now(), sizing }
    }

    fn run(mut self) {
        while !self.shared.driver.is_closing() {
            let index = self.lane.index;
            let work = self.shared.decide(|core| core.next_work(index, self.shared.time()));
            match (work, self.lane.link()) {
                (LaneWork::CleanUp, Some(link)) => self.clean_up(&link),
                (LaneWork::Serve, Some(link)) if link.is_broken() => self.shared.break_off(&self.lane, &link),
                (LaneWork::Serve, Some(link)) => {
                    self.serve();
                    self.watch(&link);
                }
                (LaneWork::End, Some(link)) => link.end(),
                (LaneWork::Wait, _) => self.lane.wakeup.wait(RECEIVE_TICK),
                (LaneWork::Sleep, _) => self.sleep(),
                (LaneWork::Connect | LaneWork::CleanUp | LaneWork::Serve | LaneWork::End, _) => {
                    self.connect()
                }
            }
            self.look_after_calls();
        }
        if let Some(link) = self.lane.link() {
            link.end();
        }
    }

    /// Looks after a lane that is connected.
    fn serve(&mut self) {
        let (shared, lane) = (&self.shared, &self.lane);
        flush(shared, lane, None, Instant::now());
        let listening = lane.link().filter(|link| link.may_bring_calls());
        if shared.load(lane) == 0 {
            lane.is_urgent.store(false, Ordering::SeqCst);
            let is_at_rest = self.used.elapsed() > WAKEFUL;
            let has_work = || shared.load(lane) > 0 || shared.driver.is_closing();
            match &listening {
                Some(link) if is_at_rest => {
                    self.sizing.rest(shared, lane, || listen(shared, lane, link, has_work));
                    self.used = Instant::now();
                    return;
                }
                None if is_at_rest => {
                    self.sizing.rest(shared, lane, || lane.wakeup.sleep(has_work));
                    self.used = Instant::now();
                    return;
                }
                Some(_) => {}
                None => return lane.wakeup.wait(TICK),
            }
        } else {
            self.used = Instant::now();
        }
        let is_in_use = || listening.is_some() || shared.load(lane) > 0;
        if !(lane.is_urgent.load(Ordering::SeqCst) && lane.lacks_leader()) {
            lane.wakeup.wait(TICK);
        }
        if is_in_use() && !shared.has_unsent(lane) && lane.lacks_leader() {
            let until = Instant::now() + RECEIVE_TICK;
            let is_wanted = || is_in_use() && lane.followers.lock().is_empty() && Instant::now() < until;
            if lead(shared, lane, Wait::Some, || !is_wanted() || shared.driver.is_closing()) {
                hand_over(shared, lane);
            }
        }
    }

    /// Cleans up after a broken connection. A reply that was received in part is received again.
    fn clean_up(&mut self, link: &Link) {
        link.break_off();
        if link.may_bring_calls()
            && let Some(on_cut) = &self.shared.on_calls_cut
        {
            on_cut();
        }
        let abandoned = link.peer.lock().abandon();
        self.lane.set_link(None);
        self.sizing.close(&self.shared, &self.lane);
        // Its calls go out on the connection that stands.
        let has_successor = self.lane.second.stands();
        if !has_successor && self.shared.driver.core().uses(self.lane.index) {
            link.connection.free_port();
            self.left = Some((link.connection.peer(), link.connection.local().port()));
        }
        let (index, now) = (self.lane.index, self.shared.time());
        self.shared.decide(|core| core.on_disconnected(index, abandoned, has_successor, now));
        self.send_moved();
    }

    /// The lane is not used, and has no calls.
    fn sleep(&self) {
        let (index, shared) = (self.lane.index, &self.shared);
        self.lane.second.end();
        shared.decide(|core| core.leave_path(index));
        let has_work = || {
            let core = shared.driver.core();
            core.load(index) > 0 || core.uses(index) || shared.driver.is_closing()
        };
        self.lane.wakeup.sleep(has_work);
    }

    /// Sees whether the connection still delivers.
    fn watch(&mut self, link: &Link) {
        let (shared, lane) = (&self.shared, &self.lane);
        self.sizing.glance(shared, lane, link);
        if self.watched.elapsed() < RECEIVE_TICK {
            return;
        }
        self.watched = Instant::now();
        self.sizing.look(shared, lane, link);
        review(shared);
        look_at_path(shared, lane, link, self.watched, true);
        shared.decide(|core| core.watch(lane.index, shared.time()));
    }

    /// Tries to connect, and waits a while if that fails.
    fn connect(&mut self) {
        let began = Instant::now();
        let opened = match self.lane.second.take() {
            Some(connection) => self.shared.connector.prepare(connection),
            None => self.open(),
        };
        match opened {
            Ok(connection) => {
                self.backoff.succeeded();
                self.lane.set_address(connection.peer());
                tracing::info!(lane = self.lane.index, address = %self.lane.address(), "connected");
                self.on_connected(connection);
            }
            Err(error) => {
                let wait = self.backoff.failed().saturating_sub(began.elapsed());
                let (lane, address) = (self.lane.index, self.lane.address());
                if is_tls(&error) {
                    tracing::warn!(lane, %address, %error, "securing a connection");
                } else {
                    tracing::debug!(lane, %address, %error, ?wait, "connecting");
                }
                self.lane.turn_away();
                self.shared.decide(|core| core.on_connect_failed(lane, self.shared.time()));
                self.send_moved();
                self.wait(wait);
            }
        }
    }

    /// Sends calls that moved from this lane to others: the threads of those lanes may be blocked in a receive.
    fn send_moved(&self) {
        self.shared.lanes.iter().for_each(|lane| flush(&self.shared, lane, None, Instant::now()));
    }

    /// Sends all admitted calls again, in order.
    fn on_connected(&self, connection: Connection) {
        let (shared, lane) = (&self.shared, &self.lane);
        // No thread may send between these two steps: a call that counts as sent on this connection must be sent there.
        let desk = lane.desk.lock();
        let number = shared.driver.core().on_connected(lane.index, shared.time());
        lane.set_link(Some(Arc::new(Link::new(connection, number))));
        drop(desk);
        hand_over(shared, lane);
        while lane.live_link().is_some() && shared.has_unsent(lane) && !lane.desk.is_locked() {
            flush(shared, lane, None, Instant::now());
        }
        // What that asked for.
        shared.decide(|_| ());
    }

    /// Connects, from the port of the connection that broke if that may be: servers that know a call by it, as Linux does, then
    /// answer what is sent again as they did the first time.
    fn open(&mut self) -> io::Result<Connection> {
        let (address, connector) = (self.lane.address(), &self.shared.connector);
        let left = self.left.take().filter(|(server, _)| *server == address);
        if let Some((_, port)) = left
            && let Ok(connection) = connector.open_from(address, port, SAME_PORT_PATIENCE)
        {
            return Ok(connection);
        }
        let opened = connector.open(address);
        if opened.is_err() {
            // The path is down for both: the port is tried again when it may be back.
            self.left = left;
        }
        opened
    }

    fn wait(&self, duration: Duration) {
        let end = Instant::now() + duration;
        while !self.shared.driver.is_closing() && self.shared.driver.core().uses(self.lane.index) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.lane.wakeup.wait(left.min(RECEIVE_TICK));
            self.look_after_calls();
        }
    }

    fn look_after_calls(&self) {
        self.shared.decide(|core| core.look_after_calls(self.lane.index, self.shared.time()));
    }
}

/// Takes calls of the server on a lane without calls of its own, until that has some.
fn listen(shared: &Arc<Shared>, lane: &Lane, link: &Link, has_work: impl Fn() -> bool) {
    let wanted = Readiness { readable: true, writable: false };
    while !has_work() && !link.is_broken() && link.may_bring_calls() {
        lead(shared, lane, Wait::No, &has_work);
        if link.connection.wait(wanted, LISTEN_TICK).is_err() {
            // The next receive says why.
            return;
        }
    }
}

/// Looks at the lanes together, if it is time to and nobody else does: there may be more or fewer of them then.
fn review(shared: &Arc<Shared>) {
    let Some(mut review) = shared.review.try_lock() else { return };
    let now = shared.time();
    if !review.is_due(now) {
        return;
    }
    let (moved, is_silent, flight, lanes) = {
        let core = shared.driver.core();
        (core.moved(), core.is_silent(), core.explain().1, core.lanes().0)
    };
    let evidence = shared.lanes[..lanes].iter().filter_map(|lane| *lane.evidence.lock());
    let evidence = evidence.max_by(|a, b| a.rate.total_cmp(&b.rate));
    let path = (!shared.sizes.same_host()).then(|| shared.lanes[0].address().ip());
    let looked = review.look(now, moved, evidence, is_silent, (path, flight));
    drop(review);
    if let Some(evidence) = looked {
        let round_trip = evidence.facts.round_trip();
        shared.decide(|core| core.on_look(evidence.limit, evidence.writes, round_trip, now));
    }
}
