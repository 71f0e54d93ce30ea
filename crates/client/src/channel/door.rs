//! The channel itself: opened, called through, closed.

use std::sync::Arc;
use std::time::Instant;

use howdah_rpc::client::lanes::Place;
use howdah_tune::paths::FoundPath;

use super::call::changes_nothing;
use super::datagram::Datagrams;
use super::hub::Hub;
use super::streams::Streams;
use super::{
    Answer, CallError, ChannelOptions, ChannelReport, ConnectError, LANES_MAX, Lanes, Pending, Request,
    Target, Why,
};

/// The way to one server. Any number of threads call at once.
pub struct Channel {
    hub: Arc<Hub>,
    way: Way,
}

/// How messages travel.
enum Way {
    Streams(Streams),
    Datagrams(Datagrams),
}

impl Channel {
    /// Connects to a server. Of its lanes one must come up; the others follow on their own.
    pub fn open(target: Target, options: ChannelOptions) -> Result<Self, ConnectError> {
        if let Lanes::Fixed(asked) = options.lanes
            && !(1..=LANES_MAX).contains(&asked)
        {
            return Err(ConnectError::Lanes { asked, most: LANES_MAX });
        }
        if options.tls.is_some() && target.transport.is_datagrams() {
            return Err(ConnectError::TlsOverDatagrams);
        }
        let Some(&address) = target.addresses.first() else { return Err(ConnectError::NoAddress) };
        let hub = Arc::new(Hub::new(options));
        let way = match target.transport.is_datagrams() {
            false => Way::Streams(Streams::open(&target.addresses, Arc::clone(&hub))?),
            true => Way::Datagrams(Datagrams::open(address, Arc::clone(&hub))?),
        };
        Ok(Self { hub, way })
    }

    /// Makes a call and waits for its answer.
    pub fn call(&self, request: Request<'_>) -> Result<Answer, CallError> {
        self.start(request).wait()
    }

    /// Makes a call, to be waited for later. It goes out when as much may be in flight.
    pub fn start(&self, request: Request<'_>) -> Pending {
        if self.hub.absence.is_away() && !changes_nothing(request.class) && self.is_still_away(&request) {
            return self.refuse(request);
        }
        match &self.way {
            Way::Streams(streams) => Pending::new(streams.start(request)),
            Way::Datagrams(datagrams) => datagrams.start(request),
        }
    }

    /// Whether the server says nothing even now: a change that is sent to it would have to be waited for.
    fn is_still_away(&self, request: &Request<'_>) -> bool {
        let asked = Request::null(request.program, request.version);
        matches!(self.call(asked), Err(CallError::Away))
    }

    /// A call that is not made.
    fn refuse(&self, request: Request<'_>) -> Pending {
        let (volume, now) = (request.volume(), Instant::now());
        let call = Arc::new(self.hub.prepare(request, volume, Place::None, now, None));
        self.hub.finish(&call, Err(CallError::Away), now);
        Pending::new(call)
    }

    /// The channel as it is now.
    pub fn report(&self) -> ChannelReport {
        let (in_flight, flight) = self.hub.window.explain();
        let moved = self.hub.moved();
        let report = ChannelReport {
            lanes: Vec::new(),
            aside: None,
            why_so_many: Why::Asked,
            is_away: self.hub.absence.is_away(),
            silent: self.hub.silent(),
            read: moved.bytes.saturating_sub(moved.written),
            written: moved.written,
            now: None,
            limits: Vec::new(),
            sizes: None,
            known_path: None,
            tls: None,
            in_flight,
            flight,
            procedures: self.hub.procedures(),
            datagrams: None,
        };
        match &self.way {
            Way::Streams(streams) => streams.report(report),
            Way::Datagrams(datagrams) => ChannelReport {
                lanes: vec![datagrams.lane_report()],
                datagrams: Some(datagrams.report()),
                ..report
            },
        }
    }

    /// The largest READ or WRITE that should be made now, in bytes; without one, the server's own limit holds. Larger ones
    /// may end as [`CallError::TooLarge`].
    pub fn transfer_size(&self) -> Option<usize> {
        match &self.way {
            Way::Streams(_) => None,
            Way::Datagrams(datagrams) => Some(datagrams.transfer_size()),
        }
    }

    /// What was expected of the path when the channel was opened: what was found minutes ago, or what is assumed of its round trip.
    pub fn expected_path(&self) -> Option<FoundPath> {
        match &self.way {
            Way::Streams(streams) => streams.expected_path(),
            Way::Datagrams(_) => None,
        }
    }

    /// How many bulk calls should be in flight, as it looks now.
    pub fn in_flight_target(&self) -> usize {
        self.hub.window.explain().1.target
    }
}
