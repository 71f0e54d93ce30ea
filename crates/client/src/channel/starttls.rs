//! TLS on a connection that was just made: the question whether it may begin (RFC 9289 4.1; not where TLS is direct), the handshake, and, for a client with a
//! certificate, a first call, whose answer shows that the server took it. Nothing goes on in the clear where any of this fails.

use std::fmt;
use std::io::{self, ErrorKind, IoSlice};
use std::time::Instant;

use howdah_net::{Connection, Place, Readiness, Sent, Wait};
use howdah_tls::{ClientTls, TlsError};
use howdah_wire::rpc::{CallHeader, Credentials, RecordMark, TlsAnswer, TlsProbe};
use howdah_wire::xdr::{Decode, Decoder, Encoder};

use super::connecting::ConnectStep;

/// The longest answer to a NULL call that is read, in bytes.
const ANSWER_MAX: usize = 512;

/// Why TLS does not begin.
#[derive(Debug, Clone)]
enum NoTls {
    /// The server does not offer it.
    NotOffered,
    /// Bytes came behind the server's answer in the clear: anybody may have put them there.
    Injected,
    /// The server's answer makes no sense.
    Nonsense,
    /// The two do not trust each other, or cannot speak.
    Handshake(TlsError),
    /// The server does not answer a handshake that nothing announced.
    NotDirect(String),
}

impl fmt::Display for NoTls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOffered => formatter.write_str(
                "the server does not offer TLS; a howdah server does with --tls-certificate, and without xprtsec= the connection \
                 is not protected",
            ),
            Self::Injected => {
                formatter.write_str("bytes came in the clear behind the server's answer: somebody may interfere on the way")
            }
            Self::NotDirect(why) => {
                write!(
                    formatter,
                    "the server does not answer TLS from the first byte ({why}); xprtsec=tls asks for TLS as RFC 9289 says"
                )
            }
            Self::Nonsense => formatter.write_str("the server's answer to the question for TLS makes no sense"),
            Self::Handshake(error) => {
                write!(formatter, "TLS: {error}")?;
                formatter.write_str(match error {
                    error if error.is_distrusted() => {
                        "; use xprtsec=mtls with a certificate (tlscert=, tlskey=) of an authority that the server trusts"
                    }
                    error if error.is_distrust() => {
                        "; tlsca=FILE names the server's authority, tlsname=NAME the name in its certificate"
                    }
                    _ => "",
                })
            }
        }
    }
}

impl std::error::Error for NoTls {}

/// Whether an error says that TLS does not begin, and trying again is of no use before somebody changes something.
pub fn is_tls(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<NoTls>())
}

/// Makes a connection one of TLS, by NULL calls to a program (its number and version).
///
/// # Errors
/// The server does not offer it, is not who it should be, or does not answer until `deadline`.
pub fn secure(
    connection: Connection,
    tls: &ClientTls,
    program: (u32, u32),
    deadline: Instant,
) -> io::Result<Connection> {
    if !tls.is_direct() {
        ask(&connection, program, deadline)?;
    }
    let session = tls.session().map_err(|error| refused(NoTls::Handshake(error)))?;
    let connection = connection.secure(session, deadline).map_err(|error| match in_words(error) {
        // A server that expects a call takes the first bytes of a handshake for the length of one, and ends the connection.
        error if tls.is_direct() && !is_tls(&error) => refused(NoTls::NotDirect(error.to_string())),
        error => error,
    })?;
    if tls.has_certificate() {
        null_call(&connection, program, Credentials::None, deadline).map_err(in_words)?;
    }
    Ok(connection)
}

/// Asks whether TLS may begin.
fn ask(connection: &Connection, program: (u32, u32), deadline: Instant) -> io::Result<()> {
    let answer = null_call(connection, program, Credentials::Tls(TlsProbe::Plain), deadline)?;
    match TlsAnswer::decode(&mut Decoder::new(&answer)) {
        Ok(TlsAnswer::Begins { xid: XID }) => Ok(()),
        Ok(TlsAnswer::Begins { .. }) | Err(_) => Err(refused(NoTls::Nonsense)),
        Ok(TlsAnswer::Refused(_)) => Err(refused(NoTls::NotOffered)),
    }
}

/// TLS, as what is done on each connection.
pub(super) struct StartTls(pub(super) ClientTls, pub(super) (u32, u32));

impl ConnectStep for StartTls {
    fn run(&self, connection: Connection, deadline: Instant) -> io::Result<Connection> {
        let Self(tls, program) = self;
        secure(connection, tls, *program, deadline)
    }
}

/// The xid of calls that nobody else sees.
const XID: u32 = 0x544c_5300;

/// Makes a NULL call to a program (its number and version), on a connection that nobody else uses, and gives the answer.
///
/// # Errors
/// The server does not answer until `deadline`, or not by RPC.
pub fn null_call(
    connection: &Connection,
    (program, version): (u32, u32),
    credentials: Credentials<'_>,
    deadline: Instant,
) -> io::Result<Vec<u8>> {
    let call = Encoder::to_vec(&CallHeader { xid: XID, program, version, procedure: 0, credentials });
    first_call(connection, &call, deadline)
}

/// Makes a call on a connection that nobody else uses, and gives the reply. Both are messages from their xid on.
///
/// # Errors
/// The server does not answer until `deadline`, or not by RPC.
pub fn first_call(connection: &Connection, call: &[u8], deadline: Instant) -> io::Result<Vec<u8>> {
    let mark = RecordMark { length: call.len() as u32, last: true };
    let record = [&mark.to_bytes()[..], call].concat();
    let mut sent = 0;
    while sent < record.len() {
        match connection.send(&[IoSlice::new(&record[sent..])], false)? {
            Sent::Bytes(count) => sent += count,
            Sent::WouldBlock => wait(connection, Readiness { readable: false, writable: true }, deadline)?,
        }
    }
    let mut answer = Vec::new();
    loop {
        if let Some(length) = length(&answer)? {
            match answer.len() {
                held if held == length => return Ok(answer.split_off(RecordMark::SIZE)),
                held if held > length => return Err(refused(NoTls::Injected)),
                _ => {}
            }
        }
        let most = ANSWER_MAX + 1 - answer.len();
        match connection.receive(&mut [Place { buffer: &mut answer, most }], Wait::No)? {
            Sent::Bytes(0) => {
                let why = "the server ended the connection in place of an answer to a first call";
                return Err(io::Error::new(ErrorKind::UnexpectedEof, why));
            }
            Sent::Bytes(_) => {}
            Sent::WouldBlock => wait(connection, Readiness { readable: true, writable: false }, deadline)?,
        }
    }
}

/// The length of the record that begins there, with its mark, once that has come.
fn length(answer: &[u8]) -> io::Result<Option<usize>> {
    let Some(mark) = answer.first_chunk() else { return Ok(None) };
    let mark = RecordMark::from_bytes(*mark);
    let length = mark.length as usize + RecordMark::SIZE;
    if !mark.last || length > ANSWER_MAX { Err(refused(NoTls::Nonsense)) } else { Ok(Some(length)) }
}

fn wait(connection: &Connection, wanted: Readiness, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::Error::new(ErrorKind::TimedOut, "the server does not answer a first call"));
    }
    connection.wait(wanted, left).map(|_| ())
}

fn refused(why: NoTls) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// What to do about a handshake that failed, where it is known.
fn in_words(error: io::Error) -> io::Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>()) {
        Some(tls) => refused(NoTls::Handshake(tls.clone())),
        None => error,
    }
}
