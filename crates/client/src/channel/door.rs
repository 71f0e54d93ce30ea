//! The channel itself: opened, called through, closed.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use howdah_net::Connection;

use super::hub::Hub;
use super::lane::Lane;
use super::link::Link;
use super::options::LANES_MAX;
use super::shared::Shared;
use super::tender::Tender;
use super::{
    Answer, CallError, ChannelOptions, ChannelReport, ConnectError, Pending, Request, Target, Transport, lead,
};

/// The way to one server. Any number of threads call at once.
pub struct Channel {
    shared: Arc<Shared>,
    tenders: Vec<JoinHandle<()>>,
}

impl Channel {
    /// Connects to a server. Of its lanes one must come up; the others follow on their own.
    pub fn open(target: Target, options: ChannelOptions) -> Result<Self, ConnectError> {
        let count = options.lanes.unwrap_or(1);
        if !(1..=LANES_MAX).contains(&count) {
            return Err(ConnectError::Lanes { asked: count, most: LANES_MAX });
        }
        let Some(&address) = target.addresses.first() else { return Err(ConnectError::NoAddress) };
        if target.transport == Transport::Udp {
            let cause = Arc::new(io::ErrorKind::Unsupported.into());
            return Err(ConnectError::Failed { address, cause });
        }
        let hub = Arc::new(Hub::new(options));
        let lanes: Vec<_> = (0..count)
            .zip(target.addresses.iter().cycle())
            .map(|(index, &address)| Arc::new(Lane::new(index, address, Arc::clone(&hub))))
            .collect();
        connect_one(&lanes, &hub)?;
        let mut channel = Self { shared: Arc::new(Shared::new(hub, lanes)), tenders: Vec::new() };
        channel.start_tenders()?;
        Ok(channel)
    }

    /// Makes a call and waits for its answer.
    pub fn call(&self, request: Request<'_>) -> Result<Answer, CallError> {
        lead::wait_for(&self.shared.start(request))
    }

    /// Makes a call, to be waited for later. Blocks while as much is in flight as may be.
    pub fn start(&self, request: Request<'_>) -> Pending {
        Pending::new(self.shared.start(request))
    }

    /// The channel as it is now.
    pub fn report(&self) -> ChannelReport {
        self.shared.report()
    }

    /// How many bulk calls should be in flight, as it looks now.
    pub fn in_flight_target(&self) -> usize {
        self.shared.hub.window.explain().1.target
    }

    fn start_tenders(&mut self) -> Result<(), ConnectError> {
        for lane in &self.shared.lanes {
            let tender = Tender::new(Arc::clone(&self.shared), Arc::clone(lane));
            let thread = thread::Builder::new()
                .name(format!("lane-{}", lane.index))
                .spawn(|| tender.run())
                .map_err(|error| ConnectError::Thread(Arc::new(error)))?;
            self.tenders.push(thread);
        }
        Ok(())
    }
}

/// Connects the first lane whose address answers.
fn connect_one(lanes: &[Arc<Lane>], hub: &Hub) -> Result<(), ConnectError> {
    let mut failure = ConnectError::NoAddress;
    for lane in lanes {
        match Connection::open(lane.address, &hub.connect_settings()) {
            Ok(connection) => {
                lane.set_link(Some(Arc::new(Link::new(connection, hub.now()))));
                return Ok(());
            }
            Err(error) => {
                failure = ConnectError::Failed { address: lane.address, cause: Arc::new(error) };
            }
        }
    }
    Err(failure)
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.shared.hub.close();
        for lane in &self.shared.lanes {
            if let Some(link) = lane.link() {
                link.break_off();
            }
            lane.bell.ring();
        }
        for tender in self.tenders.drain(..) {
            // A tender that panicked has said so already.
            let _ = tender.join();
        }
        for lane in &self.shared.lanes {
            for call in lane.calls() {
                lane.leave(call.xid, false);
                self.shared.hub.finish(&call, Err(CallError::Closed));
            }
        }
    }
}
