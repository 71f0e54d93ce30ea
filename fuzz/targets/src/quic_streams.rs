//! Streams of QUIC between two engines, in virtual time, on a path that loses, repeats, changes, cuts and reorders datagrams: what comes out
//! of a stream is the beginning of what went in, whatever both ends do with their streams.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use howdah_quic::{Engine, EngineSecret, QuicEvent, StreamKey, StreamRead};

use crate::tls_site::site;

/// Steps of one input, of so many bytes each.
const STEPS_MAX: usize = 96;
const STEP_BYTES: usize = 5;
/// How far apart they are.
const STEP: Duration = Duration::from_millis(20);
/// Steps in which a handshake is done, if nothing is lost.
const HANDSHAKE_STEPS: usize = 4;
/// Datagrams that one end sends in a step.
const DATAGRAMS_MAX: usize = 64;
const SERVER: ([u8; 4], u16) = ([192, 0, 2, 1], 4433);
const CLIENT: [u8; 4] = [192, 0, 2, 2];
const PORT: u16 = 700;
const MTU: usize = 1_500;

/// One end, and its streams in the order in which they were opened.
struct Side {
    engine: Engine,
    streams: Vec<Passed>,
}

/// What passed one end of a stream.
struct Passed {
    key: StreamKey,
    written: Vec<u8>,
    read: Vec<u8>,
    /// It writes no more.
    has_ended: bool,
}

impl Side {
    fn new(engine: Engine) -> Self {
        Self { engine, streams: Vec::new() }
    }

    fn add(&mut self, key: StreamKey) {
        self.streams.push(Passed { key, written: Vec::new(), read: Vec::new(), has_ended: false });
    }

    /// Sends what there is to send, and takes in what happened.
    fn datagrams(&mut self, now: Instant) -> Vec<Vec<u8>> {
        let (mut all, mut buffer) = (Vec::new(), Vec::new());
        while all.len() < DATAGRAMS_MAX {
            let Some(transmit) = self.engine.poll_transmit(now, 8, &mut buffer) else { break };
            let length = transmit.segment_size.unwrap_or(transmit.size).max(1);
            all.extend(buffer[..transmit.size].chunks(length).map(<[u8]>::to_vec));
        }
        while let Some(event) = self.engine.poll_event() {
            if let QuicEvent::Opened(stream) = event {
                self.add(stream);
            }
        }
        all
    }

    fn write(&mut self, at: usize, length: usize) {
        let Some(stream) = self.streams.get_mut(at).filter(|stream| !stream.has_ended) else { return };
        let begun = stream.written.len();
        let piece: Vec<u8> = (begun..begun + length).map(|place| (place * 7 + at * 31) as u8).collect();
        let mut left = Bytes::from(piece.clone());
        self.engine.write(stream.key, &mut left);
        stream.written.extend_from_slice(&piece[..length - left.len()]);
    }

    fn end(&mut self, at: usize, is_in_order: bool) {
        let Some(stream) = self.streams.get_mut(at).filter(|stream| !stream.has_ended) else { return };
        stream.has_ended = true;
        if is_in_order { self.engine.finish(stream.key) } else { self.engine.reset(stream.key) }
    }

    /// Reads of a stream that the other end has written so.
    fn read(&mut self, at: usize, most: usize, other: &Self) {
        let Some(stream) = self.streams.get_mut(at) else { return };
        let mut chunks = VecDeque::new();
        let came = self.engine.read(stream.key, most, &mut chunks);
        chunks.iter().for_each(|chunk| stream.read.extend_from_slice(chunk));
        let written = other.streams.get(at).map_or(&[][..], |stream| &stream.written);
        assert!(
            written.starts_with(&stream.read),
            "stream {at}: {} bytes came that nobody sent so",
            stream.read.len()
        );
        if came == StreamRead::Ended {
            assert_eq!(written.len(), stream.read.len(), "stream {at} ended before its end");
        }
    }
}

/// Lets a client and a server use streams, and does to what passes what the input says.
#[allow(clippy::disallowed_methods, reason = "some instant is needed to start from")]
pub fn run(input: &[u8]) {
    let (server, client) = site();
    let (tls, name) = client.quic_config();
    let server = Engine::server(EngineSecret([7; 32]), server.quic_config(), |_| MTU).expect("good settings");
    let (mut client, mut server) =
        (Side::new(Engine::client(EngineSecret([1; 32]), |_| MTU)), Side::new(server));
    let (mut now, mut port) = (Instant::now(), PORT);
    let connection = client.engine.connect(now, SERVER.into(), (&tls, &name)).expect("good settings");
    let calm = [[0; STEP_BYTES]; HANDSHAKE_STEPS];
    for step in calm.iter().map(|step| &step[..]).chain(input.chunks(STEP_BYTES).take(STEPS_MAX)) {
        let byte = |at: usize| step.get(at).copied().unwrap_or(0);
        let (at, length) = (usize::from(byte(1) & 7), usize::from(byte(2)) * 64);
        match byte(0) & 15 {
            1 => client.engine.open(connection).into_iter().for_each(|stream| client.add(stream)),
            2 | 3 => client.write(at, length),
            4 => server.write(at, length),
            5 | 6 => client.end(at, byte(0) & 1 == 1),
            7 | 8 => server.end(at, byte(0) & 1 == 1),
            9 | 10 => server.read(at, length, &client),
            11 => client.read(at, length, &server),
            12 => {
                server.streams.get(at).into_iter().for_each(|stream| server.engine.stop_reading(stream.key))
            }
            13 => port = PORT + u16::from(byte(2) & 3),
            _ => {}
        }
        let from = SocketAddr::from((CLIENT, port));
        for datagram in disturbed(client.datagrams(now), byte(3), byte(4)) {
            server.engine.on_datagram(now, from, None, BytesMut::from(&datagram[..]));
        }
        for datagram in disturbed(server.datagrams(now), byte(3) >> 4, byte(4)) {
            client.engine.on_datagram(now, SERVER.into(), None, BytesMut::from(&datagram[..]));
        }
        now += STEP * (1 + u32::from(byte(0) >> 4));
        client.engine.on_time(now);
        server.engine.on_time(now);
    }
    for at in 0..client.streams.len() {
        server.read(at, usize::MAX, &client);
        client.read(at, usize::MAX, &server);
    }
}

/// What arrives of these datagrams.
fn disturbed(mut datagrams: Vec<Vec<u8>>, how: u8, where_at: u8) -> Vec<Vec<u8>> {
    let Some(last) = datagrams.len().checked_sub(1) else { return datagrams };
    let at = usize::from(where_at) % (last + 1);
    let place = usize::from(where_at) * datagrams[at].len() / 256;
    match how & 15 {
        1 => datagrams.clear(),
        2 => drop(datagrams.remove(at)),
        3 => datagrams.push(datagrams[at].clone()),
        4 => datagrams.reverse(),
        5 => datagrams[at].truncate(place),
        6 if place < datagrams[at].len() => datagrams[at][place] ^= where_at | 1,
        7 => datagrams.insert(0, vec![where_at; usize::from(where_at) * 5]),
        _ => {}
    }
    datagrams
}
