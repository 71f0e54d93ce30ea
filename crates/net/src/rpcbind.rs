//! The way to this host's rpcbind: one call at a time, all of them within one deadline. What the calls say is not known
//! here.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use howdah_wire::portmap::PORT;
use howdah_wire::rpc::RecordMark;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

/// Where rpcbind listens for this host's own programs, as libtirpc has it.
const SOCKET: &str = "/run/rpcbind.sock";
/// The longest answer that is taken, in bytes: a list of a thousand registrations.
const ANSWER_MAX: usize = 128 << 10;
/// The ports that show a portmapper without a Unix socket that root calls: as `bindresvport` has them.
const PRIVILEGED_PORTS: std::ops::Range<u16> = 600..1024;

/// A connection to rpcbind.
#[derive(Debug)]
pub struct RpcbindStream {
    socket: Socket,
    knows_caller: bool,
    deadline: Instant,
}

/// Readable when rpcbind has ended the connection: it says nothing unasked.
impl AsFd for RpcbindStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl RpcbindStream {
    /// Connects through the Unix socket, where rpcbind sees which user calls, or else over loopback, where it believes
    /// whoever has a privileged port.
    ///
    /// # Errors
    /// No rpcbind runs, or none that answers within `patience`.
    pub fn connect(patience: Duration) -> io::Result<Self> {
        let deadline = Instant::now() + patience;
        if let Ok(socket) = connect_unix(patience) {
            return Ok(Self { socket, knows_caller: true, deadline });
        }
        Ok(Self { socket: connect_loopback(patience)?, knows_caller: false, deadline })
    }

    /// Whether rpcbind sees which user calls.
    pub fn knows_caller(&self) -> bool {
        self.knows_caller
    }

    /// Sends a message and receives the next one.
    ///
    /// # Errors
    /// The connection broke, the deadline passed, or the answer is longer than any real one.
    pub fn call(&mut self, message: &[u8]) -> io::Result<Vec<u8>> {
        let length = u32::try_from(message.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let mark = RecordMark { length, last: true }.to_bytes();
        self.socket.set_write_timeout(Some(self.left()?))?;
        (&self.socket).write_all(&[&mark, message].concat())?;
        let mut answer = Vec::new();
        loop {
            let mut mark = [0; RecordMark::SIZE];
            self.fill(&mut mark)?;
            let mark = RecordMark::from_bytes(mark);
            let start = answer.len();
            if mark.length as usize > ANSWER_MAX - start {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the answer is longer than any real one",
                ));
            }
            answer.resize(start + mark.length as usize, 0);
            self.fill(&mut answer[start..])?;
            if mark.last {
                return Ok(answer);
            }
            // An empty fragment that is not the last would be a way to keep us here until the deadline, and no longer.
            self.left()?;
        }
    }

    fn fill(&self, mut room: &mut [u8]) -> io::Result<()> {
        while !room.is_empty() {
            self.socket.set_read_timeout(Some(self.left()?))?;
            match (&self.socket).read(room) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => room = &mut room[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn left(&self) -> io::Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

/// Whether somebody on this host accepts connections at this port.
pub fn is_listening(port: u16, patience: Duration) -> bool {
    let addresses =
        [SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))];
    addresses.iter().any(|address| TcpStream::connect_timeout(address, patience).is_ok())
}

fn connect_unix(patience: Duration) -> io::Result<Socket> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.connect_timeout(&SockAddr::unix(SOCKET)?, patience)?;
    Ok(socket)
}

fn connect_loopback(patience: Duration) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    // The first free port, if we may have one. Without one it is rpcbind that says it does not want us.
    for port in PRIVILEGED_PORTS.rev() {
        match socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into()) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            _ => break,
        }
    }
    socket.connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)).into(), patience)?;
    Ok(socket)
}
