//! The lane for small calls that would wait for bulk: behind what the sender has put into the socket and into the line, and while bbr
//! holds the connection back to look at the round trip.

use std::time::Duration;

/// A small call that would wait for so long is worth a connection: longer than for a few records of bulk on a local network.
pub(super) const WORTH_IT: Duration = Duration::from_millis(50);
/// After so long it is tried again with a server that took no such connection.
const REST: Duration = Duration::from_secs(600);

/// Whether it is used.
#[derive(Debug)]
pub(super) struct SmallLane {
    /// Its number.
    pub(super) lane: usize,
    pub(super) is_used: bool,
    refused: Option<Duration>,
}

impl SmallLane {
    /// One that is not used yet.
    pub(super) fn new(lane: usize) -> Self {
        Self { lane, is_used: false, refused: None }
    }

    /// It is of use now: whether it is used from now on, and was not.
    pub(super) fn want(&mut self, now: Duration) -> bool {
        let may_be_tried = self.refused.is_none_or(|refused| now.saturating_sub(refused) > REST);
        !self.is_used && may_be_tried && !std::mem::replace(&mut self.is_used, true)
    }

    /// The server did not take its connection.
    pub(super) fn on_refusal(&mut self, now: Duration) {
        (self.is_used, self.refused) = (false, Some(now));
    }
}
