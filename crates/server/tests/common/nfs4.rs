//! A client of NFSv4 that speaks bytes.

use std::io::{Read, Write};
use std::net::TcpStream;

use howdah_net::Connection;
use howdah_wire::nfs4::attributes::Values;
use howdah_wire::nfs4::compound::{Head, ReplyHead, ResultHead};
use howdah_wire::nfs4::create_session::{self, ChannelSizes};
use howdah_wire::nfs4::exchange_id::{self, ClientOwner, Protection};
use howdah_wire::nfs4::open::{self, ACCESS_BOTH, Claim, How};
use howdah_wire::nfs4::{
    COMPOUND, ClientId, FileHandle, LockKind, Name, Opaque, Owner, PROGRAM, SessionId, StateId, Status,
    VERSION, Verifier, getfh, lock, putfh, putrootfh, reclaim_complete, sequence,
};
use howdah_wire::rpc::{AuthSys, CallHeader, Credentials, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Array, Decode, Decoder, Encode, Encoder};

use super::secured;

/// A client with a session.
pub struct Client {
    raw: Raw,
    session: SessionId,
    sequence: u32,
}

/// A connection over which compounds go as they are.
pub struct Raw {
    way: Way,
}

/// A connection.
pub enum Way {
    Plain(TcpStream),
    Secured(Connection),
}

impl From<TcpStream> for Way {
    fn from(stream: TcpStream) -> Self {
        Self::Plain(stream)
    }
}

impl From<Connection> for Way {
    fn from(connection: Connection) -> Self {
        Self::Secured(connection)
    }
}

impl Way {
    /// Sends a record. The next one that comes.
    fn exchange(&mut self, record: &[u8]) -> Vec<u8> {
        let stream = match self {
            Self::Plain(stream) => stream,
            Self::Secured(connection) => {
                secured::send(connection, record);
                return secured::receive(connection);
            }
        };
        stream.write_all(record).expect("a server that speaks NFSv4");
        let mut mark = [0; RecordMark::SIZE];
        stream.read_exact(&mut mark).expect("a server that speaks NFSv4");
        let mut reply = vec![0; RecordMark::from_bytes(mark).length as usize];
        stream.read_exact(&mut reply).expect("a server that speaks NFSv4");
        reply
    }
}

/// An operation with its arguments.
pub fn step(operation: u32, arguments: &impl Encode) -> Vec<u8> {
    [&operation.to_be_bytes()[..], &Encoder::to_vec(arguments)].concat()
}

impl Raw {
    /// Over this connection.
    pub fn new(way: impl Into<Way>) -> Self {
        Self { way: way.into() }
    }

    fn send(&mut self, steps: &[Vec<u8>]) -> (Status, Vec<u8>) {
        let credentials = Credentials::Sys(AuthSys::new(b"client", 0, 0, &[]));
        let header =
            CallHeader { xid: 7, program: PROGRAM, version: VERSION, procedure: COMPOUND, credentials };
        let head = Head { tag: b"", minor_version: 2, operations: steps.len() as u32 };
        let message = [Encoder::to_vec(&header), Encoder::to_vec(&head), steps.concat()].concat();
        let mark = RecordMark { length: message.len() as u32, last: true };
        let reply = self.way.exchange(&[&mark.to_bytes()[..], &message].concat());
        let mut decoder = Decoder::new(&reply);
        ReplyHeader::decode(&mut decoder).expect("a server that speaks NFSv4");
        let head = ReplyHead::decode(&mut decoder).expect("a server that speaks NFSv4");
        (head.status, decoder.rest().to_vec())
    }

    /// The status of a compound.
    pub fn status(&mut self, steps: &[Vec<u8>]) -> Status {
        self.send(steps).0
    }

    /// EXCHANGE_ID of this owner: the client's id, and the number of its first session.
    ///
    /// # Errors
    /// The server refuses it.
    pub fn exchange_id(&mut self, name: &str) -> Result<(ClientId, u32), Status> {
        let arguments = exchange_id::Arguments {
            owner: ClientOwner { verifier: Verifier([1; 8]), owner: Opaque(name.as_bytes()) },
            flags: 0,
            protection: Protection::None,
            implementation: None,
        };
        let (status, result) = self.send(&[step(exchange_id::OPERATION, &arguments)]);
        if status != Status::OK {
            return Err(status);
        }
        let found: exchange_id::Success<'_> = take(&mut Decoder::new(&result));
        Ok((found.client, found.sequence))
    }

    /// CREATE_SESSION with so many slots.
    ///
    /// # Errors
    /// The server refuses it.
    pub fn create_session(
        &mut self,
        client: ClientId,
        sequence: u32,
        slots: u32,
    ) -> Result<SessionId, Status> {
        let sizes = ChannelSizes {
            header_padding: 0,
            request: 2 << 20,
            response: 2 << 20,
            kept_response: 4 << 10,
            operations: 8,
            slots,
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
        let (status, result) = self.send(&[step(create_session::OPERATION, &arguments)]);
        if status != Status::OK {
            return Err(status);
        }
        Ok(take::<create_session::Success>(&mut Decoder::new(&result)).session)
    }
}

impl Client {
    /// The status, and the results behind SEQUENCE's.
    pub fn call(&mut self, steps: &[Vec<u8>]) -> (Status, Vec<u8>) {
        self.sequence += 1;
        let (session, sequence) = (self.session, self.sequence);
        let arguments = sequence::Arguments { session, sequence, slot: 0, highest_slot: 0, keep: false };
        let first = step(sequence::OPERATION, &arguments);
        let (status, results) = self.raw.send(&[&[first], steps].concat());
        let mut decoder = Decoder::new(&results);
        take::<sequence::Success>(&mut decoder);
        (status, decoder.rest().to_vec())
    }

    /// A client of this name, whose state is confirmed.
    pub fn new(way: impl Into<Way>, name: &str) -> Self {
        let mut raw = Raw::new(way);
        let (id, sequence) = raw.exchange_id(name).expect("a client");
        let session = raw.create_session(id, sequence, 4).expect("a session");
        let mut client = Self { raw, session, sequence: 0 };
        let complete = reclaim_complete::Arguments { one_file_system: false };
        assert_eq!(client.call(&[step(reclaim_complete::OPERATION, &complete)]).0, Status::OK);
        client
    }

    /// Opens a file of the root for reading and writing, and makes it if need be: its stateid and its handle.
    pub fn open(&mut self, name: &str) -> (StateId, Vec<u8>) {
        let arguments = open::Arguments {
            sequence: 0,
            access: ACCESS_BOTH,
            deny: 0,
            owner: Owner { client: ClientId(0), owner: Opaque(b"owner") },
            create: Some(How::Unchecked(Values::default())),
            claim: Claim::Name(Name(name.as_bytes())),
        };
        let root = putrootfh::OPERATION.to_be_bytes().to_vec();
        let handle = getfh::OPERATION.to_be_bytes().to_vec();
        let (status, results) = self.call(&[root, step(open::OPERATION, &arguments), handle]);
        assert_eq!(status, Status::OK);
        let mut decoder = Decoder::new(&results);
        head(&mut decoder);
        let state = take::<open::Success<'_>>(&mut decoder).state;
        (state, take::<getfh::Success<'_>>(&mut decoder).node.0.to_vec())
    }
}

impl Client {
    /// Locks a range of an open file.
    pub fn lock(&mut self, (open, file): &(StateId, Vec<u8>), (offset, length): (u64, u64)) -> Status {
        let owner = Owner { client: ClientId(0), owner: Opaque(b"owner") };
        let first = lock::FirstLock { open_sequence: 0, open: *open, lock_sequence: 0, owner };
        let locker = lock::LockingOwner::First(first);
        let arguments = lock::Arguments { kind: LockKind::Write, reclaim: false, offset, length, locker };
        let put = step(putfh::OPERATION, &putfh::Arguments { node: FileHandle(file) });
        self.call(&[put, step(lock::OPERATION, &arguments)]).0
    }
}

/// The head of a result that is well.
pub fn head(decoder: &mut Decoder<'_>) {
    assert_eq!(ResultHead::decode(decoder).expect("a server that speaks NFSv4").status, Status::OK);
}

/// What a result holds that is well.
pub fn take<'a, T: Decode<'a>>(decoder: &mut Decoder<'a>) -> T {
    head(decoder);
    T::decode(decoder).expect("a server that speaks NFSv4")
}
