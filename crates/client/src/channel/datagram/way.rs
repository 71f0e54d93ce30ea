//! A channel over datagrams: opened, called through, closed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use howdah_net::UdpClient;
use howdah_rpc::client::datagram::Report;

use super::super::call::Call;
use super::super::hub::Hub;
use super::super::window::Place;
use super::super::{CallError, ConnectError, LaneReport, Request};
use super::carrier::Carrier;
use super::reader::Reader;

/// One socket, and the thread that receives from it.
pub(in super::super) struct Datagrams {
    carrier: Arc<Carrier>,
    reader: Option<JoinHandle<()>>,
}

impl Datagrams {
    /// A socket for the server at this address. Nothing is sent yet: whether anybody is there shows with the first call.
    pub(in super::super) fn open(address: SocketAddr, hub: Arc<Hub>) -> Result<Self, ConnectError> {
        let failed = |cause| ConnectError::Failed { address, cause: Arc::new(cause) };
        let socket = UdpClient::connect(address, hub.connect_settings().reserved_port).map_err(failed)?;
        let first_transfer = hub.first_transfer();
        let carrier = Arc::new(Carrier::new(socket, hub, first_transfer).map_err(failed)?);
        let reader = Reader::new(Arc::clone(&carrier));
        let reader = thread::Builder::new()
            .name("datagrams".into())
            .spawn(|| reader.run())
            .map_err(|error| ConnectError::Thread(Arc::new(error)))?;
        Ok(Self { carrier, reader: Some(reader) })
    }

    /// Makes a call, once it may be in flight.
    pub(in super::super) fn start(&self, request: Request<'_>) -> Arc<Call> {
        let started = Instant::now();
        let hub = &self.carrier.hub;
        let (class, volume, deadline) = (request.class, request.volume(), hub.deadline(started));
        let place = loop {
            if let Some(place) = hub.window.try_enter(class, volume, hub.time()) {
                break Some(place);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break None;
            }
            hub.window.wait(class);
        };
        let call = Arc::new(hub.prepare(request, volume, place.unwrap_or(Place::None), started, None));
        if place.is_some() {
            self.carrier.start(Arc::clone(&call));
        } else {
            hub.finish(&call, Err(CallError::TimedOut));
        }
        call
    }

    /// The size that READs and WRITEs should have now, in bytes.
    pub(in super::super) fn transfer_size(&self) -> usize {
        self.carrier.transfer_size()
    }

    /// What is measured, and what happened.
    pub(in super::super) fn report(&self) -> Report {
        self.carrier.report()
    }

    /// The same as of a lane.
    pub(in super::super) fn lane_report(&self) -> LaneReport {
        self.carrier.lane_report()
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        self.carrier.hub.close();
        self.carrier.socket.wake();
        if let Some(reader) = self.reader.take() {
            // One that panicked has said so already.
            let _ = reader.join();
        }
        self.carrier.abandon(&CallError::Closed);
    }
}
