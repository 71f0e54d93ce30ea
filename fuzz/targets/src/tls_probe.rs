//! The question whether TLS may begin (AUTH_TLS), as clients ask it and as somebody on the way may: twice, with a body, in the middle
//! of other calls, with bytes behind it. To a server behind a socket, which answers each call once and believes no byte in the clear
//! that comes after its answer.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use howdah_server::exports::{ClientRule, Export, Exports};
use howdah_server::{Server, Settings, Sockets};
use howdah_tls::{SEALED_MAX, TlsSession};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs3;
use howdah_wire::rpc::{Accepted, AuthStatus, Denied, RecordMark, ReplyHeader, TlsAnswer};
use howdah_wire::xdr::{Decode, Decoder};

use crate::tls_site::site;

/// Calls of one input.
const CALLS_MAX: u32 = 32;
/// An answer that takes longer does not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// The flavor of a question for TLS.
const AUTH_TLS: u32 = 7;
/// What a ClientHello begins with.
const HANDSHAKE: u8 = 0x16;
/// No answer here is longer: what seems so is no record.
const ANSWER_MAX: usize = 1 << 10;

/// A server with TLS, started once.
fn server() -> SocketAddr {
    static SERVER: OnceLock<(Server, SocketAddr)> = OnceLock::new();
    let (_, address) = SERVER.get_or_init(|| {
        let any = "127.0.0.1:0".parse().expect("an address");
        let sockets = Sockets::bind(&[any], false).expect("a free port");
        let settings = Settings { workers: 2, tls: Some(site().0.clone()), ..Settings::default() };
        let memory = Arc::new(MemoryFileSystem::new());
        let export = Export::new("/", 1, memory, vec![ClientRule::default()]);
        let exports = Exports::new(vec![export], [7; 16]).expect("one export");
        let server = Server::start(&settings, sockets, exports).expect("a server");
        let address = server.addresses()[0].1;
        (server, address)
    });
    *address
}

/// A connection that nobody disturbs.
fn other_client() -> MutexGuard<'static, TcpStream> {
    static OTHER: OnceLock<Mutex<TcpStream>> = OnceLock::new();
    OTHER.get_or_init(|| Mutex::new(connect())).lock().expect("no other input runs")
}

fn connect() -> TcpStream {
    let stream = TcpStream::connect(server()).expect("the server takes connections");
    stream.set_nodelay(true).expect("no delay");
    stream.set_read_timeout(Some(PATIENCE)).expect("patience");
    stream
}

/// What the input has sent, and what came of it.
struct Client {
    stream: TcpStream,
    /// What goes with the next segment.
    segment: Vec<u8>,
    /// Calls by their xid, and whether each may begin TLS: a question as it should be, of which nothing comes behind in its segment.
    calls: HashMap<u32, bool>,
    /// The question that ends the segment.
    last: Option<u32>,
    /// Bytes that are no call were sent, or the server has closed: no answer is waited for.
    is_wild: bool,
    /// The first byte of all is that of TLS: what comes back is no record.
    is_direct: bool,
    /// TLS begins.
    has_begun: bool,
}

/// Each step: what is sent in a byte, and what it is made of in another. Then the connection ends, or TLS begins.
pub fn run(input: &[u8]) {
    let mut client = Client {
        stream: connect(),
        segment: Vec::new(),
        calls: HashMap::new(),
        last: None,
        is_wild: false,
        is_direct: false,
        has_begun: false,
    };
    let mut steps = input.chunks(2);
    for xid in 1..=CALLS_MAX {
        let Some(step) = steps.next() else { break };
        client.step(xid, step[0], step.get(1).copied().unwrap_or(0));
    }
    client.flush();
    match client.has_begun && !client.is_wild {
        true => secure(&client.stream),
        false => client.end(),
    }
    // Whatever it was, others are served.
    let mut other = other_client();
    other.write_all(&call(1, 0, (0, 0), 0, &[])).expect("sent");
    let answer = receive(&mut other).expect("an answer").expect("another client is served");
    assert_eq!(outcome(&answer), (1, Ok(Accepted::Success)));
}

/// A call of NFS with so many bytes in its credential and in its verifier, and other words behind.
fn call(xid: u32, procedure: u32, (flavor, body): (u32, u32), verifier: u32, words: &[u32]) -> Vec<u8> {
    let opaque = |length: u32| [vec![length], vec![0x0101_0101; length.div_ceil(4) as usize]].concat();
    let head = vec![xid, 0, 2, nfs3::PROGRAM, nfs3::VERSION, procedure, flavor];
    let message = [head, opaque(body), vec![0], opaque(verifier), words.to_vec()].concat();
    let bytes: Vec<u8> = message.iter().flat_map(|word| word.to_be_bytes()).collect();
    record(&bytes, true)
}

fn record(bytes: &[u8], last: bool) -> Vec<u8> {
    [&RecordMark { length: bytes.len() as u32, last }.to_bytes()[..], bytes].concat()
}

impl Client {
    fn step(&mut self, xid: u32, what: u8, byte: u8) {
        let small = u32::from(byte % 16);
        match what % 9 {
            0 => self.put(xid, false, &call(xid, 0, (0, 0), 0, &[])),
            1 => self.put(xid, true, &call(xid, 0, (AUTH_TLS, 0), 0, &[])),
            2 => self.put(xid, small == 0, &call(xid, small, (AUTH_TLS, 0), 0, &[])),
            3 => self.put(xid, small == 0, &call(xid, 0, (AUTH_TLS, small), 0, &[])),
            4 => self.put(xid, small == 0, &call(xid, 0, (AUTH_TLS, 0), small, &[])),
            5 => self.put(xid, small == 0, &call(xid, 0, (AUTH_TLS, 0), 0, &vec![7; small as usize])),
            // In two fragments.
            6 => {
                let whole = call(xid, 0, (AUTH_TLS, 0), 0, &[]).split_off(RecordMark::SIZE);
                let (one, other) = whole.split_at(usize::from(byte) % whole.len());
                self.put(xid, true, &[record(one, false), record(other, true)].concat());
            }
            7 => {
                self.is_direct |= xid == 1 && byte == HANDSHAKE;
                self.is_wild = true;
                self.put(xid, false, &[byte]);
            }
            _ => self.flush(),
        }
    }

    fn put(&mut self, xid: u32, is_question: bool, bytes: &[u8]) {
        // What was the last is not any longer.
        if let Some(before) = self.last.take() {
            self.calls.insert(before, false);
        }
        self.segment.extend_from_slice(bytes);
        self.calls.insert(xid, is_question);
        self.last = is_question.then_some(xid);
    }

    /// Sends the segment, and takes the answers to all that was sent, if they are sure to come.
    fn flush(&mut self) {
        if self.has_begun && !self.segment.is_empty() {
            // In the clear, where TLS has begun.
            self.is_wild = true;
        }
        self.last = None;
        let segment = std::mem::take(&mut self.segment);
        if self.stream.write_all(&segment).is_err() {
            self.is_wild = true;
        }
        while !self.is_wild && !self.calls.is_empty() && !self.has_begun {
            match receive(&mut self.stream).expect("an answer in time") {
                Some(answer) => self.take(&answer),
                None => self.is_wild = true,
            }
        }
    }

    /// No more comes: takes whatever is answered until the server ends the connection, too.
    fn end(mut self) {
        // The server may have ended it already.
        let _ = self.stream.shutdown(Shutdown::Write);
        while let Ok(Some(answer)) = receive(&mut self.stream) {
            if self.has_begun || self.is_direct {
                // An alert of TLS, or what looks like a record in it.
                return;
            }
            self.take(&answer);
        }
    }

    fn take(&mut self, answer: &[u8]) {
        assert!(!self.has_begun, "an answer in the clear after TLS began");
        let (xid, outcome) = outcome(answer);
        let Some(may_begin) = self.calls.remove(&xid) else {
            // A call that bytes on the way have made.
            assert!(self.is_wild, "an answer to call {xid}, which is none or was answered before");
            return;
        };
        let begins = TlsAnswer::decode(&mut Decoder::new(answer)) == Ok(TlsAnswer::Begins { xid });
        assert!(may_begin || self.is_wild || !begins, "TLS begins after call {xid}: {outcome:?}");
        assert!(!begins || self.is_wild || self.calls.is_empty(), "TLS begins before all calls are answered");
        self.has_begun = begins;
    }
}

fn outcome(answer: &[u8]) -> (u32, Result<Accepted, Denied>) {
    let header = ReplyHeader::decode(&mut Decoder::new(answer)).expect("a reply");
    (header.xid, header.outcome)
}

/// The next record; `None` if the connection ends before.
fn receive(stream: &mut TcpStream) -> io::Result<Option<Vec<u8>>> {
    let mut mark = [0; RecordMark::SIZE];
    let mut read = |bytes: &mut [u8]| match stream.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
        Err(_) => Ok(false),
    };
    if !read(&mut mark)? {
        return Ok(None);
    }
    let mut bytes = vec![0; (RecordMark::from_bytes(mark).length as usize).min(ANSWER_MAX)];
    Ok(read(&mut bytes)?.then_some(bytes))
}

/// TLS begins, and within it a call is answered, and a question for TLS refused.
fn secure(stream: &TcpStream) {
    let mut session = site().1.session().expect("random numbers");
    let (mut kept, mut plain) = (Vec::new(), Vec::new());
    while session.is_handshaking() {
        exchange(stream, &mut session, &mut kept, &mut plain);
    }
    for (xid, flavor, wanted) in [
        (1, 0, Ok(Accepted::Success)),
        (2, AUTH_TLS, Err(Denied::Authentication(AuthStatus::BadCredentials))),
        (3, 0, Ok(Accepted::Success)),
    ] {
        let mut sealed = vec![0; SEALED_MAX];
        let call = call(xid, 0, (flavor, 0), 0, &[]);
        let length = session.seal(&call, &mut kept, &mut sealed).expect("sealed");
        session.outgoing().extend_from_slice(&sealed[..length]);
        plain.clear();
        while plain.len() <= RecordMark::SIZE {
            exchange(stream, &mut session, &mut kept, &mut plain);
        }
        assert_eq!(outcome(&plain[RecordMark::SIZE..]), (xid, wanted), "within TLS");
    }
}

/// Sends what the session has to say, and takes what comes.
fn exchange(mut stream: &TcpStream, session: &mut TlsSession, kept: &mut Vec<u8>, plain: &mut Vec<u8>) {
    stream.write_all(&std::mem::take(session.outgoing())).expect("sent");
    let mut buffer = [0; 16 << 10];
    let count = stream.read(&mut buffer).expect("an answer in time");
    assert_ne!(count, 0, "the server ends a connection that was to become TLS");
    kept.extend_from_slice(&buffer[..count]);
    let opened = session.open(kept, |piece| plain.extend_from_slice(piece)).expect("TLS");
    kept.drain(..opened);
}
