//! A channel over datagrams: opened, called through, closed.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use howdah_net::UdpClient;
use howdah_rpc::client::datagram::{Report, Settings};

use super::super::hub::Hub;
use super::super::{CallError, ConnectError, LaneReport, Payload, Pending, Request};
use super::carrier::Carrier;
use super::tender::Tender;
use howdah_rpc::client::lanes::Place;

/// One socket, and the thread that keeps the timers.
pub(in super::super) struct Datagrams {
    carrier: Arc<Carrier>,
    tender: Option<JoinHandle<()>>,
}

impl Datagrams {
    /// A socket for the server at this address. Nothing is sent yet: whether anybody is there shows with the first call.
    pub(in super::super) fn open(address: SocketAddr, hub: Arc<Hub>) -> Result<Self, ConnectError> {
        let failed = |cause| ConnectError::Failed { address, cause: Arc::new(cause) };
        let settings = hub.connect_settings();
        let socket = UdpClient::connect(address, settings.reserved_port, settings.tick).map_err(failed)?;
        let settings = Settings {
            path_mtu: socket.path_mtu(),
            receive_room: socket.receive_room().map_err(failed)?,
            first_transfer: hub.first_transfer(),
            ..Settings::default()
        };
        Self::with(socket, hub, &settings)
    }

    /// With this socket, on a path of which this is known.
    pub(super) fn with(socket: UdpClient, hub: Arc<Hub>, settings: &Settings) -> Result<Self, ConnectError> {
        let carrier = Arc::new(Carrier::new(socket, hub, settings));
        let tender = Tender::new(Arc::clone(&carrier));
        let tender = thread::Builder::new()
            .name("datagrams".into())
            .spawn(|| tender.run())
            .map_err(|error| ConnectError::Thread(Arc::new(error)))?;
        Ok(Self { carrier, tender: Some(tender) })
    }

    /// Makes a call. It goes out when it may be in flight.
    pub(in super::super) fn start(&self, mut request: Request<'_>) -> Pending {
        let (volume, now) = (request.volume(), Instant::now());
        // A datagram goes in one piece, and may have to go again.
        let payload = request.payload.take().map(Payload::in_memory).transpose();
        let lost = payload.map(|payload| request.payload = payload).err();
        let hub = &self.carrier.hub;
        let call = Arc::new(hub.prepare(request, volume, Place::None, now, None));
        match lost {
            Some(error) => hub.finish(&call, Err(CallError::Payload(Arc::new(error))), now),
            None => self.carrier.start(&call),
        }
        Pending::by_datagrams(call, Arc::clone(&self.carrier))
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
        if let Some(tender) = self.tender.take() {
            // One that panicked has said so already.
            let _ = tender.join();
        }
        self.carrier.abandon(&CallError::Closed);
    }
}
