//! Receiving: by one thread at a time, for all.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use howdah_net::{Place, Sent, Wait};
use howdah_rpc::client::{Peer, PeerError};

use super::call::Call;
use super::lane::Lane;
use super::link::Link;
use super::{Answer, CallError};

/// Data from this length on is waited for in the kernel until all of it is there: fewer system calls.
const WAIT_FOR_ALL: usize = 32 << 10;

/// What a receive came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Something came.
    Some,
    /// Nothing yet.
    None,
    /// The connection is over.
    Over,
}

/// Waits for a call's outcome, and receives for all meanwhile if nobody else does.
pub(super) fn wait_for(call: &Arc<Call>) -> Result<Answer, CallError> {
    let mut has_followed = false;
    loop {
        let lane = match call.outcome() {
            Ok(outcome) => {
                // We may have been chosen to lead, and need not any more.
                if has_followed
                    && let Some(lane) = call.lane()
                    && lane.lacks_leader()
                {
                    lane.hand_over();
                }
                return outcome;
            }
            Err(Some(lane)) => lane,
            // Only calls by datagrams have none.
            Err(None) => return Err(CallError::Closed),
        };
        if lane.hub.is_late(call) {
            lane.hub.give_up(&lane, call);
        } else if lane.lead(Wait::Some, || call.is_over_here(&lane) || lane.hub.is_late(call)) {
            lane.hand_over();
        } else {
            has_followed = true;
            lane.follow(call);
        }
    }
}

impl Lane {
    /// Receives for all until `enough`, unless another does or there is no connection.
    pub(super) fn lead(&self, wait: Wait, mut enough: impl FnMut() -> bool) -> bool {
        let Some(link) = self.live_link() else { return false };
        let Some(mut peer) = link.peer.try_lock() else { return false };
        while !link.is_broken() && !enough() {
            match self.receive(&link, &mut peer, wait) {
                Progress::None if wait == Wait::No => break,
                Progress::Over => break,
                _ => {}
            }
        }
        true
    }

    /// Whether somebody could lead who does not yet.
    pub(super) fn lacks_leader(&self) -> bool {
        self.live_link().is_some_and(|link| !link.peer.is_locked())
    }

    /// Waits while another leads.
    fn follow(self: &Arc<Self>, call: &Arc<Call>) {
        self.followers.lock().push(Arc::clone(call));
        call.park(Some(self), || self.lacks_leader());
        let mut followers = self.followers.lock();
        if let Some(at) = followers.iter().position(|follower| Arc::ptr_eq(follower, call)) {
            followers.swap_remove(at);
        }
    }

    /// We do not lead any more: wakes one who may, or the tender if somebody waits who cannot.
    pub(super) fn hand_over(&self) {
        loop {
            let followers = self.followers.lock();
            let Some(next) = followers.iter().find(|call| !call.is_done()).cloned() else { break };
            drop(followers);
            if next.nudge() {
                return;
            }
        }
        if self.is_urgent.load(Ordering::SeqCst) && self.load() > 0 {
            self.bell.ring();
        }
    }

    /// Receives once, and gives out the replies that are whole.
    pub(super) fn receive(&self, link: &Link, peer: &mut Peer, wait: Wait) -> Progress {
        let progress = match receive_bytes(link, peer, wait, self.expects_data()) {
            Ok(Sent::Bytes(0)) => {
                tracing::debug!(lane = self.index, address = %self.address(), "the server closed the connection");
                Progress::Over
            }
            Ok(Sent::Bytes(count)) => {
                let now = Instant::now();
                link.on_received(count, self.hub.time_at(now));
                self.hub.on_heard(self.address(), self.hub.time_at(now));
                if self.is_suspect.load(Ordering::Relaxed) && self.is_suspect.swap(false, Ordering::Relaxed) {
                    tracing::info!(lane = self.index, address = %self.address(), "delivers");
                }
                match self.give_out(peer, now) {
                    Ok(()) => {
                        link.set_mid_reply(peer.is_partial());
                        self.flush(Some(peer), now);
                        Progress::Some
                    }
                    Err(error) => {
                        // Of what is no RPC, the calls' outcome tells.
                        if !matches!(error, PeerError::NotRpc(_)) {
                            tracing::warn!(lane = self.index, address = %self.address(), %error, "receiving");
                        }
                        self.on_nonsense(error);
                        Progress::Over
                    }
                }
            }
            Ok(Sent::WouldBlock) => Progress::None,
            Err(error) => {
                tracing::debug!(lane = self.index, address = %self.address(), %error, "receiving");
                Progress::Over
            }
        };
        if progress == Progress::Over {
            link.break_off();
            self.bell.ring();
        }
        progress
    }

    fn give_out(&self, peer: &mut Peer, now: Instant) -> Result<(), PeerError> {
        while let Some(reply) = peer.poll(|xid| self.claim(xid))? {
            if let Some(call) = self.on_answered(reply.xid, now) {
                self.hub.on_reply(&call, reply, now);
            }
        }
        Ok(())
    }
}

fn receive_bytes(link: &Link, peer: &mut Peer, wait: Wait, bulk: bool) -> std::io::Result<Sent> {
    let room = peer.room(bulk);
    let first = Place { buffer: room.first, most: room.most };
    if room.is_promised && room.most >= WAIT_FOR_ALL && wait == Wait::Some {
        return link.connection.receive(&mut [first], Wait::All);
    }
    match room.next {
        Some((buffer, most)) => link.connection.receive(&mut [first, Place { buffer, most }], wait),
        None => link.connection.receive(&mut [first], wait),
    }
}
