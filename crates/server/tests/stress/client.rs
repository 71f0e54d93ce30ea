//! One client: a file of its own, a model of what is in it, and bad manners.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use howdah_random::Random;
use howdah_wire::nfs3::create;
use howdah_wire::rpc::{RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder};
use socket2::{Domain, SockRef, Socket, Type};

use crate::batch::{Batch, FILE_SIZE, Files, create_call, remove_call};
use crate::common::{exchange, read_record};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);
/// The largest READ and WRITE over TCP and UDP.
const STREAM_MOST: usize = 1 << 20;
const DATAGRAM_MOST: usize = 8 << 10;

/// Where a client's calls go.
#[derive(Clone)]
pub struct Target {
    pub server: SocketAddr,
    pub root: Vec<u8>,
    /// Whether storage may refuse data, and take less than it was given.
    pub faulty: bool,
}

/// A client.
pub struct Client {
    target: Target,
    random: Random,
    name: String,
    next_xid: u32,
    generation: u32,
    file: Vec<u8>,
    stale: Vec<u8>,
    model: Vec<u8>,
}

impl Client {
    /// A client with a file of its own.
    pub fn new(target: Target, index: usize, seed: u64) -> Self {
        let random = Random::new(seed ^ ((index as u64) << 32));
        let (file, stale, model) = Default::default();
        // Replies are kept by xid: no two clients, and no two servers, share one.
        let next_xid = (index as u32 + 1) << 24;
        let name = format!("client-{index}");
        let mut client = Self { target, random, name, next_xid, generation: 0, file, stale, model };
        client.stale = client.make_file();
        let remove = remove_call(client.xid(), &client.target.root, &client.file_name());
        exchange(&mut connect(client.target.server, 0), &remove);
        client.start_over();
        client
    }

    /// Calls over TCP, batch by batch, until each of so many is answered.
    pub fn run_stream(mut self, batches: usize) {
        let mut stream = None;
        for _ in 0..batches {
            let mut open = stream.take().unwrap_or_else(|| self.connect());
            match self.random.index(12) {
                0 => self.abandon(open),
                1 => {
                    self.exchange_batch(&mut open);
                    open.shutdown(Shutdown::Write).expect("no more calls");
                    assert_eq!(open.read(&mut [0]).expect("the server closes too"), 0);
                }
                _ => {
                    self.exchange_batch(&mut open);
                    stream = Some(open);
                }
            }
        }
    }

    /// The same over UDP.
    pub fn run_datagrams(mut self, batches: usize) {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("any port");
        socket.connect(self.target.server).expect("an address");
        socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let files = self.files();
        let mut reply = vec![0; 65_536];
        for _ in 0..batches {
            let mut batch = Batch::new(&files, DATAGRAM_MOST, self.target.faulty, &mut self.next_xid);
            batch.add(&mut self.random);
            for call in batch.calls() {
                socket.send(&call[RecordMark::SIZE..]).expect("sending");
            }
            while !batch.is_answered() {
                let length = socket.recv(&mut reply).expect("a reply");
                batch.on_reply(&reply[..length], &mut self.model);
            }
        }
        socket.set_nonblocking(true).expect("not blocking");
        assert_eq!(socket.recv(&mut reply).expect_err("no reply too many").kind(), ErrorKind::WouldBlock);
    }

    /// Sends a batch in some pieces while reading the replies in others.
    fn exchange_batch(&mut self, stream: &mut TcpStream) {
        let files = self.files();
        let mut batch = Batch::new(&files, STREAM_MOST, self.target.faulty, &mut self.next_xid);
        (0..1 + self.random.index(20)).for_each(|_| batch.add(&mut self.random));
        let bytes = in_fragments(&batch.calls(), &mut self.random);
        let (sender, pieces) = (stream.try_clone().expect("a second descriptor"), self.random.clone());
        self.random.number();
        let slow = self.random.one_in(4);
        std::thread::scope(|scope| {
            scope.spawn(move || send_in_pieces(sender, &bytes, pieces));
            while !batch.is_answered() {
                let reply = if slow { read_slowly(stream, &mut self.random) } else { read_record(stream) };
                batch.on_reply(&reply, &mut self.model);
            }
        });
    }

    /// Goes away in the middle of calls and replies, without a word. What became of the file, nobody knows.
    fn abandon(&mut self, mut stream: TcpStream) {
        let files = self.files();
        let mut batch = Batch::new(&files, STREAM_MOST, self.target.faulty, &mut self.next_xid);
        (0..1 + self.random.index(20)).for_each(|_| batch.add(&mut self.random));
        let bytes = in_fragments(&batch.calls(), &mut self.random);
        stream.set_nonblocking(true).expect("not blocking");
        let _ = stream.write(&bytes[..self.random.index(bytes.len() + 1)]);
        let _ = stream.read(&mut vec![0; self.random.length(1 << 20)]);
        if self.random.one_in(2) {
            SockRef::from(&stream).set_linger(Some(Duration::ZERO)).expect("a reset instead of a goodbye");
        }
        drop(stream);
        self.start_over();
    }

    /// Another file, whose content is known.
    fn start_over(&mut self) {
        self.generation += 1;
        self.file = self.make_file();
        self.model = vec![0; FILE_SIZE];
    }

    fn make_file(&mut self) -> Vec<u8> {
        let call = create_call(self.xid(), &self.target.root, &self.file_name(), FILE_SIZE);
        let result = exchange(&mut connect(self.target.server, 0), &call);
        let made = create::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("made");
        made.node.expect("a handle").0.to_vec()
    }

    fn file_name(&self) -> String {
        format!("{}-file-{}", self.name, self.generation)
    }

    fn files(&self) -> Files {
        Files {
            root: self.target.root.clone(),
            file: self.file.clone(),
            stale: self.stale.clone(),
            prefix: self.name.clone(),
        }
    }

    fn xid(&mut self) -> u32 {
        self.next_xid += 1;
        self.next_xid
    }

    fn connect(&mut self) -> TcpStream {
        // Some have a small window, so that replies wait in the server.
        connect(self.target.server, if self.random.one_in(3) { 4 << 10 } else { 0 })
    }
}

/// A connection, whose receive window is this small unless 0 is said.
fn connect(server: SocketAddr, window: usize) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    if window > 0 {
        socket.set_recv_buffer_size(window).expect("a window");
    }
    socket.connect(&server.into()).expect("connecting");
    let stream = TcpStream::from(socket);
    stream.set_nodelay(true).expect("no delay");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

/// Calls one after the other, some of them in several fragments.
fn in_fragments(calls: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let mut bytes = Vec::new();
    for call in calls {
        let mut rest = &call[RecordMark::SIZE..];
        while random.one_in(5) {
            let (fragment, behind) = rest.split_at(random.index(rest.len() + 1));
            bytes.extend(RecordMark { length: fragment.len() as u32, last: false }.to_bytes());
            bytes.extend(fragment);
            rest = behind;
        }
        bytes.extend(RecordMark { length: rest.len() as u32, last: true }.to_bytes());
        bytes.extend(rest);
    }
    bytes
}

/// At once, or in odd pieces of which the first are tiny.
fn send_in_pieces(mut stream: TcpStream, mut bytes: &[u8], mut random: Random) {
    if random.one_in(2) {
        return stream.write_all(bytes).expect("sending");
    }
    for most in (0..300).map(|_| 7).chain(std::iter::repeat(300 << 10)) {
        let length = if most == 7 { random.length(most) } else { random.length(most) + most / 8 };
        let (piece, rest) = bytes.split_at(length.min(bytes.len()));
        stream.write_all(piece).expect("sending");
        bytes = rest;
        if bytes.is_empty() {
            return;
        }
    }
}

/// One reply, read in small pieces.
fn read_slowly(stream: &mut TcpStream, random: &mut Random) -> Vec<u8> {
    let mut mark = [0; RecordMark::SIZE];
    mark.chunks_mut(1).for_each(|byte| stream.read_exact(byte).expect("a record mark"));
    let mut record = vec![0; RecordMark::from_bytes(mark).length as usize];
    let mut rest = &mut record[..];
    while !rest.is_empty() {
        let length = random.length(64 << 10).min(rest.len());
        let (piece, behind) = rest.split_at_mut(length);
        stream.read_exact(piece).expect("a record");
        std::thread::yield_now();
        rest = behind;
    }
    ReplyHeader::decode(&mut Decoder::new(&record)).expect("a reply");
    record
}
