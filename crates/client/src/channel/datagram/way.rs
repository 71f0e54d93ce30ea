//! A channel over datagrams: opened, called through, closed.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

use howdah_net::UdpClient;
use howdah_rpc::client::datagram::Settings;

use super::super::call::Call;
use super::super::connecting::Connector;
use super::super::driver::Driver;
use super::super::{CallError, ChannelOptions, ChannelReport, LaneConnectError, Payload, Pending, Request};
use super::carrier::Carrier;
use super::thread::DatagramThread;

/// One socket, and the thread that keeps the timers.
pub(in super::super) struct Datagrams {
    carrier: Arc<Carrier>,
    thread: Option<JoinHandle<()>>,
}

impl Datagrams {
    /// A socket for the server at this address. Nothing is sent yet: whether anybody is there shows with the first call.
    pub(in super::super) fn open(
        address: SocketAddr,
        options: &ChannelOptions,
        driver: Driver,
    ) -> Result<Self, LaneConnectError> {
        let failed = |cause| LaneConnectError::Failed { address, cause: Arc::new(cause) };
        let connector = Connector::new(options, Vec::new(), None);
        let settings = connector.settings();
        let socket = UdpClient::connect(address, settings.reserved_port, settings.tick).map_err(failed)?;
        let settings = Settings {
            path_mtu: socket.path_mtu(),
            receive_room: socket.receive_room().map_err(failed)?,
            first_transfer: options.first_transfer,
            ..Settings::default()
        };
        Self::with(socket, driver, &settings)
    }

    /// With this socket, on a path of which this is known.
    pub(super) fn with(
        socket: UdpClient,
        driver: Driver,
        settings: &Settings,
    ) -> Result<Self, LaneConnectError> {
        let carrier = Arc::new(Carrier::new(socket, driver, settings));
        let its = DatagramThread::new(Arc::clone(&carrier));
        let thread = thread::Builder::new().name("datagrams".into()).spawn(|| its.run());
        let thread = thread.map_err(|error| LaneConnectError::Thread(Arc::new(error)))?;
        Ok(Self { carrier, thread: Some(thread) })
    }

    /// Makes a call. It goes out when it may be in flight.
    pub(in super::super) fn start(&self, mut request: Request<'_>) -> Pending {
        // A datagram goes in one piece, and may have to go again.
        let payload = request.payload.take().map(Payload::in_memory).transpose();
        let lost = payload.map(|payload| request.payload = payload).err();
        let call = match lost {
            Some(error) => self.lose(request, error),
            None => self.carrier.start(request, Instant::now()),
        };
        Pending::by_datagrams(call, Arc::clone(&self.carrier))
    }

    /// A call that is not made, since its payload cannot be read.
    fn lose(&self, request: Request<'_>, error: io::Error) -> Arc<Call> {
        let call = self.carrier.driver.prepare(request, Instant::now()).call;
        call.finish(Err(CallError::Payload(Arc::new(error))));
        call
    }

    /// The decisions, and the time.
    pub(in super::super) fn driver(&self) -> &Driver {
        &self.carrier.driver
    }

    /// The size that READs and WRITEs should have now, in bytes.
    pub(in super::super) fn transfer_size(&self) -> usize {
        self.carrier.transfer_size()
    }

    /// What is measured, and what happened.
    pub(in super::super) fn report(&self) -> ChannelReport {
        let driver = &self.carrier.driver;
        ChannelReport {
            lanes: vec![self.carrier.lane_report()],
            datagrams: Some(self.carrier.report()),
            ..ChannelReport::of(&driver.core(), driver.time())
        }
    }
}

impl Drop for Datagrams {
    fn drop(&mut self) {
        let carrier = &self.carrier;
        carrier.driver.close();
        carrier.decide(|core| core.close(carrier.driver.time()));
        carrier.socket.wake();
        if let Some(thread) = self.thread.take() {
            // One that panicked has said so already.
            let _ = thread.join();
        }
    }
}
