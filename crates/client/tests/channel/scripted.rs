//! A server that does what a test tells it, connection by connection.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::Encoder;

/// A call that came: its xid, and the message after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Came {
    pub xid: u32,
    pub message: Vec<u8>,
}

/// One connection to the server.
pub struct Guest {
    stream: TcpStream,
}

/// Starts a server that treats its first connection as number 0, and so on. It ends with the test.
pub fn start(treat: impl Fn(usize, Guest) -> io::Result<()> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("bound");
    listen(listener, treat);
    address
}

/// The same on a socket that listens already.
pub fn listen(listener: TcpListener, treat: impl Fn(usize, Guest) -> io::Result<()> + Send + Sync + 'static) {
    let treat = Arc::new(treat);
    thread::spawn(move || {
        for (number, stream) in listener.incoming().enumerate() {
            let (treat, stream) = (Arc::clone(&treat), stream.expect("a connection"));
            // A client that goes away in the middle is none of the script's business.
            thread::spawn(move || drop(treat(number, Guest { stream })));
        }
    });
}

impl Guest {
    /// The next call.
    pub fn call(&mut self) -> io::Result<Came> {
        let mut mark = [0; RecordMark::SIZE];
        self.stream.read_exact(&mut mark)?;
        let mut message = vec![0; RecordMark::from_bytes(mark).length as usize];
        self.stream.read_exact(&mut message)?;
        let xid = u32::from_be_bytes([message[0], message[1], message[2], message[3]]);
        Ok(Came { xid, message: message.split_off(4) })
    }

    /// The port that it comes from.
    pub fn port(&self) -> u16 {
        self.stream.peer_addr().expect("connected").port()
    }

    /// Sends these bytes.
    pub fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Answers a call with these results.
    pub fn answer(&mut self, came: &Came, results: &[u8]) -> io::Result<()> {
        self.send(&reply(came.xid, results))
    }

    /// Answers all calls from here on with nothing.
    pub fn answer_all(&mut self) -> io::Result<()> {
        loop {
            let came = self.call()?;
            self.answer(&came, &[])?;
        }
    }

    /// Takes all calls from here on and answers none, until the client goes away.
    pub fn ignore_all(&mut self) -> io::Result<()> {
        io::copy(&mut self.stream, &mut io::sink()).map(drop)
    }
}

/// A reply as a record.
pub fn reply(xid: u32, results: &[u8]) -> Vec<u8> {
    let mut message = Encoder::to_vec(&ReplyHeader { xid, outcome: Ok(Accepted::Success) });
    message.extend_from_slice(results);
    let mark = RecordMark { length: message.len() as u32, last: true };
    [&mark.to_bytes()[..], &message].concat()
}

/// Results of a READ without attributes.
pub fn read_results(data: &[u8]) -> Vec<u8> {
    let length = data.len() as u32;
    let mut results: Vec<u8> = [0, 0, length, 1, length].iter().flat_map(|word| word.to_be_bytes()).collect();
    results.extend_from_slice(data);
    results.resize(results.len().next_multiple_of(4), 0);
    results
}
