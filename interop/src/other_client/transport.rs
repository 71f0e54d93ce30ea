//! How messages travel: records on a stream, or datagrams that are sent again when no answer comes.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use nfs3_types::rpc::fragment_header;

/// How long a stream may be silent while an answer is due.
const PATIENCE: Duration = Duration::from_secs(60);

/// After how long a datagram is sent again. Long for loopback: an answer that comes is worth more than one more try.
const RESEND_AFTER: Duration = Duration::from_secs(2);

/// How often a datagram is sent before the server counts as gone.
const TRIES: usize = 20;

/// The largest datagram there can be.
const LARGEST_DATAGRAM: usize = 65_536;

/// Which way to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// A stream of records.
    Tcp,
    /// One datagram per call.
    Udp,
    /// Every answer to a call that may run only once counts as lost at first: the call is sent again with its xid, and
    /// must be answered as before.
    RepeatingUdp,
}

/// A way to a server, open.
pub(super) enum Line {
    Tcp(TcpStream),
    Udp { socket: UdpSocket, repeating: bool },
}

impl Line {
    pub(super) fn open(transport: Transport, server: SocketAddr) -> io::Result<Self> {
        if transport == Transport::Tcp {
            let stream = TcpStream::connect(server)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            return Ok(Self::Tcp(stream));
        }
        let any = match server {
            SocketAddr::V4(_) => SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
            SocketAddr::V6(_) => SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0)),
        };
        let socket = UdpSocket::bind(any)?;
        socket.connect(server)?;
        socket.set_read_timeout(Some(RESEND_AFTER))?;
        Ok(Self::Udp { socket, repeating: transport == Transport::RepeatingUdp })
    }

    /// Sends a call and waits for its answer. `once` says that the call must not run again when it is repeated.
    pub(super) fn exchange(&mut self, xid: u32, call: &[u8], once: bool) -> io::Result<Vec<u8>> {
        match self {
            Self::Tcp(stream) => {
                send_record(stream, call)?;
                receive_record(stream)
            }
            Self::Udp { socket, repeating } => {
                let answer = exchange_datagrams(socket, xid, call)?;
                if *repeating && once {
                    let again = exchange_datagrams(socket, xid, call)?;
                    assert!(answer == again, "a repeated call ran again: {answer:02x?}, then {again:02x?}");
                }
                Ok(answer)
            }
        }
    }
}

/// Sends a record in two fragments, cut where no boundary is, as a peer may.
fn send_record(stream: &mut TcpStream, record: &[u8]) -> io::Result<()> {
    let (first, second) = record.split_at(record.len() / 3);
    let mut bytes = Vec::with_capacity(record.len() + 8);
    for (fragment, last) in [(first, false), (second, true)] {
        let length = u32::try_from(fragment.len()).map_err(io::Error::other)?;
        bytes.extend_from_slice(&fragment_header::new(length, last).into_xdr_buf());
        bytes.extend_from_slice(fragment);
    }
    stream.write_all(&bytes)
}

fn receive_record(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut record = Vec::new();
    loop {
        let mut mark = [0; 4];
        stream.read_exact(&mut mark)?;
        let mark = fragment_header::from(mark);
        let start = record.len();
        record.resize(start + mark.fragment_length() as usize, 0);
        stream.read_exact(&mut record[start..])?;
        if mark.eof() {
            return Ok(record);
        }
    }
}

fn exchange_datagrams(socket: &UdpSocket, xid: u32, call: &[u8]) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; LARGEST_DATAGRAM];
    for _ in 0..TRIES {
        socket.send(call)?;
        loop {
            match socket.recv(&mut buffer) {
                // Anything else is the late answer of an earlier try.
                Ok(length) if buffer[..length].starts_with(&xid.to_be_bytes()) => {
                    buffer.truncate(length);
                    return Ok(buffer);
                }
                Ok(_) => {}
                Err(error) if is_silence(&error) => break,
                Err(error) => return Err(error),
            }
        }
    }
    Err(io::Error::new(io::ErrorKind::TimedOut, format!("no answer to {TRIES} tries")))
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}
