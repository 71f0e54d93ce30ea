//! Who waits for a reply receives for all ("leads") until its own has come, then hands the lead to another who waits.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use howdah_net::Wait;

use super::call::Call;
use super::lane::Lane;
use super::receive::{Progress, receive};
use super::send::flush;
use super::shared::Shared;
use super::{Answer, CallError};

/// Waits for a call's outcome, and receives for all meanwhile if nobody else does.
pub(super) fn wait_for(shared: &Arc<Shared>, call: &Arc<Call>) -> Result<Answer, CallError> {
    let mut has_followed = false;
    loop {
        let lane = match call.outcome() {
            Ok(outcome) => {
                // We may have been chosen to lead, and need not any more.
                if has_followed
                    && let Some(lane) = call.lane().map(|lane| &shared.lanes[lane])
                    && lane.lacks_leader()
                {
                    hand_over(shared, lane);
                }
                return outcome;
            }
            Err(Some(lane)) => &shared.lanes[lane],
            // Only calls by datagrams have none.
            Err(None) => return Err(CallError::Closed),
        };
        if shared.driver.is_late(call) {
            shared.decide(|core| core.give_up(call.xid, shared.time()));
            flush(shared, lane, None, Instant::now());
        } else if lead(shared, lane, Wait::Some, || {
            call.is_over_here(lane.index) || shared.driver.is_late(call)
        }) {
            hand_over(shared, lane);
        } else {
            has_followed = true;
            follow(lane, call);
        }
    }
}

/// Receives for all until `enough`, unless another does or there is no connection.
pub(super) fn lead(shared: &Arc<Shared>, lane: &Lane, wait: Wait, mut enough: impl FnMut() -> bool) -> bool {
    let Some(link) = lane.live_link() else { return false };
    let Some(mut peer) = link.peer.try_lock() else { return false };
    while !link.is_broken() && !enough() {
        match receive(shared, lane, &link, &mut peer, wait) {
            Progress::Some(now) => flush(shared, lane, Some(&mut peer), now),
            Progress::None if wait == Wait::No => break,
            Progress::None => {}
            Progress::Over => break,
        }
    }
    true
}

/// Waits while another leads.
fn follow(lane: &Lane, call: &Arc<Call>) {
    lane.followers.lock().push(Arc::clone(call));
    call.park(Some(lane.index), || lane.lacks_leader());
    let mut followers = lane.followers.lock();
    if let Some(at) = followers.iter().position(|follower| Arc::ptr_eq(follower, call)) {
        followers.swap_remove(at);
    }
}

/// We do not lead any more: wakes one who may, or the lane's thread if somebody waits who cannot.
pub(super) fn hand_over(shared: &Shared, lane: &Lane) {
    loop {
        let followers = lane.followers.lock();
        let Some(next) = followers.iter().find(|call| !call.is_done()).cloned() else { break };
        drop(followers);
        if next.nudge() {
            return;
        }
    }
    if lane.is_urgent.load(Ordering::SeqCst) && shared.load(lane) > 0 {
        lane.wakeup.wake();
    }
}
