//! A channel over streams: opened, called through, closed.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_net::{Connection, is_local};
use howdah_rpc::client::core::LanePlan;
use howdah_rpc::client::envelope::ResultsCover;
use howdah_rpc::client::lanes::Growth;
use howdah_tune::paths::FoundPath;
use parking_lot::Mutex;

use super::call::Call;
use super::connecting::{Connector, Quic};
use super::driver::Driver;
use super::evidence::Evidence;
use super::lane::Lane;
use super::link::Link;
use super::review::Review;
use super::send::flush;
use super::shared::Shared;
use super::sizes::Sizes;
use super::starttls::is_tls;
use super::{
    CallError, ChannelOptions, ChannelProtocol, ChannelReport, LANES_MAX, LaneConnectError, LaneLimit,
    LaneReport, Lanes, LimitReport, QuicFacts, Request, TlsReport, lane_thread, paths,
};

/// How many streams of QUIC carry bulk data, if nobody says: of eight, one that waits for a lost packet holds up one eighth of the calls.
const QUIC_LANES: usize = 8;

/// Lanes, and a thread for each that is used.
pub(super) struct Streams {
    shared: Arc<Shared>,
    options: ChannelOptions,
    /// What was expected of the path at the start.
    expected: Option<FoundPath>,
}

/// The first connection, and what it tells of the server.
struct First {
    connection: Connection,
    /// Which of the addresses it is.
    at: usize,
    same_host: bool,
}

impl Streams {
    /// Connects to a server. Of its lanes one must come up; the others follow on their own.
    pub(super) fn open(
        addresses: &[SocketAddr],
        options: &ChannelOptions,
        protocol: ChannelProtocol,
        quic: Option<Quic>,
    ) -> Result<Self, LaneConnectError> {
        let steps = protocol.steps.clone();
        let connector = Connector::new(options, steps, quic);
        let (first, took) = connect_first(&connector, addresses)?;
        let remembers = options.remembers_path && !first.same_host;
        let known = remembers.then(|| paths::recall(first.connection.peer().ip())).flatten();
        let expected = remembers.then(|| known.unwrap_or_else(|| FoundPath::assumed(took)));
        Self::over(connector, first, addresses, (options, protocol), (known, expected))
    }

    /// Over a first connection. What is known of the path, and what is expected of it.
    fn over(
        connector: Connector,
        first: First,
        addresses: &[SocketAddr],
        (options, protocol): (&ChannelOptions, ChannelProtocol),
        (known, expected): (Option<FoundPath>, Option<FoundPath>),
    ) -> Result<Self, LaneConnectError> {
        let First { connection, at, same_host } = first;
        let lanes = match options.lanes {
            // They share one congestion control, so that nothing is gained by beginning with fewer.
            Lanes::Auto if connector.is_quic() => Lanes::Fixed(QUIC_LANES),
            lanes => lanes,
        };
        let most = match lanes {
            Lanes::Fixed(count) => count,
            Lanes::Auto if same_host => 1,
            Lanes::Auto => LANES_MAX,
        };
        // Who asked for a number gets that. On this host nothing is far.
        let has_small = options.lanes == Lanes::Auto && !same_host;
        let mut growth = Growth::new(lanes, same_host);
        if let Some(expected) = expected {
            tracing::debug!("{expected}");
            growth = growth.starting_from(expected.lanes());
        }
        let driver = Driver::new(options, Some(LanePlan { most, has_small, growth }), protocol.session);
        driver.core().expect(expected.and_then(|expected| expected.expected_of_both()));
        let addresses: Arc<[SocketAddr]> = addresses.into();
        let lane = |index| Arc::new(Lane::new(index, Arc::clone(&addresses)));
        let lanes: Vec<_> = (0..most + usize::from(has_small)).map(lane).collect();
        lanes[0].set_address(addresses[at]);
        let number = driver.core().on_connected(0, driver.time());
        lanes[0].set_link(Some(Arc::new(Link::new(connection, number))));
        let shared = Arc::new(Shared {
            driver,
            connector,
            lanes,
            sizes: Sizes::new(same_host),
            review: Mutex::new(Review::new(known, options.remembers_path)),
            answer_call: protocol.answer_call,
            on_calls_cut: protocol.on_calls_cut,
            attend_session: protocol.attend_session,
            start_thread: lane_thread::start,
        });
        let streams = Self { shared, options: options.clone(), expected };
        tracing::debug!("{}", streams.shared.sizes.explain().unwrap_or_default());
        let (used, _) = streams.shared.driver.core().lanes();
        for lane in 0..used {
            streams.start_thread(lane)?;
        }
        Ok(streams)
    }

    fn start_thread(&self, lane: usize) -> Result<(), LaneConnectError> {
        self.shared.lanes[lane].has_thread.store(true, std::sync::atomic::Ordering::SeqCst);
        lane_thread::start(&self.shared, lane).map_err(|error| LaneConnectError::Thread(Arc::new(error)))
    }

    /// What was expected of the path at the start: what was found minutes ago, or else what is assumed of its round trip.
    pub(super) fn expected_path(&self) -> Option<FoundPath> {
        self.expected
    }

    /// Makes a call, once it may be in flight.
    pub(super) fn start(&self, mut request: Request<'_>) -> Arc<Call> {
        let started = Instant::now();
        if let Err(error) = protectable(&mut request) {
            let call = self.shared.driver.prepare(request, started).call;
            call.finish(Err(error));
            return call;
        }
        let (call, lane) = self.shared.start(request, started);
        if let Some(lane) = lane.map(|lane| &self.shared.lanes[lane]) {
            flush(&self.shared, lane, None, started);
            lane.wakeup.wake_sleeper();
        }
        call
    }

    /// The server calls over no connection, although it was invited to.
    pub(super) fn expect_no_calls(&self) {
        let links = self.shared.lanes.iter().filter_map(|lane| lane.link());
        links.for_each(|link| link.expect_calls(false));
    }

    /// What all threads share.
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The channel as it is now.
    pub(super) fn report(&self) -> ChannelReport {
        let shared = &self.shared;
        let (lanes, why_so_many) = shared.driver.core().lanes();
        let small = shared.driver.core().small_lane();
        let review = shared.review.lock();
        ChannelReport {
            lanes: (0..lanes).map(|lane| self.lane_report(lane)).collect(),
            small_lane: small.map(|lane| self.lane_report(lane)),
            why_so_many,
            now: self.limit_now(lanes),
            limits: review.report(),
            sizes: shared.sizes.explain(),
            known_path: review.known_path(),
            tls: shared.lanes[..lanes].iter().find_map(|lane| self.tls(lane)),
            quic: shared.lanes[..lanes].iter().find_map(|lane| quic(lane)),
            ..ChannelReport::of(&shared.driver.core(), shared.time())
        }
    }

    fn lane_report(&self, index: usize) -> LaneReport {
        let (lane, sketch) = (&self.shared.lanes[index], self.shared.driver.core().sketch(index));
        LaneReport {
            server: lane.address(),
            local: lane.live_link().map(|link| link.connection.local()),
            round_trip: sketch.meter.round_trip(),
            rate: sketch.meter.rate(),
            calls: sketch.load,
            received: sketch.received,
            connections: sketch.connections,
        }
    }

    /// What limits them now, if anything is asked for.
    fn limit_now(&self, lanes: usize) -> Option<LimitReport> {
        let all = self.shared.lanes[..lanes].iter().filter_map(|lane| *lane.evidence.lock());
        let Evidence { limit, writes, rate, facts } = all.max_by(|a, b| a.rate.total_cmp(&b.rate))?;
        let report = LimitReport { limit, writes, share: 1.0, rate, facts };
        (limit != LaneLimit::Idle && !self.shared.driver.core().is_silent()).then_some(report)
    }

    /// TLS on a lane's connection, while it has one.
    fn tls(&self, lane: &Lane) -> Option<TlsReport> {
        let (suite, certificate) = lane.live_link()?.connection.tls_facts()?;
        let own = self.options.tls.as_ref().and_then(|(tls, _)| tls.certificate()).cloned();
        Some(TlsReport { suite, certificate, own })
    }
}

/// What the connection of a lane knows, if it is a stream of QUIC.
fn quic(lane: &Lane) -> Option<QuicFacts> {
    let (connection, socket) = lane.live_link()?.connection.quic()?.facts();
    Some(QuicFacts { connection, socket })
}

/// Whether a handshake of QUIC failed because one side does not trust the other.
fn is_refused_by_quic(connector: &Connector, error: &io::Error) -> bool {
    connector.is_quic() && error.kind() == io::ErrorKind::InvalidData
}

/// Makes sure that a call can be protected. Arguments that are signed or encrypted must lie in memory.
fn protectable(request: &mut Request<'_>) -> Result<(), CallError> {
    let Some(protection) = std::mem::replace(&mut request.protection, Ok(None))? else { return Ok(()) };
    if protection.cover() != ResultsCover::Header
        && let Some(payload) = request.payload.take()
    {
        let payload = payload.in_memory().map_err(|error| CallError::Payload(Arc::new(error)))?;
        request.payload = Some(payload);
    }
    request.protection = Ok(Some(protection));
    Ok(())
}

/// Connects to the first address that answers; how long that took.
fn connect_first(
    connector: &Connector,
    addresses: &[SocketAddr],
) -> Result<(First, Duration), LaneConnectError> {
    let mut failure = LaneConnectError::NoAddress;
    for (at, &address) in addresses.iter().enumerate() {
        let began = Instant::now();
        let connected = connector.open_first(address);
        let took = began.elapsed();
        match connected.and_then(|connection| connector.prepare(connection)) {
            Ok(connection) => {
                let same_host = is_local(connection.local().ip(), connection.peer().ip());
                return Ok((First { connection, at, same_host }, took));
            }
            Err(error) if is_tls(&error) || is_refused_by_quic(connector, &error) => {
                return Err(LaneConnectError::Tls { address, cause: Arc::new(error) });
            }
            Err(error) => failure = LaneConnectError::Failed { address, cause: Arc::new(error) },
        }
    }
    Err(failure)
}

impl Drop for Streams {
    fn drop(&mut self) {
        let shared = &self.shared;
        shared.driver.close();
        shared.decide(|core| core.close(shared.time()));
        for lane in &shared.lanes {
            if let Some(link) = lane.link() {
                link.end();
            }
            lane.wakeup.wake();
        }
    }
}

#[cfg(test)]
mod tests;
