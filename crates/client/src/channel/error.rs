//! Why there is no answer.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use howdah_rpc::client::envelope::CallEnd;
use howdah_rpc::client::{FirstBytes, PeerError};
use howdah_units::plain;
use howdah_wire::rpc::{Accepted, AuthStatus, Denied};
use howdah_wire::xdr::DecodeError;

use super::KerberosError;

/// A call without results.
#[derive(Debug, Clone)]
pub enum CallError {
    /// No answer came in the time that a soft channel gives. The call may have run, or may still.
    TimedOut,
    /// Nothing was heard from the server for long. The call did not run, or it changes nothing.
    Away,
    /// The server does not run such calls.
    Refused(CallRefusal),
    /// The reply is not what the protocol says.
    Malformed(DecodeError),
    /// What the server sends, time after time, are no replies.
    Nonsense(PeerError),
    /// Datagrams that large get lost on the way: to be made again in pieces.
    TooLarge {
        /// The largest READ or WRITE that should be made now, in bytes.
        transfer: usize,
        /// The buffer for the data, as it was given, if the call had one.
        buffer: Option<Vec<u8>>,
    },
    /// The server does not know the keys of the caller any more: to be made again, with new ones.
    NewKeys {
        /// The buffer for the data, as it was given, if the call had one.
        buffer: Option<Vec<u8>>,
        /// Whether it was sent more than once, so that it may have run.
        may_have_run: bool,
    },
    /// The call cannot be protected as it has to be, and was not sent.
    Kerberos(Arc<KerberosError>),
    /// The data that the call carries could not be read from its file.
    Payload(Arc<io::Error>),
    /// The server cannot be reached.
    Connect(LaneConnectError),
    /// The channel was closed while the call waited.
    Closed,
}

impl CallError {
    /// What it means for a ticket that the call had: that of an answer without results.
    pub(super) fn end(&self) -> CallEnd<'static> {
        match self {
            Self::Refused(CallRefusal::NotRun(accepted)) if *accepted == Accepted::SystemError => {
                CallEnd::Unknown
            }
            Self::Refused(_) | Self::NewKeys { .. } => CallEnd::NotRun,
            _ => CallEnd::Unknown,
        }
    }
}

/// Why a server refused a call before any procedure ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallRefusal {
    /// It was accepted and could not be run.
    NotRun(Accepted),
    /// It was denied.
    Denied(Denied),
}

/// No connection to a server.
#[derive(Debug, Clone)]
pub enum LaneConnectError {
    /// Nobody said where it is.
    NoAddress,
    /// The number of lanes is not one that there can be.
    Lanes {
        /// How many were asked for.
        asked: usize,
        /// How many there can be.
        most: usize,
    },
    /// Connecting failed.
    Failed {
        /// Whereto.
        address: SocketAddr,
        /// Why.
        cause: Arc<io::Error>,
    },
    /// TLS does not begin there, and without it nothing is sent.
    Tls {
        /// Whereto.
        address: SocketAddr,
        /// Why.
        cause: Arc<io::Error>,
    },
    /// A protocol that needs connections was asked for over datagrams.
    ProtocolOverDatagrams,
    /// `proto=quic` without the certificates to trust (`tlsca`).
    QuicWithoutTls,
    /// TLS was asked for over datagrams.
    TlsOverDatagrams,
    /// Kerberos was asked for over datagrams.
    KerberosOverDatagrams,
    /// A thread could not be started.
    Thread(Arc<io::Error>),
}

impl CallError {
    /// Whether TLS does not begin.
    pub fn is_tls(&self) -> bool {
        matches!(self, Self::Connect(LaneConnectError::Tls { .. } | LaneConnectError::TlsOverDatagrams))
    }

    /// Whether the server does not serve the program of the call, or only another version of it.
    pub fn lacks_program(&self) -> bool {
        matches!(
            self,
            Self::Refused(CallRefusal::NotRun(
                Accepted::ProgramUnavailable | Accepted::ProgramMismatch { .. }
            ))
        )
    }

    /// What the server's stream begins with, if that is another protocol than RPC.
    pub fn not_rpc(&self) -> Option<FirstBytes> {
        match self {
            Self::Nonsense(PeerError::NotRpc(first)) => Some(*first),
            _ => None,
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimedOut => write!(formatter, "the server did not answer in time"),
            Self::Away => write!(formatter, "the server does not answer"),
            Self::Refused(refusal) => write!(formatter, "the server refused the call: {refusal}"),
            Self::Malformed(error) => write!(formatter, "reading the server's reply: {error}"),
            Self::Nonsense(error) => write!(formatter, "receiving from the server: {error}"),
            Self::TooLarge { transfer, .. } => {
                write!(formatter, "datagrams that large get lost on the way: {transfer} bytes may pass")
            }
            Self::NewKeys { .. } => {
                formatter.write_str("the server does not accept the Kerberos context of the caller")
            }
            Self::Kerberos(error) => error.fmt(formatter),
            Self::Payload(cause) => write!(formatter, "reading the data to send: {cause}"),
            Self::Connect(error) => error.fmt(formatter),
            Self::Closed => write!(formatter, "the channel to the server was closed"),
        }
    }
}

impl fmt::Display for CallRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRun(Accepted::Success) => write!(formatter, "no reason"),
            Self::NotRun(Accepted::ProgramUnavailable) => write!(formatter, "it does not serve this program"),
            Self::NotRun(Accepted::ProgramMismatch { low, high }) => {
                write!(formatter, "it serves versions {low} to {high} of this program only")
            }
            Self::NotRun(Accepted::ProcedureUnavailable) => {
                write!(formatter, "it does not know this procedure")
            }
            Self::NotRun(Accepted::GarbageArguments) => write!(formatter, "it cannot read the arguments"),
            Self::NotRun(Accepted::SystemError) => write!(formatter, "it has a problem of its own"),
            Self::Denied(Denied::RpcMismatch) => write!(formatter, "it speaks another version of RPC"),
            Self::Denied(Denied::Authentication(AuthStatus::TooWeak)) => formatter.write_str(
                "it requires more security than this (AUTH_TOOWEAK), such as TLS: xprtsec=tls or xprtsec=mtls",
            ),
            Self::Denied(Denied::Authentication(status)) => {
                write!(formatter, "it does not take these credentials ({status:?})")
            }
        }
    }
}

impl fmt::Display for LaneConnectError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoAddress => write!(formatter, "connecting: the server has no address"),
            Self::Lanes { asked, most } => {
                write!(formatter, "connecting over {asked} lanes: there can be 1 to {most}")
            }
            // What a route of the type blackhole answers (ip-route(8)).
            Self::Failed { address, cause } if cause.kind() == io::ErrorKind::InvalidInput => {
                let ip = address.ip();
                write!(
                    formatter,
                    "cannot connect to {address}: this host's routes discard packets to it (see: ip route get {ip})"
                )
            }
            Self::Failed { address, cause } => {
                write!(formatter, "cannot connect to {address}: {}", plain(&cause.to_string()))
            }
            Self::Tls { address, cause } => {
                write!(formatter, "securing the connection to {address}: {cause}")
            }
            Self::ProtocolOverDatagrams => {
                formatter.write_str("this version of the protocol needs TCP: leave out proto=udp")
            }
            Self::QuicWithoutTls => {
                formatter.write_str("QUIC needs TLS, and no authorities to trust are known")
            }
            Self::TlsOverDatagrams => formatter.write_str("xprtsec= needs TCP: leave out proto=udp"),
            Self::KerberosOverDatagrams => {
                formatter.write_str("sec=krb5, krb5i and krb5p need TCP: leave out proto=udp")
            }
            Self::Thread(cause) => write!(formatter, "starting a thread for a connection: {cause}"),
        }
    }
}

impl std::error::Error for CallError {}

impl std::error::Error for LaneConnectError {}

impl From<LaneConnectError> for CallError {
    fn from(error: LaneConnectError) -> Self {
        Self::Connect(error)
    }
}
