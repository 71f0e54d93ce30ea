//! A channel over streams: its lanes, and a tender for each.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use howdah_net::Connection;

use super::call::Call;
use super::hub::Hub;
use super::lane::Lane;
use super::link::Link;
use super::shared::Shared;
use super::tender::Tender;
use super::{CallError, ConnectError, LaneReport, Request};

/// Lanes, and the threads that tend them.
pub(super) struct Streams {
    shared: Arc<Shared>,
}

impl Streams {
    /// Connects to a server. Of its lanes one must come up; the others follow on their own.
    pub(super) fn open(addresses: &[SocketAddr], hub: Arc<Hub>) -> Result<Self, ConnectError> {
        let addresses: Arc<[SocketAddr]> = addresses.into();
        let lanes: Vec<_> = (0..hub.lanes())
            .map(|index| Arc::new(Lane::new(index, Arc::clone(&addresses), Arc::clone(&hub))))
            .collect();
        connect_first(&lanes[0], addresses.len())?;
        let streams = Self { shared: Arc::new(Shared::new(hub, lanes)) };
        streams.start_tenders()?;
        Ok(streams)
    }

    /// Makes a call, once it may be in flight.
    pub(super) fn start(&self, request: Request<'_>) -> Arc<Call> {
        self.shared.start(request)
    }

    /// The lanes as they are now.
    pub(super) fn report(&self) -> Vec<LaneReport> {
        self.shared.lanes.iter().map(|lane| lane.report()).collect()
    }

    fn start_tenders(&self) -> Result<(), ConnectError> {
        for lane in &self.shared.lanes {
            let tender = Tender::new(Arc::clone(&self.shared), Arc::clone(lane));
            // It ends by itself when the channel is closed; nobody should wait for one that is just connecting.
            thread::Builder::new()
                .name(format!("lane-{}", lane.index))
                .spawn(|| tender.run())
                .map_err(|error| ConnectError::Thread(Arc::new(error)))?;
        }
        Ok(())
    }
}

/// Connects the first lane, to the first address that answers.
fn connect_first(lane: &Arc<Lane>, addresses: usize) -> Result<(), ConnectError> {
    let mut failure = ConnectError::NoAddress;
    for _ in 0..addresses {
        let (address, hub) = (lane.address(), &lane.hub);
        match Connection::open(address, &hub.connect_settings()) {
            Ok(connection) => {
                lane.set_link(Some(Arc::new(Link::new(connection, hub.next_link(), hub.now()))));
                return Ok(());
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
        for lane in &self.shared.lanes {
            if let Some(link) = lane.link() {
                link.break_off();
            }
            lane.bell.ring();
        }
        for lane in &self.shared.lanes {
            for call in lane.calls() {
                lane.leave(call.xid, false);
                self.shared.hub.finish(&call, Err(CallError::Closed));
            }
        }
    }
}
