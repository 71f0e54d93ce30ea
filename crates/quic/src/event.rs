//! What becomes of connections and streams.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use quinn_proto::{ConnectionError, ConnectionHandle, StreamId};
use rustls::pki_types::CertificateDer;

/// Names a connection until it is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ConnectionKey(pub(crate) ConnectionHandle);

/// Names a stream of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamKey {
    /// The connection.
    pub connection: ConnectionKey,
    pub(crate) stream: StreamId,
}

/// Something happened.
#[derive(Debug)]
pub enum QuicEvent {
    /// A handshake is done.
    Connected {
        /// The connection.
        connection: ConnectionKey,
        /// Where the peer is.
        peer: SocketAddr,
        /// The address of ours that it called, if that is known.
        local: Option<IpAddr>,
        /// The certificates that it proved itself by, its own first.
        certificates: Vec<CertificateDer<'static>>,
    },
    /// The peer is at another address from now on.
    Moved {
        /// The connection.
        connection: ConnectionKey,
        /// Where the peer is.
        peer: SocketAddr,
    },
    /// The connection is over, and all its streams are.
    Lost {
        /// The connection.
        connection: ConnectionKey,
        /// Why.
        why: LostWhy,
    },
    /// The peer opened a stream.
    Opened(StreamKey),
    /// There may be something to read.
    Readable(StreamKey),
    /// There may be room to write.
    Writable(StreamKey),
    /// The peer reads no more of it.
    Stopped(StreamKey),
}

/// Why a connection is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LostWhy {
    /// Nothing was heard of the peer for too long.
    Silence,
    /// The peer does not know the connection: it has restarted.
    Restarted,
    /// The peer's certificate is not trusted, and why.
    Distrust(String),
    /// The peer does not trust our certificate, or wants one.
    Distrusted(String),
    /// Something else, in words.
    Other(String),
}

impl LostWhy {
    pub(crate) fn of(error: &ConnectionError) -> Self {
        match error {
            ConnectionError::TimedOut => Self::Silence,
            ConnectionError::Reset => Self::Restarted,
            ConnectionError::TransportError(error) if error.reason.contains("peer certificate") => {
                Self::Distrust(error.reason.clone())
            }
            ConnectionError::ConnectionClosed(close) => Self::closed(close.error_code, &close.to_string()),
            error => Self::Other(error.to_string()),
        }
    }

    fn closed(code: quinn_proto::TransportErrorCode, words: &str) -> Self {
        // Alerts of TLS are codes from 0x100 on (RFC 9001 4.8).
        let is_alert = (0x100..0x200).contains(&u64::from(code));
        if is_alert { Self::Distrusted(words.to_owned()) } else { Self::Other(words.to_owned()) }
    }
}

impl fmt::Display for LostWhy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silence => formatter.write_str("no packet came from the peer for too long"),
            Self::Restarted => formatter.write_str("the peer does not know the connection: it has restarted"),
            Self::Distrust(why) | Self::Distrusted(why) | Self::Other(why) => formatter.write_str(why),
        }
    }
}
