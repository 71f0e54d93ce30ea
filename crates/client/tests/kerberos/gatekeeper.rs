//! A gatekeeper before a server that knows no Kerberos: checks and unprotects calls, and protects replies.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use howdah_client::channel::KerberosError;
use howdah_client::gss::{EstablishedContext, TicketSource, TokenExchange};
use howdah_gss::{ContextSide, Enctype, GssContext, LucidContext, SequenceWindow, SessionKey, WRAP_HEAD};
use howdah_wire::rpc::{
    Accepted, AuthStatus, AuthSys, Call, CallHeader, Credentials, Denied, GssCredential, GssInit,
    GssInitResult, GssProcedure, GssService, RecordMark, ReplyHeader, SealedBody, SignedBody, SignedCall,
    SignedReply,
};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

/// The user that the server takes all callers for.
pub const USER: u32 = 4711;
/// `KRB5KRB_AP_ERR_REPEAT`, as servers send it.
const REPLAY: u32 = 2_529_638_946;
/// Flavors that MOUNT's reply lists.
const FLAVORS: [u32; 3] = [390_003, 390_004, 390_005];
/// MOUNT's program and its MNT.
const MNT: (u32, u32) = (100_005, 1);

/// Listens in the server's place as long as the test lives.
pub struct Gatekeeper {
    pub address: SocketAddr,
    pub gate: Arc<Gate>,
}

/// What all connections share.
#[derive(Debug)]
pub struct Gate {
    /// Keys of tickets that were given out, by their tokens.
    tickets: Mutex<HashMap<Vec<u8>, SessionKey>>,
    contexts: Mutex<HashMap<Vec<u8>, Arc<Context>>>,
    next: AtomicU32,
    /// Tickets asked for.
    pub asked: AtomicU32,
    /// Contexts made, and calls with them.
    pub made: AtomicU32,
    pub calls: AtomicU32,
    /// Calls that the server has, and the most so far.
    under_way: AtomicU32,
    pub most: AtomicU32,
    /// How long tickets given out from now on last, in seconds.
    pub lifetime: AtomicU64,
    /// Why there are no tickets.
    pub lack: Mutex<Option<KerberosError>>,
    /// The server refuses the next token as a replay.
    pub has_seen_next: AtomicBool,
    /// The server refuses the next token, since its ticket has ended.
    pub refuses_next: AtomicBool,
    /// The next reply does not arrive, and the connection breaks.
    pub loses_next: AtomicBool,
    /// The next reply arrives with a bit changed.
    pub changes_next: AtomicBool,
    pub window: u32,
}

#[derive(Debug)]
struct Context {
    keys: GssContext,
    window: SequenceWindow,
}

/// A call that the server has.
struct Waiting {
    context: Arc<Context>,
    service: GssService,
    sequence: u32,
}

/// One connection.
struct Passage {
    gate: Arc<Gate>,
    client: Mutex<TcpStream>,
    server: Mutex<TcpStream>,
    waiting: Mutex<HashMap<u32, Waiting>>,
    mounts: Mutex<Vec<u32>>,
}

impl Gatekeeper {
    pub fn before(server: SocketAddr, window: u32) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("its address");
        let gate = Arc::new(Gate {
            tickets: Mutex::default(),
            contexts: Mutex::default(),
            next: AtomicU32::new(1),
            asked: AtomicU32::new(0),
            made: AtomicU32::new(0),
            calls: AtomicU32::new(0),
            under_way: AtomicU32::new(0),
            most: AtomicU32::new(0),
            lifetime: AtomicU64::new(36_000),
            lack: Mutex::default(),
            has_seen_next: AtomicBool::new(false),
            refuses_next: AtomicBool::new(false),
            loses_next: AtomicBool::new(false),
            changes_next: AtomicBool::new(false),
            window,
        });
        let its = Arc::clone(&gate);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else { continue };
                let _ = Passage::open(&its, client, server);
            }
        });
        Self { address, gate }
    }
}

impl Gate {
    /// All contexts are forgotten, as by a server that restarts.
    pub fn forget(&self) {
        self.contexts.lock().expect("unpoisoned").clear();
    }

    fn accept(&self, token: &[u8]) -> Option<(Vec<u8>, Arc<Context>)> {
        let key = self.tickets.lock().expect("unpoisoned").remove(token)?;
        self.made.fetch_add(1, Ordering::SeqCst);
        let keys = GssContext::new(&lucid(ContextSide::Acceptor, key, 0));
        let handle = self.next.fetch_add(1, Ordering::SeqCst).to_be_bytes().to_vec();
        let context = Arc::new(Context { keys, window: SequenceWindow::new() });
        self.contexts.lock().expect("unpoisoned").insert(handle.clone(), Arc::clone(&context));
        Some((handle, context))
    }
}

fn lucid(side: ContextSide, key: SessionKey, expiry: u64) -> LucidContext {
    LucidContext { side, key, acceptor_subkey: true, send_sequence: 0, expiry }
}

impl TicketSource for Gate {
    fn establish(
        &self,
        _: u32,
        service: &str,
        exchange: &mut TokenExchange<'_>,
    ) -> Result<EstablishedContext, KerberosError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if let Some(lack) = self.lack.lock().expect("unpoisoned").clone() {
            return Err(lack);
        }
        assert_eq!(service, "nfs@127.0.0.1");
        let number = self.next.fetch_add(1, Ordering::SeqCst);
        let enctype = Enctype::ALL[number as usize % Enctype::ALL.len()];
        let bytes: Vec<u8> = (0..enctype.key_length() as u32).map(|at| (at ^ (number * 37)) as u8).collect();
        let key = SessionKey::new(enctype.number(), &bytes).expect("a key");
        let token = format!("token {number}").into_bytes();
        self.tickets.lock().expect("unpoisoned").insert(token.clone(), key.clone());
        assert_eq!(exchange(&token)?, b"back");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs();
        let expiry = now + self.lifetime.load(Ordering::SeqCst);
        Ok(EstablishedContext {
            client: "alice@TEST".to_owned(),
            lucid: lucid(ContextSide::Initiator, key, expiry),
        })
    }
}

impl Passage {
    fn open(gate: &Arc<Gate>, client: TcpStream, server: TcpStream) -> io::Result<()> {
        let (mut from_client, mut from_server) = (client.try_clone()?, server.try_clone()?);
        let passage = Arc::new(Self {
            gate: Arc::clone(gate),
            client: Mutex::new(client),
            server: Mutex::new(server),
            waiting: Mutex::default(),
            mounts: Mutex::default(),
        });
        let back = Arc::clone(&passage);
        std::thread::spawn(move || {
            while read_record(&mut from_server).is_ok_and(|reply| back.back(&reply).is_ok()) {}
            back.close();
        });
        std::thread::spawn(move || {
            while read_record(&mut from_client).is_ok_and(|call| passage.forth(&call).is_ok()) {}
            passage.close();
        });
        Ok(())
    }

    fn close(&self) {
        for stream in [&self.client, &self.server] {
            let _ = stream.lock().expect("unpoisoned").shutdown(Shutdown::Both);
        }
    }

    /// A call of the client.
    fn forth(&self, message: &[u8]) -> io::Result<()> {
        let Call::Call(header, decoder) = Call::parse(message) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        match header.credentials {
            Credentials::Gss(GssCredential { procedure: GssProcedure::Init, .. }) => {
                self.to_client(&self.initiate(header.xid, decoder))
            }
            Credentials::Gss(credential) => self.data(message, header, credential, decoder.rest()),
            _ => {
                if (header.program, header.procedure) == MNT {
                    self.mounts.lock().expect("unpoisoned").push(header.xid);
                }
                self.to_server(message)
            }
        }
    }

    fn initiate(&self, xid: u32, mut decoder: Decoder<'_>) -> Vec<u8> {
        let GssInit { token } = GssInit::decode(&mut decoder).expect("a token");
        let header = ReplyHeader { xid, outcome: Ok(Accepted::Success) };
        let is_replay = self.gate.has_seen_next.swap(false, Ordering::SeqCst);
        let is_refused = is_replay || self.gate.refuses_next.swap(false, Ordering::SeqCst);
        let accepted = if is_refused { None } else { self.gate.accept(token) };
        let Some((handle, context)) = accepted else {
            let minor = if is_replay { REPLAY } else { 7 };
            let refused = GssInitResult { handle: &[], major: 13 << 16, minor, window: 0, token: &[] };
            return [Encoder::to_vec(&header), Encoder::to_vec(&refused)].concat();
        };
        let window = self.gate.window;
        let mic = context.keys.sign(&[&window.to_be_bytes()]);
        let result = GssInitResult { handle: &handle, major: 0, minor: 0, window, token: b"back" };
        [Encoder::to_vec(&SignedReply { header, mic: mic.bytes() }), Encoder::to_vec(&result)].concat()
    }

    fn data(
        &self,
        message: &[u8],
        header: CallHeader<'_>,
        credential: GssCredential<'_>,
        rest: &[u8],
    ) -> io::Result<()> {
        let known = self.gate.contexts.lock().expect("unpoisoned").get(credential.handle).cloned();
        let signed = SignedCall::of(message).expect("a signed call");
        let context = known.filter(|its| its.keys.verify(&[signed.signed], signed.mic).is_ok());
        let Some(context) = context else {
            let outcome = Err(Denied::Authentication(AuthStatus::NoContext));
            return self.to_client(&Encoder::to_vec(&ReplyHeader { xid: header.xid, outcome }));
        };
        // As servers do, the connection is closed on a number that was seen, or that is too far behind.
        context.window.take(credential.sequence).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        self.gate.calls.fetch_add(1, Ordering::SeqCst);
        let under_way = self.gate.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        self.gate.most.fetch_max(under_way, Ordering::SeqCst);
        let (sequence, service, mut rest) = (credential.sequence, credential.service, rest.to_vec());
        let (number, arguments) = match service {
            GssService::None => (sequence, rest),
            GssService::Integrity => {
                let body = SignedBody::decode(&mut Decoder::new(&rest)).expect("signed");
                context.keys.verify(&[body.signed], body.mic).expect("signed by the client");
                let (number, arguments) = body.parts().expect("a number");
                (number, arguments.to_vec())
            }
            GssService::Privacy => {
                let token = SealedBody::find(&rest).expect("encrypted").token;
                let opened = context.keys.unwrap(&mut rest[token]).expect("encrypted by the client");
                let (number, arguments) = SealedBody::parts(opened).expect("a number");
                (number, arguments.to_vec())
            }
        };
        assert_eq!(number, sequence);
        self.waiting.lock().expect("unpoisoned").insert(header.xid, Waiting { context, service, sequence });
        let credentials = Credentials::Sys(AuthSys::new(b"gate", USER, USER, &[]));
        let plain = Encoder::to_vec(&CallHeader { credentials, ..header });
        self.to_server(&[plain, arguments].concat())
    }

    /// A reply of the server.
    fn back(&self, message: &[u8]) -> io::Result<()> {
        let mut decoder = Decoder::new(message);
        let header = ReplyHeader::decode(&mut decoder).expect("a reply");
        let results = decoder.rest();
        let waiting = self.waiting.lock().expect("unpoisoned").remove(&header.xid);
        let Some(Waiting { context, service, sequence }) = waiting else {
            return self.to_client(&self.with_flavors(header.xid, message));
        };
        self.gate.under_way.fetch_sub(1, Ordering::SeqCst);
        if self.gate.loses_next.swap(false, Ordering::SeqCst) {
            return Err(io::ErrorKind::ConnectionAborted.into());
        }
        let word = sequence.to_be_bytes();
        let mic = context.keys.sign(&[&word]);
        let mut reply = Encoder::to_vec(&SignedReply { header, mic: mic.bytes() });
        let body = [&word[..], results].concat();
        match service {
            _ if header.outcome != Ok(Accepted::Success) => {}
            GssService::None => reply.extend_from_slice(results),
            GssService::Integrity => {
                let mic = context.keys.sign(&[&body]);
                SignedBody { signed: &body, mic: mic.bytes() }.encode(&mut Encoder::new(&mut reply));
            }
            GssService::Privacy => {
                let mut token = vec![0; WRAP_HEAD];
                token.extend_from_slice(&body);
                token.resize(token.len() + context.keys.wrap_tail(), 0);
                context.keys.wrap(&mut token);
                Encoder::new(&mut reply).opaque(&token);
            }
        }
        if self.gate.changes_next.swap(false, Ordering::SeqCst) {
            reply[30] ^= 1;
        }
        self.to_client(&reply)
    }

    /// A reply to MNT lists what the gate takes.
    fn with_flavors(&self, xid: u32, message: &[u8]) -> Vec<u8> {
        let mut mounts = self.mounts.lock().expect("unpoisoned");
        let Some(at) = mounts.iter().position(|mount| *mount == xid) else { return message.to_vec() };
        mounts.swap_remove(at);
        let (plain, flavors) = message.split_at(message.len() - 8);
        assert_eq!(flavors, [0, 0, 0, 1, 0, 0, 0, 1], "AUTH_SYS alone");
        let words = [3].into_iter().chain(FLAVORS).flat_map(u32::to_be_bytes);
        plain.iter().copied().chain(words).collect()
    }

    fn to_client(&self, message: &[u8]) -> io::Result<()> {
        write_record(&mut self.client.lock().expect("unpoisoned"), message)
    }

    fn to_server(&self, message: &[u8]) -> io::Result<()> {
        write_record(&mut self.server.lock().expect("unpoisoned"), message)
    }
}

fn read_record(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut message = Vec::new();
    loop {
        let mut mark = [0; RecordMark::SIZE];
        stream.read_exact(&mut mark)?;
        let RecordMark { length, last } = RecordMark::from_bytes(mark);
        let start = message.len();
        message.resize(start + length as usize, 0);
        stream.read_exact(&mut message[start..])?;
        if last {
            return Ok(message);
        }
    }
}

fn write_record(stream: &mut TcpStream, message: &[u8]) -> io::Result<()> {
    let mark = RecordMark { length: message.len() as u32, last: true };
    stream.write_all(&[&mark.to_bytes()[..], message].concat())
}
