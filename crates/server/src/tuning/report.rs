//! All that is known of connections, as plain data: what limits each, what it was given, where its time went.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How connections are sized, and each of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TuningReport {
    /// `forced`, `unprivileged` or `off`.
    pub mode: String,
    /// The line said at start: the mode, why, and what would lift it.
    pub said: String,
    /// Bytes that all connections may hold in the kernel.
    pub budget_bytes: u64,
    /// Bytes of windows promised to peers.
    pub promised_bytes: u64,
    /// Connections that were turned away because memory was short.
    pub refused_connections: u64,
    /// Connections that are not read for want of memory.
    pub held_connections: u64,
    /// How often a connection came to be one of those.
    pub times_held: u64,
    /// How long a period is, for what is told of the last one.
    pub period_seconds: f64,
    /// Bytes held in the kernel when it was last looked at: by send queues, and unread.
    pub used: MemoryReport,
    /// `none`, `stop-growing`, `take-back` or `refuse`.
    pub pressure: String,
    /// TCP connections, oldest first.
    pub connections: Vec<ConnectionReport>,
    /// Clients, those that have gone of late included.
    pub clients: Vec<ClientReport>,
}

/// All connections of one client: of an IPv4 address, or of the 64 bits of an IPv6 network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClientReport {
    /// Its address.
    pub client: IpAddr,
    /// Connections that it has.
    pub connections: u64,
    /// Connections that it ever had, as far as it is remembered.
    pub opened: u64,
    /// Bytes of windows promised to it.
    pub promised_bytes: u64,
    /// Seconds since it last opened or closed a connection.
    pub seen_seconds_ago: f64,
    /// Where the time of all its connections went.
    pub account: AccountReport,
    /// The same in the last whole period.
    pub last_period: AccountReport,
}

/// Memory of sockets, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryReport {
    /// In our send queues.
    pub sending: u64,
    /// Received and not read.
    pub unread: u64,
    /// Of all TCP sockets of this network namespace.
    pub host_tcp: u64,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionReport {
    /// The client's address and port.
    pub client: SocketAddr,
    /// The address and port that it asked.
    pub server: SocketAddr,
    /// `tcp`.
    pub transport: String,
    /// The client is on this host.
    pub is_local: bool,
    /// It is not read for now, since memory is short and it holds most of it.
    pub is_held: bool,
    /// Seconds since it was accepted.
    pub age_seconds: f64,
    /// TLS, if it protects the connection.
    #[serde(default)]
    pub tls: Option<ConnectionTlsReport>,
    /// What its connection of QUIC knows, if it is a stream of one.
    #[serde(default)]
    pub quic: Option<QuicReport>,
    /// What limits it; none before it has moved something twice.
    pub verdict: Option<VerdictReport>,
    /// The last look at it.
    pub figures: Option<Figures>,
    /// What it was given.
    pub sizes: Sizes,
    /// Where its time went since it was accepted.
    pub account: AccountReport,
    /// The same in the last whole period.
    pub last_period: AccountReport,
}

/// A connection of QUIC: all its streams share it, and these figures.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct QuicReport {
    /// Where the client is now, if that is not where it connected from.
    pub moved_to: Option<SocketAddr>,
    /// How often it came from another address.
    pub moves: u64,
    /// Packets sent to it.
    pub packets_sent: u64,
    /// Packets that were lost on their way to it.
    pub packets_lost: u64,
    /// The longest packet that the path carries, in bytes, without the headers of IP and UDP.
    pub packet_size: u64,
    /// Times that long packets suddenly got lost.
    pub black_holes: u64,
    /// Bytes that the UDP socket of the port can hold of what came (`net.core.rmem_max` bounds it without privilege).
    pub receive_buffer: u64,
    /// Packets that the socket of the port threw away for want of room.
    pub packets_dropped: u64,
}

/// TLS on a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionTlsReport {
    /// The cipher suite.
    pub suite: String,
    /// Where records are made: `user-space`.
    pub records: String,
    /// The name in the client's certificate, if it showed one.
    pub certificate: Option<String>,
    /// The user that it names.
    pub user: Option<String>,
    /// Until when it is valid, in seconds since 1970.
    pub valid_until: Option<i64>,
}

/// What limits a connection, as words of `docs/manual/verdicts.md`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VerdictReport {
    /// Of the direction that moves more.
    pub verdict: String,
    /// On replies, READ for the most part.
    pub sending: String,
    /// On calls, WRITE for the most part.
    pub receiving: String,
    /// How long the last interval was.
    #[serde(default)]
    pub interval_seconds: f64,
    /// Bytes per second that left us in it.
    pub sent_per_second: f64,
    /// Bytes per second that came.
    pub received_per_second: f64,
    /// The verdict with its figures and what can be done.
    pub sentence: String,
    /// The figures behind it.
    pub evidence: String,
    /// What can be done, and on which side.
    pub advice: Option<String>,
}

/// The last sample of a connection. Bytes and seconds; sums are since it was accepted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Figures {
    /// How old they are.
    pub age_seconds: f64,
    /// The smoothed round trip.
    pub rtt_seconds: f64,
    /// The shortest of late.
    pub min_rtt_seconds: f64,
    /// The largest segment.
    pub segment: u64,
    /// Sent, with what was sent again.
    pub sent: u64,
    /// Received.
    pub received: u64,
    /// Sent and not acknowledged.
    pub in_flight: u64,
    /// In the socket and not sent.
    pub unsent: u64,
    /// The congestion window.
    pub congestion_window: u64,
    /// The window that the client offers.
    pub peer_window: Option<u64>,
    /// Memory of the send queue, and its limit.
    pub send_queue: u64,
    /// The send buffer.
    pub send_buffer: u64,
    /// Received and not read.
    pub unread: u64,
    /// The receive buffer.
    pub receive_buffer: u64,
    /// The window that we offer.
    pub window: Option<u64>,
    /// The largest that the scale agreed on can tell.
    pub window_limit: u64,
    /// Calls received.
    pub calls: u64,
    /// Calls received and not answered.
    pub outstanding: u64,
    /// Bytes of replies that the socket did not take yet.
    pub replies_waiting: u64,
}

/// What a connection was given, in bytes; 0: the kernel's own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sizes {
    /// The send buffer asked for.
    pub send_ceiling: u64,
    /// How much may be unsent in the socket.
    pub unsent_mark: u64,
    /// The window promised.
    pub promised_window: u64,
    /// The most that came in a round trip of late: what is used of the window.
    pub used_window: u64,
}

/// Sums over a connection, or several.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AccountReport {
    /// Seconds under each verdict on replies.
    pub sending_seconds: BTreeMap<String, f64>,
    /// Seconds under each verdict on calls.
    pub receiving_seconds: BTreeMap<String, f64>,
    /// How often things happened, by name.
    pub events: BTreeMap<String, u64>,
    /// How much was sent, received, sent again, sent again for nothing; how often packets overtook others.
    pub moved: MovedReport,
}

/// Bytes, but for what says otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MovedReport {
    /// Sent, with what was sent again.
    pub sent: u64,
    /// Received in order.
    pub received: u64,
    /// Sent again.
    pub retransmitted: u64,
    /// Sent again though the client had it.
    pub spurious: u64,
    /// How often packets of ours were seen to overtake others.
    pub reorderings: u64,
    /// Segments of the client's that came before earlier ones: lost on the way, or overtaken.
    pub out_of_order: u64,
}
