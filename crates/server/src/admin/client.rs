//! Who is connected, as plain data: clients, their connections, and what limits them.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tuning::{ConnectionTlsReport, GoneClient, QuicReport};

/// Who is connected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clients {
    /// `forced`, `unprivileged`, or `off`: then nobody looks at connections, and all are idle.
    pub mode: String,
    /// The busiest first.
    pub clients: Vec<Client>,
    /// Clients that left in the last minutes, by address.
    #[serde(default)]
    pub gone: BTreeMap<IpAddr, GoneClient>,
    /// Why records of NFSv4 clients and hosts with locks cannot be written, if they cannot: those who are not recorded wait.
    #[serde(default)]
    pub unwritable: Option<String>,
}

/// A client: an IPv4 address, or an IPv6 network of 64 bits, as everywhere in the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Client {
    /// Its address; the network, if it uses several of it.
    pub client: IpAddr,
    /// It is this host.
    pub is_local: bool,
    /// How many it has.
    pub connections: usize,
    /// Bytes per second that leave us: replies.
    pub sent_per_second: f64,
    /// Bytes per second that come: calls.
    pub received_per_second: f64,
    /// Calls received, of the connections that there are.
    pub calls: u64,
    /// Its connections, by what limits them; the busiest first.
    pub groups: Vec<Group>,
}

/// Connections of a client that the same thing limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Group {
    /// What limits them; `idle` if nothing does: nobody asks for more.
    pub verdict: String,
    /// By port.
    pub connections: Vec<Lane>,
    /// Over how long the rates are: of the connection that was looked at for longest.
    #[serde(default)]
    pub interval_seconds: f64,
    /// Bytes per second that leave us.
    pub sent_per_second: f64,
    /// Bytes per second that come.
    pub received_per_second: f64,
    /// What limits the busiest of them, its figures, and what can be done.
    pub sentence: String,
    /// The figures behind it.
    pub evidence: Option<String>,
    /// What can be done, and on which side.
    pub advice: Option<String>,
    /// Where the time of all of them went.
    pub recent: Recent,
}

/// One connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lane {
    /// The client's address and port.
    pub client: SocketAddr,
    /// Bytes per second that leave us.
    pub sent_per_second: f64,
    /// Bytes per second that come.
    pub received_per_second: f64,
    /// TLS, if it protects the connection.
    #[serde(default)]
    pub tls: Option<ConnectionTlsReport>,
    /// What its connection of QUIC knows, if it is a stream of one.
    #[serde(default)]
    pub quic: Option<QuicReport>,
    /// Where its time went.
    pub recent: Recent,
}

/// Where the time went of late, of the direction that moved more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recent {
    /// Over how long: a minute, or less if the connection is younger; of several connections added up.
    pub seconds: f64,
    /// Bytes sent in that time.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// Seconds under each verdict. Time in which nothing moved is `idle`.
    pub verdict_seconds: BTreeMap<String, f64>,
}
