//! A client of NFSv4.1 with one session, one slot and one connection at a time: it sends a call again until it is answered, under
//! the same number. What calls mean is for its caller.

use std::io::{self, Read, Write};
use std::net::{IpAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_wire::nfs4::compound::{Head, ReplyHead, ResultHead};
use howdah_wire::nfs4::create_session::{self, ChannelSizes};
use howdah_wire::nfs4::exchange_id::{self, ClientOwner, Protection};
use howdah_wire::nfs4::{
    COMPOUND, ClientId, FileHandle, Opaque, PROGRAM, SessionId, Status, VERSION, Verifier, putfh, sequence,
};
use howdah_wire::rpc::{AuthSys, CallHeader, Credentials, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Array, Decode, DecodeError, Decoder, Encode, Encoder};

use crate::trust::crew::Crew;
use crate::trust::server::PORT;

/// A server that is killed is back long before.
const ANSWER: Duration = Duration::from_secs(30);
/// How long to wait for a server that does not listen, or asks for patience.
const PAUSE: Duration = Duration::from_millis(5);
/// The longest reply that is read here.
const LONGEST: u32 = 64 << 10;

/// Why a call has no answer.
#[derive(Debug)]
pub enum Failed {
    /// The campaign ends.
    Stopped,
    /// The server does not know the session: it has restarted, or has given the client up.
    NoSession,
    /// What no server may answer.
    Wrong(String),
}

impl From<DecodeError> for Failed {
    fn from(error: DecodeError) -> Self {
        Self::Wrong(format!("a reply that cannot be read: {error}"))
    }
}

/// A client with a session.
pub struct Session {
    crew: Arc<Crew>,
    address: IpAddr,
    owner: String,
    verifier: [u8; 8],
    stream: Option<TcpStream>,
    xid: u32,
    id: SessionId,
    sequence: u32,
    renewed: Instant,
}

/// An operation with its arguments.
pub fn step(operation: u32, arguments: &impl Encode) -> Vec<u8> {
    [&operation.to_be_bytes()[..], &Encoder::to_vec(arguments)].concat()
}

impl Session {
    /// A client of this name and this start, which has not spoken to the server yet.
    pub fn new(crew: &Arc<Crew>, address: IpAddr, owner: String, verifier: [u8; 8]) -> Self {
        let (crew, id) = (Arc::clone(crew), SessionId([0; 16]));
        Self {
            crew,
            address,
            owner,
            verifier,
            stream: None,
            xid: 0,
            id,
            sequence: 0,
            renewed: Instant::now(),
        }
    }

    /// What it is called.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// When the last call was sent that renewed the lease.
    pub fn renewed(&self) -> Instant {
        self.renewed
    }

    /// Loses the connection. The next call makes another.
    pub fn disconnect(&mut self) {
        self.stream = None;
    }

    /// EXCHANGE_ID and CREATE_SESSION, until both are answered by one server.
    pub fn join(&mut self) -> Result<(), Failed> {
        loop {
            let (client, first) = self.introduce()?;
            let Some(session) = self.create(client, first)? else { continue };
            (self.id, self.sequence) = (session, 0);
            return Ok(());
        }
    }

    fn introduce(&mut self) -> Result<(ClientId, u32), Failed> {
        let owner = self.owner.clone();
        let owner = ClientOwner { verifier: Verifier(self.verifier), owner: Opaque(owner.as_bytes()) };
        let (flags, protection, implementation) = (0, Protection::None, None);
        let arguments = exchange_id::Arguments { owner, flags, protection, implementation };
        match self.alone(exchange_id::OPERATION, &arguments)? {
            (Status::OK, result) => {
                let found: exchange_id::Success<'_> = Decode::decode(&mut Decoder::new(&result))?;
                Ok((found.client, found.sequence))
            }
            (status, _) => Err(Failed::Wrong(format!("EXCHANGE_ID: {status}"))),
        }
    }

    /// `None` if the server restarted since it gave this client its id.
    fn create(&mut self, client: ClientId, sequence: u32) -> Result<Option<SessionId>, Failed> {
        let sizes = ChannelSizes {
            header_padding: 0,
            request: LONGEST,
            response: LONGEST,
            kept_response: 4 << 10,
            operations: 8,
            slots: 1,
            rdma_reads: None,
        };
        let arguments = create_session::Arguments {
            client,
            sequence,
            flags: 0,
            fore: sizes,
            back: sizes,
            callback_program: 0,
            security: Array::of(&[]),
        };
        match self.alone(create_session::OPERATION, &arguments)? {
            (Status::OK, result) => {
                Ok(Some(create_session::Success::decode(&mut Decoder::new(&result))?.session))
            }
            (Status::STALE_CLIENTID, _) => Ok(None),
            (status, _) => Err(Failed::Wrong(format!("CREATE_SESSION: {status}"))),
        }
    }

    /// An operation outside of sessions.
    fn alone(&mut self, operation: u32, arguments: &impl Encode) -> Result<(Status, Vec<u8>), Failed> {
        loop {
            let results = self.compound(&[step(operation, arguments)])?;
            let mut decoder = Decoder::new(&results);
            match ResultHead::decode(&mut decoder)?.status {
                Status::DELAY => std::thread::sleep(PAUSE),
                status => return Ok((status, decoder.rest().to_vec())),
            }
        }
    }

    /// These operations, exactly once: the results behind SEQUENCE's.
    pub fn call(&mut self, steps: &[Vec<u8>]) -> Result<Vec<u8>, Failed> {
        self.sequence += 1;
        let (session, sequence) = (self.id, self.sequence);
        let arguments = sequence::Arguments { session, sequence, slot: 0, highest_slot: 0, keep: true };
        let steps = [&[step(sequence::OPERATION, &arguments)], steps].concat();
        let sent = Instant::now();
        loop {
            let results = self.compound(&steps)?;
            let mut decoder = Decoder::new(&results);
            match ResultHead::decode(&mut decoder)?.status {
                Status::OK => {
                    sequence::Success::decode(&mut decoder)?;
                    self.renewed = sent;
                    return Ok(decoder.rest().to_vec());
                }
                Status::DELAY => std::thread::sleep(PAUSE),
                Status::BADSESSION | Status::DEADSESSION => return Err(Failed::NoSession),
                status => return Err(Failed::Wrong(format!("SEQUENCE: {status}"))),
            }
        }
    }

    /// An operation on a file: its status, and what its result holds.
    pub fn on_file(
        &mut self,
        file: &[u8],
        operation: u32,
        arguments: &impl Encode,
    ) -> Result<(Status, Vec<u8>), Failed> {
        let put = step(putfh::OPERATION, &putfh::Arguments { node: FileHandle(file) });
        let results = self.call(&[put, step(operation, arguments)])?;
        let mut decoder = Decoder::new(&results);
        let mut status = ResultHead::decode(&mut decoder)?.status;
        if status == Status::OK {
            status = ResultHead::decode(&mut decoder)?.status;
        }
        Ok((status, decoder.rest().to_vec()))
    }

    /// The results of a compound, over as many connections as it takes.
    fn compound(&mut self, steps: &[Vec<u8>]) -> Result<Vec<u8>, Failed> {
        self.xid += 1;
        let credentials = Credentials::Sys(AuthSys::new(b"client", 0, 0, &[]));
        let header = CallHeader {
            xid: self.xid,
            program: PROGRAM,
            version: VERSION,
            procedure: COMPOUND,
            credentials,
        };
        let head = Head { tag: b"", minor_version: 2, operations: steps.len() as u32 };
        let message = [Encoder::to_vec(&header), Encoder::to_vec(&head), steps.concat()].concat();
        let began = Instant::now();
        while !self.crew.stops() {
            match self.exchange(&message) {
                Ok(reply) => {
                    let mut decoder = Decoder::new(&reply);
                    ReplyHeader::decode(&mut decoder)?;
                    ReplyHead::decode(&mut decoder)?;
                    return Ok(decoder.rest().to_vec());
                }
                Err(error) => {
                    self.stream = None;
                    if began.elapsed() > ANSWER {
                        return Err(Failed::Wrong(format!("no answer for {ANSWER:?}: {error}")));
                    }
                    std::thread::sleep(PAUSE);
                }
            }
        }
        Err(Failed::Stopped)
    }

    fn exchange(&mut self, message: &[u8]) -> io::Result<Vec<u8>> {
        if self.stream.is_none() {
            let stream = TcpStream::connect((self.address, PORT))?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(ANSWER))?;
            self.stream = Some(stream);
        }
        let stream = self.stream.as_mut().expect("connected just now");
        let mark = RecordMark { length: message.len() as u32, last: true };
        stream.write_all(&[&mark.to_bytes()[..], message].concat())?;
        let mut mark = [0; RecordMark::SIZE];
        stream.read_exact(&mut mark)?;
        let mark = RecordMark::from_bytes(mark);
        if !mark.last || mark.length > LONGEST {
            return Err(io::Error::other("a reply of unlikely length"));
        }
        let mut reply = vec![0; mark.length as usize];
        stream.read_exact(&mut reply)?;
        Ok(reply)
    }
}
