//! Outgoing TCP connections: one thread sends while another receives, each waiting in the kernel.

use std::hash::{BuildHasher, RandomState};
use std::io::{self, ErrorKind, IoSlice};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr};
use std::ops::RangeInclusive;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use howdah_tune::{Gauges, Sample, SizeChange};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sockopt};
use socket2::{Domain, Protocol, Socket, TcpKeepalive, Type};

use crate::address::is_on_this_host;
use crate::congestion::{BBR, LOCAL};
use crate::quic::QuicLane;
use crate::secured::Secured;
use crate::syscall;
use crate::tcp_info::{INFORMATION_ROOM, TcpInfo};
use crate::transfer::{Place, Sent, Wait, outcome};

/// After how long without a word the kernel asks whether the peer still is there, and how often it asks again.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// The reserved ports that clients of NFS come from: those that the Linux client uses (`sunrpc.min_resvport`,
/// `max_resvport`).
const RESERVED: RangeInclusive<u16> = 665..=1023;
/// How many of them are tried before any port will do.
const RESERVED_TRIES: u16 = 32;

/// How to connect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectSettings {
    /// How long connecting may take.
    pub timeout: Duration,
    /// How long sent bytes may stay unacknowledged before the connection counts as broken (`TCP_USER_TIMEOUT`).
    pub silence: Duration,
    /// Whether to come from a port below 1024 where that is allowed: many servers take no others, as a sign that the
    /// superuser of the client vouches for who it says calls.
    pub reserved_port: bool,
    /// The port to come from before any other, if it is free: by it, many servers know calls that are sent again over another
    /// connection.
    pub from: Option<u16>,
    /// How long a receive that waits does so before it says that nothing came.
    pub tick: Duration,
    /// The window to offer a peer on another host from the start, where it may be forced, in bytes; without it, the kernel's.
    /// Its scale is agreed on while connecting (RFC 7323 2.2).
    pub window: Option<u64>,
}

/// An outgoing connection. Any thread may send or receive; who shuts it down wakes those who wait.
#[derive(Debug)]
pub struct Connection {
    socket: Socket,
    peer: SocketAddr,
    local: SocketAddr,
    pub(crate) tick: Duration,
    /// The socket itself never blocks any more: who receives waits by `poll(2)` before.
    never_blocks: AtomicBool,
    /// TLS, if it was secured.
    pub(crate) tls: Option<Box<Secured>>,
    /// The stream of QUIC that it is, if it is one: the socket is one end of a pair.
    quic: Option<QuicLane>,
}

/// A connection that is being made, which nobody waits for.
#[derive(Debug)]
pub struct Connecting(Connection);

/// What becomes of what was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delivery {
    /// Something was sent, again and in vain: nothing was heard of it. A peer that has no room for more is heard.
    pub is_in_vain: bool,
    /// Something was sent that is not acknowledged yet.
    pub is_under_way: bool,
    /// How long ago the peer's host acknowledged anything.
    pub since_acknowledgement: Duration,
    /// Smoothed round trip of the path.
    pub round_trip: Duration,
}

/// What a connection is ready for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Readiness {
    /// Something can be received, or the connection is over.
    pub readable: bool,
    /// Something can be sent, or the connection is over.
    pub writable: bool,
}

impl Connection {
    /// Connects, and waits until that is done.
    pub fn open(address: SocketAddr, settings: &ConnectSettings) -> io::Result<Self> {
        from_a_port(settings, |port| {
            let connection = Self::prepare(port, address, settings)?;
            connection.socket.connect_timeout(&address.into(), settings.timeout)?;
            connection.made()
        })
    }

    /// A socket with its options, which is not connected.
    fn prepare(port: Option<u16>, address: SocketAddr, settings: &ConnectSettings) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        let is_local = is_on_this_host(address.ip());
        let congestion_control = if is_local { LOCAL } else { BBR };
        // Not allowed, or not there: the host's own does.
        let _ = sockopt::set_tcp_congestion(&socket, congestion_control);
        if let Some(window) = settings.window.filter(|_| !is_local) {
            // Not allowed: the kernel's autotuning does, and is better than what may be asked for without force.
            let told = usize::try_from(window).unwrap_or(usize::MAX);
            let _ = sockopt::set_socket_recv_buffer_size_force(&socket, told);
        }
        // The port of a connection of ours that is over is not held by what is left of it, nor by one to another server.
        socket.set_reuse_address(true)?;
        socket.set_tcp_nodelay(true)?;
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEPALIVE).with_interval(KEEPALIVE / 3))?;
        socket.set_tcp_user_timeout(Some(settings.silence))?;
        let any: IpAddr =
            if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let local = SocketAddr::new(any, port.unwrap_or(0));
        if port.is_some() {
            socket.bind(&local.into())?;
        }
        let (tick, never_blocks) = (settings.tick, AtomicBool::new(false));
        Ok(Self { socket, peer: address, local, tick, never_blocks, tls: None, quic: None })
    }

    /// A stream of QUIC, of which this socket is our end; `peer` and our own address are those of its connection.
    pub(crate) fn of_quic(
        socket: OwnedFd,
        (peer, local): (SocketAddr, SocketAddr),
        tick: Duration,
        quic: QuicLane,
    ) -> io::Result<Self> {
        let (socket, never_blocks) = (Socket::from(socket), AtomicBool::new(true));
        Ok(Self { socket, peer, local, tick, never_blocks, tls: None, quic: Some(quic) })
    }

    /// The stream of QUIC that it is, if it is one.
    pub fn quic(&self) -> Option<&QuicLane> {
        self.quic.as_ref()
    }

    /// Why the connection that it is a stream of is over, if it is one and that is known.
    pub fn why_lost(&self) -> Option<io::Error> {
        self.quic.as_ref().and_then(QuicLane::why_lost)
    }

    /// Looks at it; the gauges are the caller's.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn sample(&self, now: Duration, gauges: &Gauges) -> io::Result<Sample> {
        match self.quic() {
            Some(lane) => Ok(lane.sample(now, rustix::io::ioctl_fionread(&self.socket)?, gauges)),
            None => crate::sample::sample(self.socket.as_fd(), now, gauges),
        }
    }

    /// Does to it what is wanted. The sizes of a stream of QUIC are those of its connection, which stay.
    ///
    /// # Errors
    /// What the kernel refuses; it goes on with the sizes that it has.
    pub fn apply(&self, change: SizeChange) -> io::Result<()> {
        match self.quic() {
            Some(_) => Ok(()),
            None => crate::buffers::apply(self.socket.as_fd(), change),
        }
    }

    /// It is connected.
    fn made(self) -> io::Result<Self> {
        self.socket.set_read_timeout(Some(self.tick))?;
        let local = self.socket.local_addr()?.as_socket().ok_or(io::ErrorKind::Unsupported)?;
        Ok(Self { local, ..self })
    }

    /// The peer's address and port.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// Our address and port.
    pub fn local(&self) -> SocketAddr {
        self.local
    }

    /// Sends pieces of memory in one call, as much as the kernel takes now; `more` follows at once.
    pub fn send(&self, pieces: &[IoSlice<'_>], more: bool) -> io::Result<Sent> {
        match &self.tls {
            None => self.send_to_kernel(pieces, more),
            Some(tls) => tls.send(pieces, self.as_fd()),
        }
    }

    fn send_to_kernel(&self, pieces: &[IoSlice<'_>], more: bool) -> io::Result<Sent> {
        let mut flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        flags.set(SendFlags::MORE, more);
        let sent =
            outcome(rustix::net::sendmsg(&self.socket, pieces, &mut SendAncillaryBuffer::default(), flags));
        if let (Some(lane), Ok(Sent::Bytes(count))) = (self.quic(), &sent) {
            lane.on_sent(*count);
        }
        sent
    }

    /// Sends a range of a file, which does not pass through user space, as much as the kernel takes now. 0 bytes: the file
    /// ends before the range does.
    pub fn send_file(&self, file: BorrowedFd<'_>, offset: u64, length: usize) -> io::Result<Sent> {
        if let Some(tls) = &self.tls {
            return self.send_file_sealed(tls, file, offset, length);
        }
        self.block_never()?;
        let mut offset = offset;
        let sent = outcome(rustix::fs::sendfile(&self.socket, file, Some(&mut offset), length));
        if let (Some(lane), Ok(Sent::Bytes(count))) = (self.quic(), &sent) {
            lane.on_sent(*count);
        }
        sent
    }

    /// From now on no call of the socket waits: no flag of `sendfile(2)` or `splice(2)` says so, only one of the socket. Who receives
    /// and means to wait does so as before.
    ///
    /// # Errors
    /// The kernel refuses it.
    pub fn block_never(&self) -> io::Result<()> {
        if !self.never_blocks.swap(true, Ordering::Relaxed) {
            self.socket.set_nonblocking(true)?;
        }
        Ok(())
    }

    /// Receives into the first place until it is full, then into the second. 0 bytes: the peer has closed.
    pub fn receive(&self, places: &mut [Place<'_>], wait: Wait) -> io::Result<Sent> {
        if let Some(tls) = &self.tls {
            return self.receive_opened(tls, places, wait);
        }
        if wait != Wait::No && self.never_blocks.load(Ordering::Relaxed) {
            let ready = self.wait(Readiness { readable: true, writable: false }, self.tick)?;
            if !ready.readable {
                return Ok(Sent::WouldBlock);
            }
        }
        syscall::receive_appending(self.socket.as_fd(), places, wait)
    }

    /// Waits until the connection is ready for one of these, or the time is over.
    pub fn wait(&self, wanted: Readiness, most: Duration) -> io::Result<Readiness> {
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, wanted.readable);
        flags.set(PollFlags::OUT, wanted.writable);
        let mut polled = [PollFd::new(&self.socket, flags)];
        let most = Timespec::try_from(most).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        match poll(&mut polled, Some(&most)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let ready = polled[0].revents();
        let over = ready.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL);
        Ok(Readiness {
            readable: over || ready.contains(PollFlags::IN),
            writable: over || ready.contains(PollFlags::OUT),
        })
    }

    /// What becomes of what was sent.
    ///
    /// # Errors
    /// The kernel does not tell.
    pub fn delivery(&self) -> io::Result<Delivery> {
        if let Some(lane) = self.quic() {
            let (is_under_way, since_acknowledgement) = lane.under_way();
            let round_trip = lane.facts().0.round_trip;
            // No second connection is tried beside one of QUIC, which follows a path that changes.
            return Ok(Delivery { is_in_vain: false, is_under_way, since_acknowledgement, round_trip });
        }
        let mut bytes = [0; INFORMATION_ROOM];
        let length = syscall::tcp_info(self.socket.as_fd(), &mut bytes)?;
        Ok(Delivery::of(&TcpInfo::decode(&bytes[..length])))
    }

    /// Ends our direction of the connection: the peer learns that nothing more comes, and may go on sending.
    pub fn end_sending(&self) {
        self.say_end();
        let _ = self.socket.shutdown(Shutdown::Write);
    }

    fn say_end(&self) {
        if let Some(tls) = &self.tls {
            tls.say_end(self.as_fd());
        }
    }

    /// Ends the connection in both directions; whoever waits on it is woken.
    pub fn shut_down(&self) {
        self.say_end();
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    /// The same, with a reset: what the peer has not acknowledged is given up, and the peer knows that what it sent may not have
    /// been read. Another connection carries on.
    pub fn cut(&self) {
        if let Some(lane) = self.quic() {
            lane.cut();
        }
        let _ = self.socket.set_linger(Some(Duration::ZERO));
        self.free_port();
        let _ = self.socket.shutdown(Shutdown::Both);
    }

    /// Whether the connection is reset if this process dies, or closes it without another word: then the peer knows that it did not end
    /// in order. What is not sent yet is given up with it.
    pub fn reset_if_lost(&self, resets: bool) {
        let _ = self.socket.set_linger(resets.then_some(Duration::ZERO));
    }

    /// Ends what is left of the connection at once, on both hosts, though others still hold it: another one may come from its port.
    pub fn free_port(&self) {
        if self.quic.is_none() {
            let _ = rustix::net::connect_unspec(&self.socket);
        }
    }
}

impl Delivery {
    fn of(info: &TcpInfo) -> Self {
        let is_under_way = info.unacknowledged_segments.is_some_and(|segments| segments > 0);
        // Without a route nothing gets on the way, and the kernel asks as it asks a peer without room; that one answers.
        let is_asked = info.probes.is_some_and(|probes| probes > 0);
        Self {
            is_in_vain: is_asked || is_under_way && info.timeouts.is_some_and(|timeouts| timeouts > 0),
            is_under_way,
            since_acknowledgement: info.since_acknowledgement.unwrap_or_default(),
            round_trip: info.round_trip.unwrap_or_default(),
        }
    }
}

impl Connecting {
    /// Begins to connect.
    pub fn begin(address: SocketAddr, settings: &ConnectSettings) -> io::Result<Self> {
        from_a_port(settings, |port| {
            let connection = Connection::prepare(port, address, settings)?;
            connection.socket.set_nonblocking(true)?;
            match connection.socket.connect(&address.into()) {
                Err(error) if Errno::from_io_error(&error) != Some(Errno::INPROGRESS) => Err(error),
                _ => Ok(Self(connection)),
            }
        })
    }

    /// Whether it is made by now.
    ///
    /// # Errors
    /// It will not be.
    pub fn is_made(&self) -> io::Result<bool> {
        let wanted = Readiness { readable: false, writable: true };
        let is_over = self.0.wait(wanted, Duration::ZERO)?.writable;
        match self.0.socket.take_error()? {
            Some(error) => Err(error),
            None => Ok(is_over),
        }
    }

    /// The connection, which is made.
    pub fn finish(self) -> io::Result<Connection> {
        self.0.socket.set_nonblocking(false)?;
        self.0.made()
    }
}

/// Connects from the port that is asked for, one of those that servers like best, or else from any.
pub(crate) fn from_a_port<T>(
    settings: &ConnectSettings,
    connect: impl Fn(Option<u16>) -> io::Result<T>,
) -> io::Result<T> {
    let reserved = reserved_ports().filter(|_| settings.reserved_port);
    for port in settings.from.into_iter().chain(reserved) {
        match connect(Some(port)) {
            Err(error) if matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::AddrNotAvailable) => {}
            Err(error) if error.kind() == ErrorKind::PermissionDenied => break,
            outcome => return outcome,
        }
    }
    connect(None)
}

/// Some of the ports that clients of NFS come from, in an order by chance: two that start together should not try the
/// same ones.
pub(crate) fn reserved_ports() -> impl Iterator<Item = u16> {
    let first = RandomState::new().hash_one(RESERVED.start()) as u16;
    let count = RESERVED.end() - RESERVED.start() + 1;
    (0..RESERVED_TRIES).map(move |at| RESERVED.start() + (first % count + at) % count)
}

impl AsFd for Connection {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    use super::*;

    const SETTINGS: ConnectSettings = ConnectSettings {
        timeout: Duration::from_secs(10),
        silence: Duration::from_secs(30),
        reserved_port: false,
        from: None,
        tick: Duration::from_millis(10),
        window: None,
    };

    #[test]
    fn reserved_ports_are_different_ones_of_their_range() {
        let mut ports: Vec<u16> = reserved_ports().collect();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), usize::from(RESERVED_TRIES));
        assert!(ports.iter().all(|port| RESERVED.contains(port)), "{ports:?}");
    }

    #[test]
    fn who_may_comes_from_a_reserved_port() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let settings = ConnectSettings { reserved_port: true, ..SETTINGS };
        let connection =
            Connection::open(listener.local_addr().expect("bound"), &settings).expect("connected");
        let (_peer, from) = listener.accept().expect("accepted");
        assert_eq!(from, connection.local());
    }

    /// Connects again from the port of a connection, while that is still held; gives the port before, and after.
    fn again(listener: &TcpListener, connection: &Connection, settings: &ConnectSettings) -> [u16; 2] {
        let before = connection.local().port();
        let settings = ConnectSettings { from: Some(before), ..*settings };
        let again = Connection::open(connection.peer(), &settings).expect("connected");
        let (_peer, from) = listener.accept().expect("accepted");
        assert_eq!(from, again.local());
        [before, from.port()]
    }

    /// Whether the one after a connection that is over comes from its port: any but those that somebody else has by then, as he may
    /// have on a host with thousands of connections.
    /// A peer that is still there learns of the end, though it takes what was sent before only now.
    fn comes_back(
        listener: &TcpListener,
        settings: &ConnectSettings,
        over: impl Fn() -> (Connection, Option<TcpStream>),
    ) -> bool {
        (0..10).any(|_| {
            let (connection, peer) = over();
            let [before, after] = again(listener, &connection, settings);
            if let Some(mut peer) = peer {
                peer.read_exact(&mut [0; 4]).expect("sent before");
                assert!(!peer.read(&mut [0]).is_ok_and(|count| count > 0));
            }
            before == after
        })
    }

    #[test]
    fn a_connection_takes_the_place_of_another_whichever_way_that_ended() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        for reserved_port in [false, true] {
            let settings = ConnectSettings { reserved_port, ..SETTINGS };
            let open = || {
                let connection = Connection::open(address, &settings).expect("connected");
                let (mut peer, _) = listener.accept().expect("accepted");
                connection.send(&[IoSlice::new(b"howdy")], false).expect("open");
                peer.read_exact(&mut [0]).expect("sent");
                (connection, peer)
            };
            let over = |connection: &Connection| {
                let mut buffer = Vec::new();
                while let Ok(Sent::WouldBlock) =
                    connection.receive(&mut [Place { buffer: &mut buffer, most: 1 }], Wait::Some)
                {
                }
                connection.shut_down();
                connection.free_port();
            };
            // The server resets it, since it has not read all; then it closes it regularly.
            for unread in [4, 0] {
                let ended = || {
                    let (connection, mut peer) = open();
                    peer.read_exact(&mut [0; 4][unread..]).expect("sent");
                    drop(peer);
                    over(&connection);
                    (connection, None)
                };
                assert!(comes_back(&listener, &settings, ended), "{unread} bytes unread");
            }
            // We end it, and the server learns that.
            let cut = || {
                let (connection, peer) = open();
                connection.cut();
                connection.free_port();
                (connection, Some(peer))
            };
            assert!(comes_back(&listener, &settings, cut), "cut");
            // It is not over: another port has to do.
            let (connection, _peer) = open();
            let [before, after] = again(&listener, &connection, &settings);
            assert_ne!(before, after);
        }
    }

    /// Begins to connect, and waits until that came to something.
    fn connect(address: SocketAddr) -> io::Result<Connection> {
        let connecting = Connecting::begin(address, &SETTINGS)?;
        while !connecting.is_made()? {
            std::thread::yield_now();
        }
        connecting.finish()
    }

    #[test]
    fn a_connection_that_nobody_waits_for_is_as_good_as_another() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let connection = connect(address).expect("it listens");
        let (mut peer, from) = listener.accept().expect("accepted");
        assert_eq!((from, address), (connection.local(), connection.peer()));
        peer.write_all(b"howdy").expect("sent");
        let mut received = Vec::new();
        let count = connection.receive(&mut [Place { buffer: &mut received, most: 5 }], Wait::All);
        assert_eq!((count.expect("open"), &received[..]), (Sent::Bytes(5), &b"howdy"[..]));
        assert!(!connection.delivery().expect("a connection").is_in_vain);
        drop((listener, peer));
        assert_eq!(connect(address).expect_err("nobody listens").kind(), ErrorKind::ConnectionRefused);
    }

    #[test]
    fn what_a_peer_has_not_taken_goes_with_a_connection_that_is_cut() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let connection =
            Connection::open(listener.local_addr().expect("bound"), &SETTINGS).expect("connected");
        let (mut peer, _) = listener.accept().expect("accepted");
        let piece = [7; 64 << 10];
        while let Sent::Bytes(_) = connection.send(&[IoSlice::new(&piece)], false).expect("open") {}
        connection.cut();
        drop(connection);
        let error = peer.read_to_end(&mut Vec::new()).expect_err("no regular end");
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }

    #[test]
    fn a_peer_is_lost_that_was_sent_something_again_in_vain_and_not_one_without_room() {
        let of = |unacknowledged, timeouts, probes| {
            let info = TcpInfo {
                unacknowledged_segments: Some(unacknowledged),
                timeouts: Some(timeouts),
                probes: Some(probes),
                ..TcpInfo::default()
            };
            let Delivery { is_in_vain, is_under_way, .. } = Delivery::of(&info);
            assert_eq!(is_under_way, unacknowledged > 0);
            is_in_vain
        };
        assert!(of(1, 1, 0) && of(0, 0, 1));
        assert!(!of(0, 0, 0) && !of(1, 0, 0) && !of(0, 1, 0));
        assert_eq!(Delivery::of(&TcpInfo::default()), Delivery::default());
    }

    #[test]
    fn bytes_are_appended_to_one_place_after_the_other() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let connection =
            Connection::open(listener.local_addr().expect("bound"), &SETTINGS).expect("connected");
        let (mut peer, from) = listener.accept().expect("accepted");
        assert_eq!(from, connection.local());
        let (mut first, mut second) = (b"<".to_vec(), Vec::new());
        let mut receive = |wait| {
            let mut places =
                [Place { buffer: &mut first, most: 3 }, Place { buffer: &mut second, most: 100 }];
            connection.receive(&mut places, wait)
        };
        assert_eq!(receive(Wait::No).expect("open"), Sent::WouldBlock);
        assert_eq!(receive(Wait::Some).expect("open"), Sent::WouldBlock);
        peer.write_all(b"howdy").expect("sent");
        assert_eq!(receive(Wait::Some).expect("open"), Sent::Bytes(5));
        connection.shut_down();
        assert_eq!(receive(Wait::Some).expect("open"), Sent::Bytes(0));
        assert_eq!((&first[..], &second[..]), (&b"<how"[..], &b"dy"[..]));
    }

    #[test]
    fn a_file_is_sent_as_far_as_there_is_room_and_receiving_still_waits() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let settings = ConnectSettings { tick: Duration::from_secs(10), ..SETTINGS };
        let connection =
            Connection::open(listener.local_addr().expect("bound"), &settings).expect("connected");
        let (mut peer, _) = listener.accept().expect("accepted");
        let mut file = tempfile::tempfile().expect("a file");
        let bytes: Vec<u8> = (0..16 << 20_u32).map(|at| (at >> 8) as u8).collect();
        file.write_all(&bytes).expect("written");
        let mut sent = 0;
        // More than the kernel holds: in the end there is no room, and nobody waits for it.
        while let Sent::Bytes(count) =
            connection.send_file(file.as_fd(), sent as u64, bytes.len() - sent).expect("sent")
        {
            assert_ne!(count, 0);
            sent += count;
        }
        assert!(sent < bytes.len());
        assert_eq!(connection.send_file(file.as_fd(), bytes.len() as u64, 1).expect("open"), Sent::Bytes(0));

        let mut received = vec![0; sent];
        peer.read_exact(&mut received).expect("received");
        assert!(received == bytes[..sent]);
        let mut answer = Vec::new();
        std::thread::scope(|scope| {
            let waits =
                scope.spawn(|| connection.receive(&mut [Place { buffer: &mut answer, most: 5 }], Wait::Some));
            peer.write_all(b"howdy").expect("sent");
            assert_eq!(waits.join().expect("no panic").expect("open"), Sent::Bytes(5));
        });
        assert_eq!(answer, b"howdy");
    }
}
