//! One end of a connection: records in, plaintext out, and back. It holds no buffer while it is at rest: what is received lies in
//! the caller's memory, and only what is not whole yet is kept.

use std::sync::Arc;

use rustls::client::UnbufferedClientConnection;
use rustls::pki_types::ServerName;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use rustls::{ClientConfig, CommonState, Error, ServerConfig};

use crate::error::TlsError;
use crate::facts::CertificateFacts;

/// The most plaintext that is sealed at once, in bytes: four records. What is sealed cannot be overtaken any more.
pub const SEAL_MAX: usize = 64 << 10;
/// The longest that it becomes, in bytes, with what else there may be to send: 22 bytes for each record, and an update of the key.
pub const SEALED_MAX: usize = SEAL_MAX + (1 << 10);
/// The longest message of a handshake that is awaited, in bytes, with the records around it.
const INCOMING_MAX: usize = 72 << 10;

/// One end of a connection.
pub struct TlsSession {
    end: End,
    /// Records that are to be sent: of the handshake, a key update, an alert.
    outgoing: Vec<u8>,
    /// The peer said that it sends no more.
    has_ended: bool,
    /// Why it is over: rustls is not asked again.
    failed: Option<TlsError>,
}

enum End {
    Server(Box<UnbufferedServerConnection>),
    Client(Box<UnbufferedClientConnection>),
}

/// Where a session stands after a step.
enum Step {
    /// There is more to do.
    Again,
    /// More bytes are needed.
    Blocked,
    /// Plaintext may be sealed.
    Ready,
    /// The peer sends no more.
    Ended,
}

impl TlsSession {
    /// The server's end.
    pub(crate) fn server(config: Arc<ServerConfig>) -> Result<Self, TlsError> {
        let connection = UnbufferedServerConnection::new(config).map_err(TlsError)?;
        Ok(Self::of(End::Server(Box::new(connection))))
    }

    /// The client's end, to a server that proves to be `name`.
    pub(crate) fn client(config: Arc<ClientConfig>, name: ServerName<'static>) -> Result<Self, TlsError> {
        let connection = UnbufferedClientConnection::new(config, name).map_err(TlsError)?;
        let mut session = Self::of(End::Client(Box::new(connection)));
        session.open(&mut [], |_| {})?;
        Ok(session)
    }

    fn of(end: End) -> Self {
        Self { end, outgoing: Vec::new(), has_ended: false, failed: None }
    }

    /// Takes in what was received, behind what was not done with the last time: gives each piece of plaintext to `plain`. Says
    /// how many bytes are done with; the others are the beginning of a record, or of a message of the handshake, and come first the next time.
    ///
    /// # Errors
    /// The session is over. An alert that says so to the peer may be in [`Self::outgoing`].
    pub fn open(&mut self, received: &mut [u8], mut plain: impl FnMut(&[u8])) -> Result<usize, TlsError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let mut consumed = 0;
        loop {
            let (discard, step) = self.step(&mut received[consumed..], &mut plain);
            consumed += discard;
            match step {
                Ok(Step::Again) => {}
                Ok(Step::Blocked | Step::Ready) => break,
                Ok(Step::Ended) => {
                    self.has_ended = true;
                    // Nothing that comes behind it is of this session.
                    return Ok(received.len());
                }
                Err(error) => {
                    if self.state().wants_write() {
                        // The alert.
                        let _ = self.step(&mut received[consumed..], &mut plain);
                    }
                    self.failed = Some(TlsError(error.clone()));
                    return Err(TlsError(error));
                }
            }
        }
        if received.len() - consumed > INCOMING_MAX {
            return Err(TlsError(Error::General("a message of the handshake is too long".to_owned())));
        }
        Ok(consumed)
    }

    fn step(&mut self, received: &mut [u8], plain: &mut impl FnMut(&[u8])) -> (usize, Result<Step, Error>) {
        let outgoing = &mut self.outgoing;
        match &mut self.end {
            End::Server(server) => settle(server.process_tls_records(received), outgoing, plain),
            End::Client(client) => settle(client.process_tls_records(received), outgoing, plain),
        }
    }

    /// Seals at most [`SEAL_MAX`] bytes into `sealed`, which has room for [`SEALED_MAX`], and says how many bytes that became.
    /// `kept` is what [`Self::open`] was not done with.
    ///
    /// # Errors
    /// The handshake is not done, or the session is over.
    pub fn seal(&mut self, plain: &[u8], kept: &mut [u8], sealed: &mut [u8]) -> Result<usize, TlsError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        loop {
            let outgoing = &mut self.outgoing;
            let (discard, outcome) = match &mut self.end {
                End::Server(server) => seal(server.process_tls_records(kept), outgoing, plain, sealed),
                End::Client(client) => seal(client.process_tls_records(kept), outgoing, plain, sealed),
            };
            debug_assert_eq!(discard, 0, "what is kept is not whole");
            if let Some(length) = outcome.map_err(TlsError)? {
                return Ok(length);
            }
        }
    }

    /// Says to the peer that nothing more is sent: what is to be sent is in [`Self::outgoing`].
    pub fn end(&mut self, kept: &mut [u8]) {
        if self.failed.is_some() {
            return;
        }
        let mut alert = [0; 256];
        let length = match &mut self.end {
            End::Server(server) => farewell(server.process_tls_records(kept), &mut alert),
            End::Client(client) => farewell(client.process_tls_records(kept), &mut alert),
        };
        self.outgoing.extend_from_slice(&alert[..length]);
    }

    /// Records that are to be sent before anything that is sealed later.
    pub fn outgoing(&mut self) -> &mut Vec<u8> {
        &mut self.outgoing
    }

    /// Whether the handshake is not done yet.
    pub fn is_handshaking(&self) -> bool {
        self.state().is_handshaking()
    }

    /// Whether the peer said that it sends no more.
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// What the certificate says that the peer proved itself by.
    pub fn peer_certificate(&self) -> Option<CertificateFacts> {
        self.state().peer_certificates()?.first().and_then(CertificateFacts::of)
    }

    /// The cipher suite, once it is agreed on.
    pub fn suite(&self) -> Option<&'static str> {
        self.state().negotiated_cipher_suite().and_then(|suite| suite.suite().as_str())
    }

    fn state(&self) -> &CommonState {
        match &self.end {
            End::Server(server) => server,
            End::Client(client) => client,
        }
    }
}

impl std::fmt::Debug for TlsSession {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("TlsSession").field("suite", &self.suite()).finish_non_exhaustive()
    }
}

/// Does what a state asks for.
fn settle<D>(
    status: UnbufferedStatus<'_, '_, D>,
    outgoing: &mut Vec<u8>,
    plain: &mut impl FnMut(&[u8]),
) -> (usize, Result<Step, Error>) {
    let discard = status.discard;
    let step = match status.state {
        Err(error) => Err(error),
        Ok(ConnectionState::ReadTraffic(mut traffic)) => take(&mut traffic, plain),
        Ok(ConnectionState::EncodeTlsData(mut data)) => {
            encode(outgoing, |room| data.encode(room));
            Ok(Step::Again)
        }
        Ok(ConnectionState::TransmitTlsData(data)) => {
            data.done();
            Ok(Step::Again)
        }
        Ok(ConnectionState::BlockedHandshake) => Ok(Step::Blocked),
        Ok(ConnectionState::WriteTraffic(_)) => Ok(Step::Ready),
        Ok(ConnectionState::PeerClosed | ConnectionState::Closed) => Ok(Step::Ended),
        Ok(_) => Err(Error::General("early data, which was never offered".to_owned())),
    };
    (discard, step)
}

fn take<D>(
    traffic: &mut rustls::unbuffered::ReadTraffic<'_, '_, D>,
    plain: &mut impl FnMut(&[u8]),
) -> Result<Step, Error> {
    while let Some(record) = traffic.next_record() {
        plain(record?.payload);
    }
    Ok(Step::Again)
}

/// Appends a record; the first try returns how long it is.
fn encode(outgoing: &mut Vec<u8>, mut encode: impl FnMut(&mut [u8]) -> Result<usize, EncodeError>) {
    let start = outgoing.len();
    let length = match encode(&mut []) {
        Ok(length) => length,
        Err(EncodeError::InsufficientSize(error)) => {
            outgoing.resize(start + error.required_size, 0);
            encode(&mut outgoing[start..]).unwrap_or(0)
        }
        Err(EncodeError::AlreadyEncoded) => 0,
    };
    outgoing.truncate(start + length);
}

/// `None`: there was something else to do first.
fn seal<D>(
    status: UnbufferedStatus<'_, '_, D>,
    outgoing: &mut Vec<u8>,
    plain: &[u8],
    sealed: &mut [u8],
) -> (usize, Result<Option<usize>, Error>) {
    let discard = status.discard;
    let outcome = match status.state {
        Err(error) => Err(error),
        Ok(ConnectionState::EncodeTlsData(mut data)) => {
            encode(outgoing, |room| data.encode(room));
            Ok(None)
        }
        Ok(ConnectionState::TransmitTlsData(data)) => {
            data.done();
            Ok(None)
        }
        Ok(ConnectionState::WriteTraffic(mut traffic)) => {
            traffic.encrypt(&plain[..plain.len().min(SEAL_MAX)], sealed).map(Some).map_err(in_error)
        }
        Ok(ConnectionState::PeerClosed) => Ok(None),
        Ok(_) => Err(Error::HandshakeNotComplete),
    };
    (discard, outcome)
}

fn farewell<D>(status: UnbufferedStatus<'_, '_, D>, alert: &mut [u8]) -> usize {
    match status.state {
        Ok(ConnectionState::WriteTraffic(mut traffic)) => traffic.queue_close_notify(alert).unwrap_or(0),
        _ => 0,
    }
}

fn in_error(error: EncryptError) -> Error {
    Error::General(error.to_string())
}
