//! One call to a program of another host, and its answer.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use howdah_net::TimedSocket;
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, Denied, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encoder};

use super::record::{exchange_record, send_record};
use crate::Transport;

/// How long a datagram's answer is waited for before it is sent again.
const RESEND: Duration = Duration::from_secs(1);
/// The longest answer in a datagram, in bytes: ours are far shorter.
const DATAGRAM_ANSWER_MAX: usize = 4096;
/// How long a connection stays after a call that nothing answers: closed at once, it might be reset before the call is read.
const LINGER: Duration = Duration::from_secs(1);

/// The way to a program of another host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// From this address of ours, if it matters.
    pub from: Option<IpAddr>,
    /// To there.
    pub to: SocketAddr,
    /// And how.
    pub transport: Transport,
}

/// What is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Called {
    /// The program.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure.
    pub procedure: u32,
}

/// Why a call has no result.
#[derive(Debug)]
pub enum CallFailure {
    /// The program was not reached: the call was not run.
    Unreached(io::Error),
    /// No answer came: the call may have been run, or may still be.
    Unanswered(io::Error),
    /// The program's host refused the call: it was not run.
    Refused(Result<Accepted, Denied>),
    /// The program is not registered with the host's portmapper.
    Unregistered,
}

impl CallFailure {
    /// Whether the call may have been run all the same.
    pub fn may_have_run(&self) -> bool {
        matches!(self, Self::Unanswered(_))
    }

    /// Whether the address to call from is none of this host's any more.
    pub fn has_lost_address(&self) -> bool {
        matches!(self, Self::Unreached(error) if error.kind() == ErrorKind::AddrNotAvailable)
    }
}

impl fmt::Display for CallFailure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreached(error) => write!(formatter, "it cannot be reached: {error}"),
            Self::Unanswered(error) => write!(formatter, "it does not answer: {error}"),
            Self::Refused(outcome) => write!(formatter, "it refused the call: {outcome:?}"),
            Self::Unregistered => {
                formatter.write_str("the program is not registered with the host's rpcbind")
            }
        }
    }
}

/// Makes a call; the bytes of its result.
///
/// # Errors
/// Why it has no result.
pub fn call(
    route: &Route,
    called: Called,
    arguments: &[u8],
    patience: Duration,
) -> Result<Vec<u8>, CallFailure> {
    let socket = connect(route, patience)?;
    let (xid, message) = message(called, arguments);
    let answer = match route.transport {
        Transport::Tcp | Transport::Quic => {
            exchange_record(&socket, &message).map_err(CallFailure::Unanswered)?
        }
        Transport::Udp => exchange_datagram(&socket, xid, &message, patience)?,
    };
    result_of(xid, answer)
}

/// Makes a call that nothing answers.
///
/// # Errors
/// It was not sent.
pub fn tell(route: &Route, called: Called, arguments: &[u8], patience: Duration) -> Result<(), CallFailure> {
    let socket = connect(route, patience)?;
    let (_, message) = message(called, arguments);
    match route.transport {
        Transport::Udp => socket.send(&message).map_err(CallFailure::Unreached),
        Transport::Tcp | Transport::Quic => {
            send_record(&socket, &message).map_err(CallFailure::Unanswered)?;
            // Some answer all the same, which is not needed.
            let _ = socket.receive_within(&mut [0; 64], LINGER);
            Ok(())
        }
    }
}

fn connect(route: &Route, patience: Duration) -> Result<TimedSocket, CallFailure> {
    TimedSocket::connect(route.transport, route.from, route.to, patience).map_err(CallFailure::Unreached)
}

/// The call of a program of this host, as root: lock managers ask for nobody.
fn message(called: Called, arguments: &[u8]) -> (u32, Vec<u8>) {
    static CALLS: AtomicU32 = AtomicU32::new(0);
    let Called { program, version, procedure } = called;
    let xid = std::process::id().rotate_left(16).wrapping_add(CALLS.fetch_add(1, Ordering::Relaxed));
    let name = rustix::system::uname();
    let machine = name.nodename().to_bytes();
    let credentials = Credentials::Sys(AuthSys::new(machine, 0, 0, &[]));
    let mut message = Encoder::to_vec(&CallHeader { xid, program, version, procedure, credentials });
    message.extend_from_slice(arguments);
    (xid, message)
}

/// Sends a datagram until one comes back that answers it.
fn exchange_datagram(
    socket: &TimedSocket,
    xid: u32,
    message: &[u8],
    patience: Duration,
) -> Result<Vec<u8>, CallFailure> {
    let deadline = Instant::now() + patience;
    let mut answer = vec![0; DATAGRAM_ANSWER_MAX];
    let mut is_first = true;
    loop {
        socket.send(message).map_err(|error| not_run_if(is_first, error))?;
        let again = Instant::now() + RESEND;
        while let Some(left) = again.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            match socket.receive_within(&mut answer, left) {
                Ok(length) if answer[..length].starts_with(&xid.to_be_bytes()) => {
                    answer.truncate(length);
                    return Ok(answer);
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::TimedOut => break,
                // Nobody listens there: the host says so.
                Err(error) => return Err(not_run_if(is_first, error)),
            }
        }
        if Instant::now() >= deadline {
            return Err(CallFailure::Unanswered(ErrorKind::TimedOut.into()));
        }
        is_first = false;
    }
}

fn not_run_if(is_first: bool, error: io::Error) -> CallFailure {
    if is_first { CallFailure::Unreached(error) } else { CallFailure::Unanswered(error) }
}

fn result_of(xid: u32, mut answer: Vec<u8>) -> Result<Vec<u8>, CallFailure> {
    let mut decoder = Decoder::new(&answer);
    let garbled = || CallFailure::Unanswered(ErrorKind::InvalidData.into());
    let header = ReplyHeader::decode(&mut decoder).map_err(|_| garbled())?;
    let position = decoder.position();
    match header.outcome {
        _ if header.xid != xid => Err(garbled()),
        Ok(Accepted::Success) => Ok(answer.split_off(position)),
        outcome => Err(CallFailure::Refused(outcome)),
    }
}
