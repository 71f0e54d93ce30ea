//! Who is at the other end of a connection or a datagram, and how messages travel there.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use howdah_tls::CertificateFacts;

use crate::address::is_local;
use crate::path_mtu::path_mtu;

/// How messages travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Transport {
    /// On a stream, in records.
    #[default]
    Tcp,
    /// Each in a datagram.
    Udp,
    /// On a stream of a QUIC connection, in records.
    Quic,
}

/// What protects messages on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TransportSecurity {
    /// Nothing: everyone on the path can read and change them.
    #[default]
    Plain,
    /// TLS 1.3: nobody on the path can read or change them. The client did not prove who it is.
    Tls,
    /// TLS 1.3, and the client proved by a certificate who it is.
    TlsWithCertificate,
}

impl TransportSecurity {
    /// Whether messages are encrypted.
    pub fn is_encrypted(self) -> bool {
        self != Self::Plain
    }

    /// The name that settings, answers and metrics use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "none",
            Self::Tls => "tls",
            Self::TlsWithCertificate => "mtls",
        }
    }
}

/// The two ends that messages go between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ends {
    /// The client's address and port.
    pub client: SocketAddr,
    /// The address and port that the client asked.
    pub server: SocketAddr,
}

/// A client, as its server sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Peer {
    /// Where it is.
    pub ends: Ends,
    /// How its messages travel.
    pub transport: Transport,
    /// What protects them.
    pub security: TransportSecurity,
    /// What it proved to be.
    pub certificate: Option<Arc<CertificateFacts>>,
}

impl Transport {
    /// Those that a portmapper knows, streams first.
    pub const REGISTERED: [Self; 2] = [Self::Tcp, Self::Udp];

    /// Whether each message is one datagram: it leaves in one piece of bounded size, and may be lost, come twice or out of order.
    pub fn is_datagrams(self) -> bool {
        match self {
            Self::Tcp | Self::Quic => false,
            Self::Udp => true,
        }
    }

    /// The name, in capitals.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tcp => "TCP",
            Self::Udp => "UDP",
            Self::Quic => "QUIC",
        }
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl Peer {
    /// One whose messages nothing protects.
    pub fn plain(ends: Ends, transport: Transport) -> Self {
        Self { ends, transport, security: TransportSecurity::Plain, certificate: None }
    }

    /// Bytes of the longest packet that reaches it whole, as far as this host knows.
    pub fn path_mtu(&self) -> usize {
        path_mtu(self.ends.client)
    }
}

impl Ends {
    /// Whether both are on one host.
    pub fn are_on_one_host(&self) -> bool {
        is_local(self.client.ip().to_canonical(), self.server.ip().to_canonical())
    }
}
