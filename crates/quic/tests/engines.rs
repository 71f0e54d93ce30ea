//! Two engines that exchange datagrams in a test's own time: streams, bounds, and peers that misbehave.

#![allow(clippy::disallowed_methods)] // Some instant is needed to start from.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use howdah_quic::limits::{
    HANDSHAKE_PATIENCE, IDLE_MAX, MOVES_MAX, STREAM_WINDOW, STREAMS_MAX, UNPROVED_MAX,
};
use howdah_quic::{ConnectionKey, Engine, EngineSecret, LostWhy, QuicEvent, StreamKey, StreamRead};
use rustls::client::{ClientSessionStore, Resumption, Tls12ClientSessionValue, Tls13ClientSessionValue};
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::version::TLS13;
use rustls::{ClientConfig, NamedGroup, RootCertStore, ServerConfig};

const SERVER: &str = "192.0.2.1:4433";
const CLIENT: &str = "192.0.2.2:700";
/// One way.
const DELAY: Duration = Duration::from_millis(5);
const SECRET: EngineSecret = EngineSecret([7; 32]);

fn address(text: &str) -> SocketAddr {
    text.parse().expect("an address")
}

/// A server's and a client's settings, which trust each other.
fn settings() -> (Arc<ServerConfig>, ClientConfig) {
    let made = rcgen::generate_simple_self_signed(vec!["server.test".to_owned()]).expect("a certificate");
    let certificate = CertificateDer::from(made.cert);
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).expect("a key");
    let provider = Arc::new(aws_lc_rs::default_provider());
    let server = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(&[&TLS13])
        .expect("TLS 1.3")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .expect("they belong together");
    let mut roots = RootCertStore::empty();
    roots.add(certificate).expect("a root");
    let client = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .expect("TLS 1.3")
        .with_root_certificates(roots)
        .with_no_client_auth();
    (Arc::new(server), client)
}

/// A datagram on its way: when it arrives, and from where.
type Flight = (Instant, SocketAddr, Vec<u8>);

/// A client and a server, and what is between them.
struct World {
    now: Instant,
    server: Engine,
    client: Engine,
    tls: ClientConfig,
    /// Where the client is.
    at: SocketAddr,
    to_server: VecDeque<Flight>,
    to_client: VecDeque<Flight>,
    /// Bytes that the server has received and sent.
    server_bytes: (usize, usize),
    server_events: Vec<QuicEvent>,
    client_events: Vec<QuicEvent>,
    /// Nothing of the client's arrives.
    is_cut: bool,
}

impl World {
    fn new() -> Self {
        let (server_tls, tls) = settings();
        Self {
            now: Instant::now(),
            server: Engine::server(SECRET, server_tls, |_| 1_500).expect("a server"),
            client: Engine::client(EngineSecret([1; 32]), |_| 1_500),
            tls,
            at: address(CLIENT),
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            server_bytes: (0, 0),
            server_events: Vec::new(),
            client_events: Vec::new(),
            is_cut: false,
        }
    }

    fn connect(&mut self) -> ConnectionKey {
        self.client.connect(self.now, address(SERVER), (&self.tls, "server.test")).expect("begun")
    }

    fn connected() -> (Self, ConnectionKey) {
        let mut world = Self::new();
        let connection = world.connect();
        world.run(Duration::from_millis(200));
        let is_connected = |event: &QuicEvent| matches!(event, QuicEvent::Connected { .. });
        assert!(world.client_events.iter().any(is_connected), "{:?}", world.client_events);
        assert!(world.server_events.iter().any(is_connected), "{:?}", world.server_events);
        (world, connection)
    }

    /// Sends what both have to send.
    fn exchange(&mut self) {
        let mut buffer = Vec::new();
        while let Some(transmit) = self.client.poll_transmit(self.now, 10, &mut buffer) {
            for datagram in buffer.chunks(transmit.segment_size.unwrap_or(transmit.size)) {
                self.to_server.push_back((self.now + DELAY, self.at, datagram.to_vec()));
            }
        }
        while let Some(transmit) = self.server.poll_transmit(self.now, 10, &mut buffer) {
            self.server_bytes.1 += transmit.size;
            for datagram in buffer.chunks(transmit.segment_size.unwrap_or(transmit.size)) {
                self.to_client.push_back((self.now + DELAY, transmit.destination, datagram.to_vec()));
            }
        }
        self.client_events.extend(std::iter::from_fn(|| self.client.poll_event()));
        self.server_events.extend(std::iter::from_fn(|| self.server.poll_event()));
    }

    /// Gives both what has arrived.
    fn deliver(&mut self) {
        while let Some((_, from, datagram)) = arrived(&mut self.to_server, self.now) {
            if !self.is_cut {
                self.give_server(from, &datagram);
            }
        }
        while let Some((_, to, datagram)) = arrived(&mut self.to_client, self.now) {
            // What goes to where the client is no more is lost.
            if to == self.at {
                self.client.on_datagram(self.now, address(SERVER), None, BytesMut::from(&datagram[..]));
            }
        }
    }

    fn give_server(&mut self, from: SocketAddr, datagram: &[u8]) {
        self.server_bytes.0 += datagram.len();
        self.server.on_datagram(self.now, from, None, BytesMut::from(datagram));
    }

    /// Lets time pass.
    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        self.exchange();
        loop {
            let arrivals =
                [self.to_server.front(), self.to_client.front()].into_iter().flatten().map(|(at, ..)| *at);
            let timers = [self.client.poll_timeout(), self.server.poll_timeout()].into_iter().flatten();
            let Some(next) = arrivals.chain(timers).min().filter(|next| *next <= end) else { break };
            self.now = self.now.max(next);
            self.deliver();
            self.client.on_time(self.now);
            self.server.on_time(self.now);
            self.exchange();
        }
        self.now = end;
    }

    fn opened(&self) -> Vec<StreamKey> {
        let opened = |event: &QuicEvent| match event {
            QuicEvent::Opened(stream) => Some(*stream),
            _ => None,
        };
        self.server_events.iter().filter_map(opened).collect()
    }

    fn lost(events: &[QuicEvent]) -> Option<&LostWhy> {
        events.iter().find_map(|event| match event {
            QuicEvent::Lost { why, .. } => Some(why),
            _ => None,
        })
    }
}

/// The next datagram that has arrived by now.
fn arrived(flights: &mut VecDeque<Flight>, now: Instant) -> Option<Flight> {
    let has_arrived = flights.front().is_some_and(|(at, ..)| *at <= now);
    has_arrived.then(|| flights.pop_front()).flatten()
}

fn read_all(engine: &mut Engine, stream: StreamKey) -> (usize, StreamRead) {
    let mut chunks = VecDeque::new();
    let read = engine.read(stream, usize::MAX, &mut chunks);
    (chunks.iter().map(Bytes::len).sum(), read)
}

#[test]
fn bytes_and_the_end_of_a_stream_arrive() {
    let (mut world, connection) = World::connected();
    let stream = world.client.open(connection).expect("a stream");
    let mut call = Bytes::from(vec![7; 100_000]);
    while !call.is_empty() {
        assert!(world.client.write(stream, &mut call));
        world.run(Duration::from_millis(20));
    }
    world.client.finish(stream);
    world.run(Duration::from_secs(1));
    let [opened] = world.opened()[..] else { panic!("one stream") };
    assert_eq!(read_all(&mut world.server, opened), (100_000, StreamRead::Ended));
    assert!(world.server.write(opened, &mut Bytes::from_static(b"answer")));
    world.run(Duration::from_millis(100));
    assert_eq!(read_all(&mut world.client, stream), (6, StreamRead::Blocked));
}

#[test]
fn a_stream_that_is_given_up_ends_by_a_reset() {
    let (mut world, connection) = World::connected();
    let stream = world.client.open(connection).expect("a stream");
    world.client.write(stream, &mut Bytes::from_static(b"half a c"));
    world.run(Duration::from_millis(100));
    let [opened] = world.opened()[..] else { panic!("one stream") };
    world.client.reset(stream);
    world.run(Duration::from_millis(100));
    assert_eq!(read_all(&mut world.server, opened).1, StreamRead::Reset);
    assert!(!world.server.write(opened, &mut Bytes::from_static(b"answer")), "nobody reads it");
}

#[test]
fn streams_beyond_those_that_may_be_wait() {
    let (mut world, connection) = World::connected();
    let streams: Vec<_> = std::iter::from_fn(|| world.client.open(connection)).collect();
    assert_eq!(streams.len(), STREAMS_MAX);
    for stream in &streams {
        world.client.write(*stream, &mut Bytes::from_static(b"call"));
    }
    world.run(Duration::from_millis(100));
    assert_eq!(world.opened().len(), STREAMS_MAX);
    assert!(world.client.open(connection).is_none());
    // Those that end in both directions make room for others.
    let ended = world.opened();
    streams.iter().for_each(|stream| world.client.finish(*stream));
    ended.iter().for_each(|stream| world.server.finish(*stream));
    world.run(Duration::from_millis(100));
    assert!(ended.iter().all(|stream| read_all(&mut world.server, *stream).1 == StreamRead::Ended));
    assert!(streams.iter().all(|stream| read_all(&mut world.client, *stream).1 == StreamRead::Ended));
    world.run(Duration::from_millis(100));
    assert!(world.client.open(connection).is_some());
}

#[test]
fn a_stream_that_nobody_reads_holds_no_more_than_its_window() {
    let (mut world, connection) = World::connected();
    let stream = world.client.open(connection).expect("a stream");
    let mut sent = 0;
    loop {
        let mut piece = Bytes::from(vec![0; 1 << 20]);
        world.client.write(stream, &mut piece);
        sent += (1 << 20) - piece.len() as u64;
        world.run(Duration::from_millis(500));
        if !piece.is_empty() {
            break;
        }
        assert!(sent <= 2 * STREAM_WINDOW, "{sent}");
    }
    let [opened] = world.opened()[..] else { panic!("one stream") };
    assert_eq!(read_all(&mut world.server, opened).0 as u64, STREAM_WINDOW);
}

#[test]
fn a_silent_connection_is_forgotten() {
    let (mut world, connection) = World::connected();
    world.run(10 * IDLE_MAX);
    assert!(World::lost(&world.server_events).is_none(), "its client says that it is there");
    world.is_cut = true;
    world.run(2 * IDLE_MAX);
    assert_eq!(World::lost(&world.server_events), Some(&LostWhy::Silence));
    assert_eq!(World::lost(&world.client_events), Some(&LostWhy::Silence));
    assert!(world.client.open(connection).is_none());
    assert_eq!(world.server.counts(), (0, 0));
}

#[test]
fn a_server_that_restarted_says_so_at_once() {
    let (mut world, connection) = World::connected();
    world.server = Engine::server(SECRET, settings().0, |_| 1_500).expect("a server");
    let stream = world.client.open(connection).expect("a stream");
    world.client.write(stream, &mut Bytes::from_static(b"call"));
    world.run(Duration::from_millis(500));
    assert_eq!(World::lost(&world.client_events), Some(&LostWhy::Restarted));
}

#[test]
fn a_client_that_moves_stays_connected() {
    let (mut world, connection) = World::connected();
    let stream = world.client.open(connection).expect("a stream");
    for port in 701..705 {
        world.at = SocketAddr::new(address("198.51.100.9:0").ip(), port);
        world.client.write(stream, &mut Bytes::from_static(b"call"));
        world.run(Duration::from_secs(2));
    }
    let moves = world.server_events.iter().filter(|event| matches!(event, QuicEvent::Moved { .. })).count();
    assert_eq!(moves, 4);
    // The reader of the first call can see that its sender has moved.
    let at = |is_it: fn(&QuicEvent) -> bool| world.server_events.iter().position(is_it);
    assert!(
        at(|event| matches!(event, QuicEvent::Moved { .. }))
            < at(|event| matches!(event, QuicEvent::Opened(_)))
    );
    let [opened] = world.opened()[..] else { panic!("one stream") };
    assert_eq!(read_all(&mut world.server, opened).0, 16, "nothing is lost");
    world.server.write(opened, &mut Bytes::from_static(b"answer"));
    world.run(Duration::from_millis(500));
    assert_eq!(read_all(&mut world.client, stream).0, 6);
}

#[test]
fn a_connection_that_moves_too_often_is_closed() {
    let (mut world, connection) = World::connected();
    let stream = world.client.open(connection).expect("a stream");
    for port in 0..=MOVES_MAX as u16 {
        assert!(World::lost(&world.server_events).is_none(), "{port}");
        world.at = SocketAddr::new(address("198.51.100.9:0").ip(), 1_000 + port);
        world.client.write(stream, &mut Bytes::from_static(b"call"));
        world.run(Duration::from_secs(2));
    }
    assert!(World::lost(&world.server_events).is_some());
}

/// The first datagrams of connections that go nowhere, each of another client.
fn first_datagrams(world: &World, count: usize) -> Vec<(SocketAddr, Vec<u8>)> {
    let mut engine = Engine::client(EngineSecret([2; 32]), |_| 1_500);
    let mut buffer = Vec::new();
    let begin = |number: usize| {
        engine.connect(world.now, address(SERVER), (&world.tls, "server.test")).expect("begun");
        let mut datagrams = Vec::new();
        while let Some(transmit) = engine.poll_transmit(world.now, 1, &mut buffer) {
            datagrams.push(buffer[..transmit.size].to_vec());
        }
        let from = SocketAddr::from(([203, 0, (number >> 8) as u8, number as u8], 5_000));
        (from, datagrams.swap_remove(0))
    };
    (0..count).map(begin).collect()
}

#[test]
fn a_flood_of_half_open_handshakes_keeps_nobody_out() {
    let mut world = World::new();
    for (from, datagram) in first_datagrams(&world, 10_000) {
        world.give_server(from, &datagram);
        world.exchange();
    }
    let (received, sent) = world.server_bytes;
    assert!(sent <= 3 * received, "{sent} bytes for {received}");
    assert!(world.server.counts().1 <= UNPROVED_MAX, "{:?}", world.server.counts());
    world.connect();
    world.run(Duration::from_millis(500));
    let is_connected = |event: &QuicEvent| matches!(event, QuicEvent::Connected { .. });
    assert!(world.client_events.iter().any(is_connected), "{:?}", world.client_events);
}

#[test]
fn a_handshake_that_goes_nowhere_is_forgotten() {
    let mut world = World::new();
    for (from, datagram) in first_datagrams(&world, UNPROVED_MAX) {
        world.give_server(from, &datagram);
    }
    world.exchange();
    assert_eq!(world.server.counts(), (UNPROVED_MAX, UNPROVED_MAX));
    world.run(2 * HANDSHAKE_PATIENCE);
    assert_eq!(world.server.counts(), (0, 0));
    let (received, sent) = world.server_bytes;
    assert!(sent <= 3 * received, "{sent} bytes for {received}");
}

#[test]
fn truncated_and_forged_datagrams_change_nothing() {
    let (mut world, connection) = World::connected();
    let stream = world.client.open(connection).expect("a stream");
    world.client.write(stream, &mut Bytes::from(vec![7; 10_000]));
    world.exchange();
    let real: Vec<Vec<u8>> = world.to_server.iter().map(|(.., datagram)| datagram.clone()).collect();
    let first = first_datagrams(&world, 4).into_iter().map(|(_, datagram)| datagram);
    for datagram in real.into_iter().chain(first) {
        for length in (0..datagram.len()).step_by(7) {
            world.give_server(address("203.0.113.9:9"), &datagram[..length]);
        }
        for at in (0..datagram.len()).step_by(13) {
            let mut forged = datagram.clone();
            forged[at] ^= 0x55;
            world.give_server(address("203.0.113.9:9"), &forged);
        }
        world.exchange();
    }
    let (received, sent) = world.server_bytes;
    assert!(sent <= 3 * received, "{sent} bytes for {received}");
    world.run(Duration::from_secs(1));
    assert!(World::lost(&world.server_events).is_none(), "{:?}", world.server_events);
    let opened = world.opened();
    assert_eq!(read_all(&mut world.server, opened[0]), (10_000, StreamRead::Blocked));
}

#[test]
fn another_version_is_answered_by_those_that_there_are() {
    let mut world = World::new();
    let (from, mut datagram) = first_datagrams(&world, 1).swap_remove(0);
    datagram[1..5].copy_from_slice(&0x1a2a_3a4a_u32.to_be_bytes());
    world.give_server(from, &datagram);
    let mut buffer = Vec::new();
    let transmit = world.server.poll_transmit(world.now, 1, &mut buffer).expect("an answer");
    assert!(transmit.size < datagram.len());
    assert_eq!(buffer[1..5], [0; 4], "version negotiation (RFC 9000 17.2.1)");
    assert!(buffer.windows(4).any(|version| version == 1_u32.to_be_bytes()));
    // What is too short for a first datagram is not answered at all.
    world.give_server(from, &datagram[..600]);
    assert!(world.server.poll_transmit(world.now, 1, &mut buffer).is_none());
}

/// How many bytes each ticket of a server lets a client send early.
#[derive(Debug, Default)]
struct Tickets(Mutex<Vec<u32>>);

impl ClientSessionStore for Tickets {
    fn set_kx_hint(&self, _: ServerName<'static>, _: NamedGroup) {}

    fn kx_hint(&self, _: &ServerName<'_>) -> Option<NamedGroup> {
        None
    }

    fn set_tls12_session(&self, _: ServerName<'static>, _: Tls12ClientSessionValue) {}

    fn tls12_session(&self, _: &ServerName<'_>) -> Option<Tls12ClientSessionValue> {
        None
    }

    fn remove_tls12_session(&self, _: &ServerName<'static>) {}

    fn insert_tls13_ticket(&self, _: ServerName<'static>, ticket: Tls13ClientSessionValue) {
        self.0.lock().expect("no panic").push(ticket.max_early_data_size());
    }

    fn take_tls13_ticket(&self, _: &ServerName<'static>) -> Option<Tls13ClientSessionValue> {
        None
    }
}

#[test]
fn no_ticket_lets_a_client_send_early() {
    let (mut world, tickets) = (World::new(), Arc::<Tickets>::default());
    world.tls.resumption = Resumption::store(Arc::clone(&tickets) as _);
    world.connect();
    world.run(Duration::from_millis(500));
    let tickets = tickets.0.lock().expect("no panic");
    assert!(!tickets.is_empty() && tickets.iter().all(|early| *early == 0), "{tickets:?}");
}
