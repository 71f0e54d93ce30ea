//! Clients of QUIC that have moved: where exports judge them otherwise, they must connect again, which proves that they are there.

use std::io;

use crate::connection::Connection;
use crate::exports::are_judged_alike;
use crate::service::Service;
use crate::{Ends, Peer};

const WHY: &str = "exports judge its new address otherwise";

/// Looks where a client is whose bytes have just come, before its calls run.
///
/// # Errors
/// Its connection ends.
pub(super) fn check_move(service: &Service, connection: &Connection) -> io::Result<()> {
    let moved = || {
        let lane = connection.stream().quic()?;
        Some((lane, lane.moved_to()?))
    };
    let Some((lane, client)) = moved() else { return Ok(()) };
    let peer = connection.peer();
    let now = Peer { ends: Ends { client, ..peer.ends }, ..peer.clone() };
    if are_judged_alike(&service.exports(), peer, &now) {
        return Ok(());
    }
    tracing::info!(client = %peer.ends.client, now = %client, "a client of QUIC must connect again: {WHY}");
    lane.end_connection(WHY);
    Err(io::Error::other(WHY))
}
