//! A far server that is nothing but sockets: it answers the first question of a relay, and is the test's from then on.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use howdah_net::Listener;
use howdah_relay::{Far, Relay, RelaySettings};

/// What a call begins with, for a program that nobody knows.
pub const FIRST_WORDS: [u32; 5] = [0x8000_0010, 7, 0, 2, 200_000];
/// The length of a NULL call without credentials, with its mark.
const NULL: usize = 44;
/// A test that waits longer for a byte has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A relay, and the far server behind it.
pub struct Site {
    pub far: TcpListener,
    pub relay: Relay,
}

/// The first words of a call of that program.
pub fn words(program: u32) -> Vec<u8> {
    let [mark, xid, kind, version, _] = FIRST_WORDS;
    [mark, xid, kind, version, program].iter().flat_map(|word| word.to_be_bytes()).collect()
}

pub fn listen() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    (listener, address)
}

/// Answers so many NULL calls, each on a connection of its own: "done" for programs that are there.
pub fn answer_null(far: &TcpListener, times: usize, is_there: impl Fn(u32) -> bool) {
    for _ in 0..times {
        let (mut stream, _) = far.accept().expect("asked");
        let mut call = [0; NULL];
        stream.read_exact(&mut call).expect("a call");
        let program = u32::from_be_bytes(call[16..20].try_into().expect("four bytes"));
        let status = if is_there(program) { 0_u32 } else { 1 };
        let mut answer = 0x8000_0018_u32.to_be_bytes().to_vec();
        answer.extend_from_slice(&call[4..8]);
        for word in [1, 0, 0, 0, status] {
            answer.extend_from_slice(&u32::to_be_bytes(word));
        }
        stream.write_all(&answer).expect("open");
    }
}

pub fn relay_to(url: &str, settings: &RelaySettings) -> Relay {
    let far = Far::find(&url.parse().expect("a URL")).unwrap_or_else(|error| panic!("{error}"));
    let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
    Relay::start(far, vec![listener], settings).expect("a relay")
}

impl Site {
    pub fn new(settings: &RelaySettings) -> Self {
        let (far, address) = listen();
        let relay = thread::scope(|scope| {
            scope.spawn(|| answer_null(&far, 2, |_| true));
            relay_to(&format!("nfs://{address}"), settings)
        });
        Self { far, relay }
    }

    /// A client that has said its first words, and the far server's side, which has heard them.
    pub fn connect(&self) -> (TcpStream, TcpStream) {
        let mut near = self.client();
        let first = words(FIRST_WORDS[4]);
        near.write_all(&first).expect("open");
        let (mut far, _) = self.far.accept().expect("the relay connects");
        far.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let mut heard = vec![0; first.len()];
        far.read_exact(&mut heard).expect("passed on");
        assert_eq!(heard, first, "the same xid, and all else");
        (near, far)
    }

    pub fn client(&self) -> TcpStream {
        let near = TcpStream::connect(self.relay.addresses()[0]).expect("it listens");
        near.set_read_timeout(Some(PATIENCE)).expect("a socket");
        near
    }
}
