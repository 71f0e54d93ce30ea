//! Somebody in the middle: passes records between client and server, and may change a reply, or lose it with the connection,
//! as networks and other servers do.

#![allow(dead_code, reason = "each test program uses some of it")]

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use howdah_wire::rpc::{Accepted, Call, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encoder};

/// The xids of calls that are made here begin so.
pub const OWN_CALL: [u8; 2] = [0xca, 0x11];
/// Longer than any answer takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// `msg_type` of a reply.
const REPLY: [u8; 4] = [0, 0, 0, 1];

/// A call and the reply to it.
pub struct Exchange<'e> {
    pub program: u32,
    pub procedure: u32,
    pub arguments: &'e [u8],
    /// What follows the header of the reply.
    pub results: &'e [u8],
}

/// What becomes of a reply.
pub enum Fate {
    Pass,
    /// Other results arrive.
    Replace(Vec<u8>),
    /// It does not arrive, and the connection breaks.
    Lose,
    /// It does not arrive.
    Drop,
    /// The program is said not to be served.
    Deny,
}

type Judge = Box<dyn FnMut(&Exchange<'_>) -> Fate + Send>;

/// Listens in the server's place as long as this lives.
pub struct Middleman {
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    server: Mutex<SocketAddr>,
    judge: Mutex<Judge>,
    /// Connections to clients. Held while a record is sent over any of them.
    clients: Mutex<Vec<TcpStream>>,
    /// Replies of clients to calls that were made here.
    answers: Mutex<HashMap<[u8; 4], Vec<u8>>>,
    answered: Condvar,
}

impl Middleman {
    pub fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let shared = Arc::new(Shared {
            server: Mutex::new(server),
            judge: Mutex::new(Box::new(|_| Fate::Pass)),
            clients: Mutex::default(),
            answers: Mutex::default(),
            answered: Condvar::new(),
        });
        let accepting = Arc::clone(&shared);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = *accepting.server.lock().expect("unpoisoned");
                let Ok(server) = TcpStream::connect(server) else { continue };
                relay(&accepting, client, server);
            }
        });
        Self { address, shared }
    }

    /// What becomes of the replies from here on.
    pub fn judge(&self, judge: impl FnMut(&Exchange<'_>) -> Fate + Send + 'static) {
        *self.shared.judge.lock().expect("unpoisoned") = Box::new(judge);
    }

    /// There is no such program from here on.
    pub fn deny(&self, program: u32) {
        self.judge(move |exchange| if exchange.program == program { Fate::Deny } else { Fate::Pass });
    }

    /// Sends a message to all clients, as if it came from the server.
    pub fn inject(&self, message: &[u8]) {
        for client in &*self.shared.clients.lock().expect("unpoisoned") {
            // Some of them are over.
            let _ = send(client, message);
        }
    }

    /// Calls all clients, and waits for a reply.
    pub fn call_client(&self, call: &[u8]) -> Vec<u8> {
        self.inject(call);
        let answers = self.shared.answers.lock().expect("unpoisoned");
        let is_missing = |answers: &mut HashMap<[u8; 4], Vec<u8>>| !answers.contains_key(&xid(call));
        let waited = self.shared.answered.wait_timeout_while(answers, PATIENCE, is_missing);
        waited.expect("unpoisoned").0.remove(&xid(call)).expect("an answer of the client in time")
    }

    /// Resets all connections.
    pub fn cut(&self) {
        self.shared.clients.lock().expect("unpoisoned").drain(..).for_each(|client| lose(&client));
    }

    /// Connections from here on lead to another server.
    pub fn lead_to(&self, server: SocketAddr) {
        *self.shared.server.lock().expect("unpoisoned") = server;
    }
}

/// The calls under way on one connection.
type Calls = Arc<Mutex<HashMap<[u8; 4], Vec<u8>>>>;

fn relay(shared: &Arc<Shared>, client: TcpStream, server: TcpStream) {
    [&client, &server].into_iter().for_each(|stream| stream.set_nodelay(true).expect("no delay"));
    let calls = Calls::default();
    shared.clients.lock().expect("unpoisoned").push(client.try_clone().expect("a clone"));
    let ends = || (client.try_clone().expect("a clone"), server.try_clone().expect("a clone"));
    let (shared, kept, (from, to)) = (Arc::clone(shared), Arc::clone(&calls), ends());
    let its = Arc::clone(&shared);
    std::thread::spawn(move || {
        let _ = pass_calls(&its, &from, &to, &kept);
        close(&from, &to);
    });
    std::thread::spawn(move || {
        let _ = pass_replies(&shared, &server, &client, &calls);
        close(&server, &client);
    });
}

/// The connection is reset, as one that is lost ends sooner or later. In order it would end for who had every reply.
fn lose(stream: &TcpStream) {
    let _ = rustix::net::connect_unspec(stream);
}

fn close(one: &TcpStream, other: &TcpStream) {
    [one, other].into_iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
}

fn pass_calls(shared: &Shared, client: &TcpStream, server: &TcpStream, calls: &Calls) -> io::Result<()> {
    loop {
        let call = receive(client)?;
        if call.get(4..8) == Some(&REPLY) && call.starts_with(&OWN_CALL) {
            shared.answers.lock().expect("unpoisoned").insert(xid(&call), call);
            shared.answered.notify_all();
            continue;
        }
        calls.lock().expect("unpoisoned").insert(xid(&call), call.clone());
        send(server, &call)?;
    }
}

fn pass_replies(shared: &Shared, server: &TcpStream, client: &TcpStream, calls: &Calls) -> io::Result<()> {
    loop {
        let reply = receive(server)?;
        let call = calls.lock().expect("unpoisoned").remove(&xid(&reply)).unwrap_or_default();
        match fate(shared, &call, &reply) {
            (_, Fate::Pass) => deliver(shared, client, &reply)?,
            (head, Fate::Replace(results)) => {
                deliver(shared, client, &[&reply[..head], &results].concat())?;
            }
            (_, Fate::Drop) => {}
            (_, Fate::Deny) => deliver(shared, client, &denied(&reply))?,
            (_, Fate::Lose) => {
                lose(server);
                return Ok(());
            }
        }
    }
}

/// A record for a client, while nobody else sends one.
fn deliver(shared: &Shared, client: &TcpStream, message: &[u8]) -> io::Result<()> {
    let _turn = shared.clients.lock().expect("unpoisoned");
    send(client, message)
}

/// What becomes of a reply, and how long its header is.
fn fate(shared: &Shared, call: &[u8], reply: &[u8]) -> (usize, Fate) {
    let mut decoder = Decoder::new(reply);
    let Ok(ReplyHeader { outcome: Ok(_), .. }) = ReplyHeader::decode(&mut decoder) else {
        return (0, Fate::Pass);
    };
    let Call::Call(header, arguments) = Call::parse(call) else { return (0, Fate::Pass) };
    let exchange = Exchange {
        program: header.program,
        procedure: header.procedure,
        arguments: arguments.rest(),
        results: decoder.rest(),
    };
    (decoder.position(), shared.judge.lock().expect("unpoisoned")(&exchange))
}

fn denied(reply: &[u8]) -> Vec<u8> {
    let xid = u32::from_be_bytes(xid(reply));
    Encoder::to_vec(&ReplyHeader { xid, outcome: Ok(Accepted::ProgramUnavailable) })
}

fn xid(message: &[u8]) -> [u8; 4] {
    message.first_chunk().copied().unwrap_or_default()
}

fn send(mut stream: &TcpStream, message: &[u8]) -> io::Result<()> {
    let mark = RecordMark { length: message.len() as u32, last: true };
    stream.write_all(&[&mark.to_bytes(), message].concat())
}

fn receive(mut stream: &TcpStream) -> io::Result<Vec<u8>> {
    let mut record = Vec::new();
    loop {
        let mut mark = [0; RecordMark::SIZE];
        stream.read_exact(&mut mark)?;
        let mark = RecordMark::from_bytes(mark);
        let start = record.len();
        record.resize(start + mark.length as usize, 0);
        stream.read_exact(&mut record[start..])?;
        if mark.last {
            return Ok(record);
        }
    }
}
