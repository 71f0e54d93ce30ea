//! The thread beside each lane: connects it, and again when the connection breaks; receives when replies are due and
//! nobody waits; gives up what is late.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use howdah_net::{ConnectSettings, Connection, Wait};

use super::backoff::Backoff;
use super::lane::Lane;
use super::link::Link;
use super::shared::Shared;
use super::sizing::Sizing;
use super::starttls::is_tls;
use howdah_rpc::client::lanes::{Verdict, Watch};

/// How long replies may wait in a socket while nobody receives, and how often a lane in use is looked at.
const TICK: Duration = Duration::from_millis(20);
/// How long a lane without calls is looked at before the tender sleeps until it is woken.
const WAKEFUL: Duration = Duration::from_secs(1);
/// How long a receive waits before it looks whether it is still wanted.
pub(super) const RECEIVE_TICK: Duration = Duration::from_millis(100);

/// How long to try to connect from the port of a connection before: something on the way may still hold that for open.
const SAME_PORT_PATIENCE: Duration = Duration::from_secs(3);

/// One lane's tender.
pub(super) struct Tender {
    shared: Arc<Shared>,
    lane: Arc<Lane>,
    backoff: Backoff,
    /// Where the connection went that broke, and the port that it came from.
    left: Option<(SocketAddr, u16)>,
    /// When the lane last had calls.
    used: Instant,
    /// Judges the connection, and when it last did.
    watch: Watch,
    watched: Instant,
    sizing: Sizing,
}

impl Tender {
    /// A tender for a lane.
    pub(super) fn new(shared: Arc<Shared>, lane: Arc<Lane>) -> Self {
        Self {
            shared,
            lane,
            backoff: Backoff::default(),
            left: None,
            used: Instant::now(),
            watch: Watch::default(),
            watched: Instant::now(),
            sizing: Sizing::default(),
        }
    }

    /// Tends until the channel is closed.
    pub(super) fn run(mut self) {
        while !self.lane.hub.is_closing() {
            match self.lane.link() {
                Some(link) if link.is_broken() => self.bury(&link),
                link if !self.shared.uses(&self.lane) => self.retire(link.as_deref()),
                None => self.connect(),
                Some(link) => {
                    self.tend();
                    self.watch(&link);
                }
            }
            self.look_after_calls();
        }
        if let Some(link) = self.lane.link() {
            link.end();
        }
    }

    /// Looks after a lane that is connected.
    fn tend(&mut self) {
        let lane = &self.lane;
        lane.flush(None, Instant::now());
        if lane.load() == 0 {
            lane.is_urgent.store(false, Ordering::SeqCst);
            if self.used.elapsed() > WAKEFUL {
                self.sizing.rest(lane, || lane.bell.sleep(|| lane.load() > 0 || lane.hub.is_closing()));
                self.used = Instant::now();
            } else {
                lane.bell.wait(TICK);
            }
            return;
        }
        self.used = Instant::now();
        if !(lane.is_urgent.load(Ordering::SeqCst) && lane.lacks_leader()) {
            lane.bell.wait(TICK);
        }
        if lane.load() > 0 && lane.lacks_leader() {
            let until = Instant::now() + RECEIVE_TICK;
            let is_wanted = || lane.load() > 0 && lane.followers.lock().is_empty() && Instant::now() < until;
            if lane.lead(Wait::Some, || !is_wanted() || lane.hub.is_closing()) {
                lane.hand_over();
            }
        }
    }

    /// A connection broke: what was half received is received anew.
    fn bury(&mut self, link: &Link) {
        link.break_off();
        let abandoned = link.peer.lock().abandon();
        if let Some((xid, receive)) = abandoned
            && let Some(call) = self.lane.find(xid)
        {
            call.put_back(receive);
        }
        self.lane.set_link(None);
        self.watch = Watch::default();
        self.sizing.close(&self.lane, &self.shared.sizes);
        // Its calls go out on the connection that stands, and nobody was refused.
        if self.lane.spare.stands() {
            return;
        }
        if self.shared.uses(&self.lane) {
            link.connection.free_port();
            self.left = Some((link.connection.peer(), link.connection.local().port()));
        }
        self.shared.rehome(&self.lane);
        if link.received() == 0 {
            self.shared.on_refusal(&self.lane);
        }
    }

    /// The lane is not used any more: ends its connection once all is answered, and sleeps until it is used again.
    fn retire(&mut self, link: Option<&Link>) {
        match link {
            Some(link) if self.lane.load() > 0 => {
                self.tend();
                self.watch(link);
            }
            Some(link) => link.end(),
            None if self.lane.load() > 0 => {
                self.shared.rehome(&self.lane);
                self.lane.bell.wait(RECEIVE_TICK);
            }
            None => {
                let (lane, shared) = (&self.lane, &self.shared);
                lane.leave_path();
                lane.bell.sleep(|| lane.load() > 0 || shared.uses(lane) || lane.hub.is_closing());
            }
        }
    }

    /// Sees whether the connection still delivers.
    fn watch(&mut self, link: &Link) {
        self.sizing.glance(&self.lane, link, &self.shared.sizes);
        if self.watched.elapsed() < RECEIVE_TICK {
            return;
        }
        self.watched = Instant::now();
        self.sizing.look(&self.lane, link, &self.shared.sizes);
        self.shared.review();
        self.shared.tend_aside();
        if self.lane.look_at_path(link, self.watched, true) {
            self.shared.ask(&self.lane);
        }
        let Some(facts) = self.lane.facts(self.shared.others_heard(&self.lane)) else { return };
        let (lane, address) = (self.lane.index, self.lane.address());
        match self.watch.judge(&facts) {
            Verdict::Fine => {}
            Verdict::Ask => self.shared.ask_all(),
            Verdict::Stuck => {
                if self.lane.is_suspect.swap(true, Ordering::Relaxed) {
                    tracing::debug!(lane, %address, "still stuck");
                } else {
                    tracing::warn!(lane, %address, "stuck while other lanes deliver: its calls move to them");
                }
                self.lane.turn_away();
                link.break_off();
            }
            Verdict::Silent => {
                tracing::warn!(lane, %address, "no answer for a long time: reconnecting and retransmitting");
                link.break_off();
            }
        }
    }

    /// Tries to connect, and waits a while if that fails.
    fn connect(&mut self) {
        let began = Instant::now();
        let opened = match self.lane.spare.take() {
            Some(connection) => self.lane.hub.secure(connection),
            None => self.open(),
        };
        match opened {
            Ok(connection) => {
                self.backoff.succeeded();
                self.lane.set_address(connection.peer());
                tracing::info!(lane = self.lane.index, address = %self.lane.address(), "connected");
                let link = Link::new(connection, self.lane.hub.next_link(), self.lane.hub.time());
                self.lane.connected(Arc::new(link));
                if self.lane.is_suspect.load(Ordering::Relaxed) {
                    self.shared.ask(&self.lane);
                }
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
                self.shared.rehome(&self.lane);
                self.shared.on_refusal(&self.lane);
                self.wait(wait);
            }
        }
    }

    /// Connects, from the port of the connection that broke if that may be: servers that know a call by it, as Linux does, then
    /// answer what is sent again as they did the first time.
    fn open(&mut self) -> io::Result<Connection> {
        let (address, settings) = (self.lane.address(), self.lane.hub.connect_settings());
        let left = self.left.take().filter(|(server, _)| *server == address);
        if let Some((_, port)) = left {
            let timeout = settings.timeout.min(SAME_PORT_PATIENCE);
            let again = ConnectSettings { from: Some(port), timeout, ..settings };
            if let Ok(connection) = self.lane.hub.open(address, &again) {
                return Ok(connection);
            }
        }
        let opened = self.lane.hub.open(address, &settings);
        if opened.is_err() {
            // The path is down for both: the port is tried again when it may be back.
            self.left = left;
        }
        opened
    }

    fn wait(&self, duration: Duration) {
        let end = Instant::now() + duration;
        while !self.lane.hub.is_closing() && self.shared.uses(&self.lane) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.lane.bell.wait(left.min(RECEIVE_TICK));
            self.look_after_calls();
        }
    }

    /// Gives up calls whose time is over; asks the server for a sign of life where that counts.
    fn look_after_calls(&self) {
        let (lane, hub) = (&self.lane, &self.lane.hub);
        let quiet = lane.look_after_calls();
        if lane.live_link().is_some() && hub.absence.should_ask(quiet, hub.time()) {
            self.shared.ask(lane);
        }
    }
}
