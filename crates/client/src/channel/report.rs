//! What a channel says of itself.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use howdah_net::{ConnectionFacts, QuicSocketFacts};
use howdah_rpc::client::core::{Core, ProcedureReport};
use howdah_rpc::client::datagram::Report;
use howdah_tls::CertificateFacts;
use howdah_tune::flight::Choice;
use howdah_tune::paths::FoundPath;
use howdah_units::{rate, size, time};

use super::call::Call;
use super::{GrowthReason, LimitReport};

/// A channel as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelReport {
    /// Its lanes.
    pub lanes: Vec<LaneReport>,
    /// That for small calls, if there is one.
    pub small_lane: Option<LaneReport>,
    /// Why so many.
    pub why_so_many: GrowthReason,
    /// Whether the server is away: only of a channel with [`Patience::WhileHeard`](super::Patience).
    pub is_away: bool,
    /// How long the server has been silent while calls wait; none below 5 s.
    pub silent: Option<Duration>,
    /// Bytes that READs and WRITEs moved.
    pub read: u64,
    /// See `read`.
    pub written: u64,
    /// What limits now; none while nothing is asked for, or over datagrams.
    pub now: Option<LimitReport>,
    /// What limited reads and writes for most of the time in which there were any.
    pub limits: Vec<LimitReport>,
    /// How its connections are sized on this host, why, and what would lift it; none over datagrams.
    pub sizes: Option<String>,
    /// What was known of the path when the channel was opened.
    pub known_path: Option<FoundPath>,
    /// TLS, if it protects the channel.
    pub tls: Option<TlsReport>,
    /// The connection of QUIC that its lanes are streams of.
    pub quic: Option<QuicFacts>,
    /// Bulk calls in flight.
    pub in_flight: usize,
    /// How many may be, and why so many.
    pub flight: Choice,
    /// What was called, by program, version and procedure.
    pub procedures: Vec<ProcedureReport>,
    /// What is measured of datagrams, if messages travel so.
    pub datagrams: Option<Report>,
}

impl ChannelReport {
    /// What the decisions say; what belongs to lanes or datagrams is missing.
    pub(super) fn of(core: &Core<Arc<Call>>, now: Duration) -> Self {
        let (in_flight, flight) = core.explain();
        let moved = core.moved();
        Self {
            lanes: Vec::new(),
            small_lane: None,
            why_so_many: GrowthReason::Asked,
            is_away: core.is_away(),
            silent: core.silent(now),
            read: moved.bytes.saturating_sub(moved.written),
            written: moved.written,
            now: None,
            limits: Vec::new(),
            sizes: None,
            known_path: None,
            tls: None,
            quic: None,
            in_flight,
            flight,
            procedures: core.procedures(),
            datagrams: None,
        }
    }
}

/// TLS as the last connection has it.
#[derive(Debug, Clone, PartialEq)]
pub struct TlsReport {
    /// The cipher suite.
    pub suite: &'static str,
    /// What the server's certificate says.
    pub certificate: Option<CertificateFacts>,
    /// What ours says, if we have one.
    pub own: Option<CertificateFacts>,
}

/// What a connection of QUIC knows, and the UDP socket below it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuicFacts {
    /// The connection.
    pub connection: ConnectionFacts,
    /// Its socket.
    pub socket: QuicSocketFacts,
}

impl fmt::Display for QuicFacts {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, socket) = (&self.connection, &self.socket);
        let lost = 100.0 * path.packets_lost as f64 / path.packets_sent.max(1) as f64;
        write!(
            formatter,
            "QUIC: round trip {}, packets of {} bytes, {lost:.2} % of {} sent were lost",
            time(path.round_trip),
            path.packet_size,
            path.packets_sent
        )?;
        match socket.drops {
            0 => Ok(()),
            drops => write!(
                formatter,
                "; this host dropped {drops}: the UDP receive buffer of {} was full (net.core.rmem_max bounds it: raise that, or give howdah CAP_NET_ADMIN)",
                size(socket.receive_buffer)
            ),
        }
    }
}

/// A lane as it is now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LaneReport {
    /// The server's address.
    pub server: SocketAddr,
    /// Our address, while it is connected.
    pub local: Option<SocketAddr>,
    /// How long a small call takes on it, smoothed; `None` before the first.
    pub round_trip: Option<Duration>,
    /// What it delivers while it has bulk calls to carry, in bytes per second; 0 before the first.
    pub rate: f64,
    /// Calls that it carries.
    pub calls: usize,
    /// Bytes received over all of its connections.
    pub received: u64,
    /// How often it was connected.
    pub connections: u64,
}

impl fmt::Display for LaneReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: ", self.server)?;
        match self.local {
            Some(local) => write!(formatter, "from {local}, ")?,
            None => write!(formatter, "not connected, ")?,
        }
        if let Some(trip) = self.round_trip {
            write!(formatter, "round trip {}, ", time(trip))?;
        }
        write!(formatter, "{}, {} calls", rate(self.rate), self.calls)
    }
}
