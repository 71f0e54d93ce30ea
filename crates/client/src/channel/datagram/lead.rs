//! Receiving: by one thread at a time, for all.

use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use howdah_net::{Place, Sent, Wait};
use howdah_rpc::client::datagram::Message;

use super::super::call::Call;
use super::super::{Answer, CallError};
use super::carrier::Carrier;

/// Datagrams that are taken before timers are looked at again.
const BATCH: usize = 64;

/// What a receive came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// A datagram came.
    Some,
    /// None yet.
    None,
}

impl Carrier {
    /// Waits for a call's outcome, and receives for all meanwhile if nobody else does.
    pub(in super::super) fn wait_for(&self, call: &Arc<Call>) -> Result<Answer, CallError> {
        let mut has_followed = false;
        loop {
            if let Ok(outcome) = call.outcome() {
                // We may have been chosen to lead, and need not any more.
                if has_followed && self.lacks_leader() {
                    self.hand_over();
                }
                return outcome;
            }
            if self.driver.is_late(call) {
                self.decide(|core| core.give_up(call.xid, self.driver.time()));
            } else if self.lead(|| call.is_done() || self.driver.is_late(call)) {
                self.hand_over();
            } else {
                has_followed = true;
                self.follow(call);
            }
        }
    }

    /// Somebody waits who cannot receive: the thread must.
    pub(in super::super) fn hurry(&self) {
        self.is_urgent.store(true, Ordering::SeqCst);
        self.socket.wake();
    }

    /// Whether somebody waits who cannot receive.
    pub(super) fn is_urgent(&self) -> bool {
        self.is_urgent.load(Ordering::SeqCst)
    }

    /// Whether somebody could lead who does not yet.
    pub(super) fn lacks_leader(&self) -> bool {
        !self.inbox.is_locked()
    }

    /// Receives for all until `enough`, unless another does. The thread keeps the timers meanwhile.
    fn lead(&self, enough: impl Fn() -> bool) -> bool {
        let Some(mut message) = self.inbox.try_lock() else { return false };
        while !enough() {
            self.receive(&mut message, Wait::Some);
        }
        true
    }

    /// The same for the thread, which keeps the timers too: until that time, or somebody waits who can do it.
    pub(super) fn lead_until(&self, end: Instant) {
        let Some(mut message) = self.inbox.try_lock() else { return };
        let is_wanted = || !self.is_idle() && self.followers.lock().is_empty() && Instant::now() < end;
        while is_wanted() && !self.driver.is_closing() {
            // Nothing is in hand while we wait for the next one.
            self.is_receiving.store(true, Ordering::SeqCst);
            let until = self.tick(Some(end));
            if let Err(error) = self.socket.wait_to_receive(until) {
                tracing::error!(%error, "waiting for datagrams");
            }
            for _ in 0..BATCH {
                if self.receive(&mut message, Wait::No) == Progress::None {
                    break;
                }
            }
        }
        drop(message);
        self.hand_over();
    }

    /// Waits while another leads.
    fn follow(&self, call: &Arc<Call>) {
        self.followers.lock().push(Arc::clone(call));
        call.park(None, || self.lacks_leader());
        let mut followers = self.followers.lock();
        if let Some(at) = followers.iter().position(|follower| Arc::ptr_eq(follower, call)) {
            followers.swap_remove(at);
        }
    }

    /// We do not lead any more: wakes one who may, or the thread if somebody waits who cannot.
    fn hand_over(&self) {
        loop {
            let followers = self.followers.lock();
            let Some(next) = followers.iter().find(|call| !call.is_done()).cloned() else { break };
            drop(followers);
            if next.nudge() {
                return;
            }
        }
        if self.is_urgent() && !self.is_idle() {
            self.socket.wake();
        }
    }

    /// Receives a datagram, and gives out what it brings.
    fn receive(&self, message: &mut Message, wait: Wait) -> Progress {
        let mut places = message.places().map(|(buffer, most)| Place { buffer, most });
        self.is_receiving.store(true, Ordering::SeqCst);
        let received = self.socket.receive(&mut places, wait);
        self.is_receiving.store(false, Ordering::SeqCst);
        match received {
            Ok(Sent::Bytes(count)) => {
                self.on_message(message, count);
                Progress::Some
            }
            Ok(Sent::WouldBlock) => Progress::None,
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                self.on_refused(error);
                Progress::Some
            }
            Err(error) => {
                tracing::debug!(server = %self.server(), %error, "receiving");
                Progress::None
            }
        }
    }
}
