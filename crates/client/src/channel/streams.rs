//! A channel over streams: its lanes, and a tender for each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_net::{Connection, is_local};
use howdah_tune::paths::FoundPath;

use super::aside::Aside;
use super::call::Call;
use super::hub::Hub;
use super::lane::Lane;
use super::link::Link;
use super::paths;
use super::shared::Shared;
use super::sizes::Sizes;
use super::starttls::is_tls;
use super::{CallError, ChannelReport, ConnectError, LANES_MAX, Lanes, Request};
use howdah_rpc::client::lanes::Growth;

/// Lanes, and the threads that tend them.
pub(super) struct Streams {
    shared: Arc<Shared>,
    /// What was expected of the path at the start.
    expected: Option<FoundPath>,
}

impl Streams {
    /// Connects to a server. Of its lanes one must come up; the others follow on their own.
    pub(super) fn open(addresses: &[SocketAddr], hub: Arc<Hub>) -> Result<Self, ConnectError> {
        let addresses: Arc<[SocketAddr]> = addresses.into();
        let first = Lane::new(0, Arc::clone(&addresses), Arc::clone(&hub));
        let (same_host, took) = connect_first(&first, addresses.len())?;
        let remembers = hub.remembers_path() && !same_host;
        let known = remembers.then(|| paths::recall(first.address().ip())).flatten();
        let expected = remembers.then(|| known.unwrap_or_else(|| FoundPath::assumed(took)));
        Self::over(first, &addresses, hub, same_host, (known, expected))
    }

    /// Over a first lane that is connected to a server on this host, or not. What is known of the path, and what is expected of it.
    fn over(
        first: Lane,
        addresses: &Arc<[SocketAddr]>,
        hub: Arc<Hub>,
        same_host: bool,
        (known, expected): (Option<FoundPath>, Option<FoundPath>),
    ) -> Result<Self, ConnectError> {
        let most = match hub.lanes() {
            Lanes::Fixed(count) => count,
            Lanes::Auto if same_host => 1,
            Lanes::Auto => LANES_MAX,
        };
        let new = |index| Lane::new(index, Arc::clone(addresses), Arc::clone(&hub));
        let lanes = std::iter::once(first).chain((1..most).map(new)).map(Arc::new).collect();
        // Who asked for a number gets that. On this host nothing is far.
        let aside = (hub.lanes() == Lanes::Auto && !same_host).then(|| Aside::new(Arc::new(new(most))));
        let mut growth = Growth::new(hub.lanes(), same_host);
        if let Some(expected) = expected {
            tracing::debug!("{expected}");
            hub.window.expect(expected.expected_of_both());
            growth = growth.starting_from(expected.lanes());
        }
        let shared = Arc::new(Shared::new(hub, lanes, aside, Sizes::new(same_host), (growth, known)));
        shared.hub.has_lanes(&shared);
        let streams = Self { shared, expected };
        tracing::debug!("{}", streams.shared.sizes.explain().unwrap_or_default());
        streams.shared.start_tenders().map_err(|error| ConnectError::Thread(Arc::new(error)))?;
        Ok(streams)
    }

    /// What was expected of the path at the start: what was found minutes ago, or else what is assumed of its round trip.
    pub(super) fn expected_path(&self) -> Option<FoundPath> {
        self.expected
    }

    /// Makes a call, once it may be in flight.
    pub(super) fn start(&self, request: Request<'_>) -> Arc<Call> {
        self.shared.start(request)
    }

    /// The lanes as they are now, in a report.
    pub(super) fn report(&self, report: ChannelReport) -> ChannelReport {
        let review = self.shared.review.lock();
        ChannelReport {
            lanes: self.shared.lanes().iter().map(|lane| lane.report()).collect(),
            aside: self.shared.used_lanes().nth(self.shared.lanes().len()).map(|lane| lane.report()),
            why_so_many: review.growth.why(),
            now: self.shared.limit_now(),
            limits: review.tally.report(),
            sizes: self.shared.sizes.explain(),
            known_path: review.known,
            tls: self.shared.lanes().iter().find_map(|lane| lane.tls()),
            ..report
        }
    }
}

/// Connects the first lane, to the first address that answers; whether that is one of this host, and how long it took.
fn connect_first(lane: &Lane, addresses: usize) -> Result<(bool, Duration), ConnectError> {
    let mut failure = ConnectError::NoAddress;
    for _ in 0..addresses {
        let (address, hub, began) = (lane.address(), &lane.hub, Instant::now());
        let connected = Connection::open(address, &hub.connect_settings());
        let took = began.elapsed();
        match connected.and_then(|connection| hub.secure(connection)) {
            Ok(connection) => {
                let same_host = is_local(connection.local().ip(), connection.peer().ip());
                lane.set_link(Some(Arc::new(Link::new(connection, hub.next_link(), hub.time()))));
                return Ok((same_host, took));
            }
            Err(error) if is_tls(&error) => {
                return Err(ConnectError::Tls { address, cause: Arc::new(error) });
            }
            Err(error) => failure = ConnectError::Failed { address, cause: Arc::new(error) },
        }
        lane.turn_away();
    }
    Err(failure)
}

impl Drop for Streams {
    fn drop(&mut self) {
        self.shared.hub.close();
        for lane in self.shared.all_lanes() {
            if let Some(link) = lane.link() {
                link.end();
            }
            lane.bell.ring();
        }
        let now = Instant::now();
        for lane in self.shared.all_lanes() {
            for call in lane.calls() {
                lane.give_up(call.xid, now);
                self.shared.hub.finish(&call, Err(CallError::Closed), now);
            }
        }
    }
}

#[cfg(test)]
mod tests;
