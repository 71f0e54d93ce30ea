//! The thread that keeps the timers, and receives when replies are due and nobody waits.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::carrier::Carrier;

/// How long replies may wait in the socket while nobody receives.
const TICK: Duration = Duration::from_millis(20);
/// How long it looks whether there are calls before it sleeps until it is woken, which costs who calls first.
const WAKEFUL: Duration = Duration::from_secs(1);
/// How long it receives before it looks whether that is still wanted.
const TURN: Duration = Duration::from_millis(100);

/// The thread.
pub(super) struct DatagramThread {
    carrier: Arc<Carrier>,
    /// When there were calls.
    used: Instant,
    /// Since when there are, while nothing is heard.
    waiting_since: Option<Instant>,
}

impl DatagramThread {
    pub(super) fn new(carrier: Arc<Carrier>) -> Self {
        Self { carrier, used: Instant::now(), waiting_since: None }
    }

    /// Runs until the channel is closed.
    pub(super) fn run(mut self) {
        while !self.carrier.driver.is_closing() {
            let now = Instant::now();
            let is_idle = self.carrier.is_idle();
            if !is_idle {
                self.used = now;
            }
            self.complain(is_idle, now);
            let is_wakeful = now.saturating_duration_since(self.used) < WAKEFUL;
            let is_hurried = !is_idle && self.carrier.is_urgent() && self.carrier.lacks_leader();
            if !is_hurried {
                let until = self.carrier.tick(is_wakeful.then_some(now + TICK));
                self.carrier.wait_to_be_woken(until);
            }
            self.carrier.decide(|core| core.give_up_late(self.carrier.driver.time()));
            if !self.carrier.is_idle() && self.carrier.lacks_leader() {
                self.carrier.lead_until(Instant::now() + TURN);
            }
        }
    }

    /// Says so when calls wait for long.
    fn complain(&mut self, is_idle: bool, now: Instant) {
        if is_idle {
            self.waiting_since = None;
            return;
        }
        let since = *self.waiting_since.get_or_insert(now);
        let (waited, driver) = (now.saturating_duration_since(since), &self.carrier.driver);
        self.carrier.decide(|core| core.on_waiting(waited, driver.time_at(now)));
    }
}
