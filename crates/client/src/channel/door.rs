//! The channel itself: opened, called through, closed.

use std::sync::Arc;
use std::time::Duration;

use howdah_net::QuicDialer;
use howdah_rpc::client::core::changes_nothing;
use howdah_rpc::client::envelope::CallSession;
use howdah_tune::paths::FoundPath;
use howdah_wire::rpc::Credentials;

use super::connecting::{Proof, Quic};
use super::datagram::Datagrams;
use super::driver::Driver;
use super::starttls::{StartTls, null_call};
use super::streams::Streams;
use super::{
    Answer, CallError, ChannelOptions, ChannelProtocol, ChannelReport, ConnectStep, LANES_MAX,
    LaneConnectError, Lanes, Pending, Request, Target, Transport,
};

/// The way to one server. Any number of threads call at once.
pub struct Channel(Way);

/// How messages travel.
enum Way {
    Streams(Streams),
    Datagrams(Datagrams),
}

impl Channel {
    /// Connects to a server. Of its lanes one must come up; the others follow on their own.
    pub fn open(target: Target, options: ChannelOptions) -> Result<Self, LaneConnectError> {
        Self::open_for(target, options, ChannelProtocol::default())
    }

    /// The same for a protocol that does more around its calls.
    pub fn open_for(
        target: Target,
        options: ChannelOptions,
        mut protocol: ChannelProtocol,
    ) -> Result<Self, LaneConnectError> {
        if let Lanes::Fixed(asked) = options.lanes
            && !(1..=LANES_MAX).contains(&asked)
        {
            return Err(LaneConnectError::Lanes { asked, most: LANES_MAX });
        }
        if options.tls.is_some() && target.transport.is_datagrams() {
            return Err(LaneConnectError::TlsOverDatagrams);
        }
        let Some(&address) = target.addresses.first() else { return Err(LaneConnectError::NoAddress) };
        if target.transport.is_datagrams() {
            if !protocol.is_empty() {
                return Err(LaneConnectError::ProtocolOverDatagrams);
            }
            let driver = Driver::new(&options, None, None);
            return Ok(Self(Way::Datagrams(Datagrams::open(address, &options, driver)?)));
        }
        if target.transport == Transport::Quic {
            let Some((tls, program)) = &options.tls else { return Err(LaneConnectError::QuicWithoutTls) };
            let program = *program;
            let proof = tls.has_certificate().then(|| -> Proof {
                Box::new(move |connection, deadline| {
                    null_call(connection, program, Credentials::None, deadline).map(|_| ())
                })
            });
            let quic = Quic { dialer: QuicDialer::new(tls.clone()), proof };
            return Ok(Self(Way::Streams(Streams::open(&target.addresses, &options, protocol, Some(quic))?)));
        }
        if let Some((tls, program)) = &options.tls {
            protocol.steps.insert(0, Arc::new(StartTls(tls.clone(), *program)) as Arc<dyn ConnectStep>);
        }
        Ok(Self(Way::Streams(Streams::open(&target.addresses, &options, protocol, None)?)))
    }

    /// Makes a call and waits for its answer.
    pub fn call(&self, request: Request<'_>) -> Result<Answer, CallError> {
        self.start(request).wait()
    }

    /// Makes a call, to be waited for later. It goes out when as much may be in flight.
    pub fn start(&self, request: Request<'_>) -> Pending {
        if !changes_nothing(request.class) && self.driver().core().is_away() {
            // A change that is sent to a server that is away would have to be waited for: whether it still is shows a question, whose
            // answer is heard in time, or is not.
            let _ = self.call_anyway(Request::null(request.program, request.version)).wait();
        }
        self.call_anyway(request)
    }

    fn call_anyway(&self, request: Request<'_>) -> Pending {
        match &self.0 {
            Way::Streams(streams) => Pending::by_lanes(streams.start(request), Arc::clone(streams.shared())),
            Way::Datagrams(datagrams) => datagrams.start(request),
        }
    }

    fn driver(&self) -> &Driver {
        match &self.0 {
            Way::Streams(streams) => &streams.shared().driver,
            Way::Datagrams(datagrams) => datagrams.driver(),
        }
    }

    /// The channel as it is now.
    pub fn report(&self) -> ChannelReport {
        match &self.0 {
            Way::Streams(streams) => streams.report(),
            Way::Datagrams(datagrams) => datagrams.report(),
        }
    }

    /// The largest READ or WRITE that should be made now, in bytes; without one, the server's own limit holds. Larger ones
    /// may end as [`CallError::TooLarge`].
    pub fn transfer_size(&self) -> Option<usize> {
        match &self.0 {
            Way::Streams(_) => None,
            Way::Datagrams(datagrams) => Some(datagrams.transfer_size()),
        }
    }

    /// What was expected of the path when the channel was opened: what was found minutes ago, or what is assumed of its round trip.
    pub fn expected_path(&self) -> Option<FoundPath> {
        match &self.0 {
            Way::Streams(streams) => streams.expected_path(),
            Way::Datagrams(_) => None,
        }
    }

    /// Shows its session to the owner, with the channel's time, if it has one of this kind. Must not wait nor call. Calls that may go out
    /// then do.
    pub fn with_session<S: CallSession, R>(&self, show: impl FnOnce(&mut S, Duration) -> R) -> Option<R> {
        match &self.0 {
            Way::Streams(streams) => {
                let shared = streams.shared();
                shared.decide(|core| core.with_session(show, shared.time()))
            }
            Way::Datagrams(_) => None,
        }
    }

    /// The server calls over no connection, although [it was invited to](Request::invites_calls).
    pub fn expect_no_calls(&self) {
        if let Way::Streams(streams) = &self.0 {
            streams.expect_no_calls();
        }
    }

    /// No call is further behind the latest one than this from now on. A larger number than before does not count.
    pub(crate) fn limit_calls(&self, most: usize) {
        self.driver().core().limit_calls(most);
    }

    /// How many bulk calls should be in flight, as it looks now.
    pub fn in_flight_target(&self) -> usize {
        self.driver().core().explain().1.target
    }
}
