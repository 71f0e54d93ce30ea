//! Looks whether the path below a lane's connection is lost, and has another connection tried while it is.

use std::sync::Arc;
use std::time::Instant;

use howdah_rpc::client::lanes::{OutageFinding, SentState};

use super::lane::Lane;
use super::link::Link;
use super::shared::Shared;

/// Looks, if that is due. `may_ask`: the server can be asked for a sign of life over this connection now.
pub(super) fn look_at_path(shared: &Arc<Shared>, lane: &Lane, link: &Link, now: Instant, may_ask: bool) {
    // A connection of QUIC follows a path that changes.
    if link.is_broken() || link.connection.quic().is_some() {
        return;
    }
    let Some(mut attempts) = lane.second.look(now) else { return };
    let time = shared.driver.time_at(now);
    let is_wanted = shared.driver.core().wants_sent_state(lane.index, time);
    let state = if is_wanted { sent_state(lane, link) } else { None };
    let found = shared.decide(|core| core.look_at_path(lane.index, may_ask, state, time));
    let Some((finding, round_trip)) = found else { return };
    let mut stands =
        || attempts.stands(|failed| lane.address_after(failed), shared.connector.settings(), round_trip);
    match finding {
        OutageFinding::Ask => {}
        OutageFinding::Fine => attempts.end(),
        OutageFinding::Stirring => drop(stands()),
        OutageFinding::Lost => {
            if stands() {
                tracing::debug!(lane = lane.index, "the second connection works: it takes the calls");
                shared.decide(|core| core.on_replaced(lane.index));
            }
        }
    }
}

fn sent_state(lane: &Lane, link: &Link) -> Option<SentState> {
    match link.connection.delivery() {
        Ok(delivery) => Some(SentState {
            is_in_vain: delivery.is_in_vain,
            is_under_way: delivery.is_under_way,
            since_acknowledgement: delivery.since_acknowledgement,
            round_trip: delivery.round_trip,
        }),
        Err(error) => {
            tracing::debug!(lane = lane.index, %error, "looking at a connection");
            None
        }
    }
}
