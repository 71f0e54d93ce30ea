//! NFSv4 over a socket: bulk data that the kernel moves, with operations before and behind it in one compound.

#![allow(clippy::unwrap_used)]

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;

use common::serve;
use howdah_store::local::{LocalFileSystem, Options};
use howdah_wire::nfs4::attributes::{SIZE, Values};
use howdah_wire::nfs4::compound::{Head, ReplyHead, ResultHead};
use howdah_wire::nfs4::create_session::{self, ChannelSizes};
use howdah_wire::nfs4::exchange_id::{self, ClientOwner, Protection};
use howdah_wire::nfs4::open::{self, ACCESS_BOTH, Claim, How};
use howdah_wire::nfs4::{
    Bitmap, COMPOUND, Name, Opaque, Owner, PROGRAM, SessionId, Stability, StateId, Status, VERSION, Verifier,
    getattr, putfh, putrootfh, read, reclaim_complete, sequence, write,
};
use howdah_wire::nfs4::{FileHandle, getfh};
use howdah_wire::rpc::{AuthSys, CallHeader, Credentials, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Array, Decode, Decoder, Encode, Encoder};

const LENGTH: usize = 300 << 10;

struct Client {
    stream: TcpStream,
    session: SessionId,
    sequence: u32,
}

fn step(operation: u32, arguments: &impl Encode) -> Vec<u8> {
    [&operation.to_be_bytes()[..], &Encoder::to_vec(arguments)].concat()
}

impl Client {
    fn send(&mut self, steps: &[Vec<u8>]) -> (Status, Vec<u8>) {
        let credentials = Credentials::Sys(AuthSys::new(b"client", 0, 0, &[]));
        let header =
            CallHeader { xid: 7, program: PROGRAM, version: VERSION, procedure: COMPOUND, credentials };
        let head = Head { tag: b"", minor_version: 2, operations: steps.len() as u32 };
        let message = [Encoder::to_vec(&header), Encoder::to_vec(&head), steps.concat()].concat();
        let mark = RecordMark { length: message.len() as u32, last: true };
        self.stream.write_all(&[&mark.to_bytes()[..], &message].concat()).unwrap();
        let mut mark = [0; RecordMark::SIZE];
        self.stream.read_exact(&mut mark).unwrap();
        let mut reply = vec![0; RecordMark::from_bytes(mark).length as usize];
        self.stream.read_exact(&mut reply).unwrap();
        let mut decoder = Decoder::new(&reply);
        ReplyHeader::decode(&mut decoder).unwrap();
        let head = ReplyHead::decode(&mut decoder).unwrap();
        (head.status, decoder.rest().to_vec())
    }

    /// The results behind SEQUENCE's.
    fn call(&mut self, steps: &[Vec<u8>]) -> (Status, Vec<u8>) {
        self.sequence += 1;
        let (session, sequence) = (self.session, self.sequence);
        let arguments = sequence::Arguments { session, sequence, slot: 0, highest_slot: 0, keep: false };
        let first = step(sequence::OPERATION, &arguments);
        let (status, results) = self.send(&[&[first], steps].concat());
        let mut decoder = Decoder::new(&results);
        take::<sequence::Success>(&mut decoder);
        (status, decoder.rest().to_vec())
    }

    fn new(stream: TcpStream) -> Self {
        let mut client = Self { stream, session: SessionId([0; 16]), sequence: 0 };
        let arguments = exchange_id::Arguments {
            owner: ClientOwner { verifier: Verifier([1; 8]), owner: Opaque(b"client") },
            flags: 0,
            protection: Protection::None,
            implementation: None,
        };
        let (_, result) = client.send(&[step(exchange_id::OPERATION, &arguments)]);
        let found: exchange_id::Success<'_> = take(&mut Decoder::new(&result));
        let sizes = ChannelSizes {
            header_padding: 0,
            request: 2 << 20,
            response: 2 << 20,
            kept_response: 4 << 10,
            operations: 8,
            slots: 4,
            rdma_reads: None,
        };
        let arguments = create_session::Arguments {
            client: found.client,
            sequence: found.sequence,
            flags: 0,
            fore: sizes,
            back: sizes,
            callback_program: 0,
            security: Array::of(&[]),
        };
        let (_, result) = client.send(&[step(create_session::OPERATION, &arguments)]);
        client.session = take::<create_session::Success>(&mut Decoder::new(&result)).session;
        let complete = reclaim_complete::Arguments { one_file_system: false };
        assert_eq!(client.call(&[step(reclaim_complete::OPERATION, &complete)]).0, Status::OK);
        client
    }

    fn open(&mut self) -> (StateId, Vec<u8>) {
        let arguments = open::Arguments {
            sequence: 0,
            access: ACCESS_BOTH,
            deny: 0,
            owner: Owner { client: howdah_wire::nfs4::ClientId(0), owner: Opaque(b"owner") },
            create: Some(How::Unchecked(Values::default())),
            claim: Claim::Name(Name(b"file")),
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

fn head(decoder: &mut Decoder<'_>) {
    assert_eq!(ResultHead::decode(decoder).unwrap().status, Status::OK);
}

fn take<'a, T: Decode<'a>>(decoder: &mut Decoder<'a>) -> T {
    head(decoder);
    T::decode(decoder).unwrap()
}

#[test]
fn data_goes_past_memory_with_operations_around_it() {
    let directory = tempfile::tempdir().unwrap();
    let local = LocalFileSystem::open(directory.path(), Options::default()).unwrap();
    let (_server, address) = serve(Arc::new(local));
    let mut client = Client::new(TcpStream::connect(address).unwrap());
    let (state, file) = client.open();
    let data: Vec<u8> = (0..LENGTH + 1).map(|at| (at % 251) as u8).collect();
    let put = step(putfh::OPERATION, &putfh::Arguments { node: FileHandle(&file) });
    let size = step(getattr::OPERATION, &getattr::Arguments { wanted: Bitmap::of(&[SIZE]) });
    // With padding and without, with something behind it and without.
    for (length, behind) in [(LENGTH, true), (LENGTH + 1, true), (LENGTH, false), (LENGTH - 3, true)] {
        let data = &data[..length];
        let arguments = write::Arguments { state, offset: 0, stability: Stability::Unstable, data };
        let mut steps = vec![put.clone(), step(write::OPERATION, &arguments)];
        steps.extend(behind.then(|| size.clone()));
        let (status, results) = client.call(&steps);
        assert_eq!(status, Status::OK);
        let mut decoder = Decoder::new(&results);
        head(&mut decoder);
        assert_eq!(take::<write::Success>(&mut decoder).count as usize, length);
        if behind {
            let found: getattr::Success<'_> = take(&mut decoder);
            let size = found.attributes.decode_all().unwrap().content.size;
            assert!(size >= Some(length as u64), "{size:?}");
        }
        assert!(decoder.rest().is_empty());
        let arguments = read::Arguments { state, offset: 0, count: length as u32 };
        let (status, results) = client.call(&[put.clone(), step(read::OPERATION, &arguments), size.clone()]);
        assert_eq!(status, Status::OK);
        let mut decoder = Decoder::new(&results);
        head(&mut decoder);
        assert!(take::<read::Success<'_>>(&mut decoder).data == data);
        take::<getattr::Success<'_>>(&mut decoder);
    }
    // One that is refused leaves the connection at the next call.
    let arguments =
        write::Arguments { state: StateId::INVALID, offset: 0, stability: Stability::Unstable, data: &data };
    let (status, _) = client.call(&[put.clone(), step(write::OPERATION, &arguments), size.clone()]);
    assert_eq!(status, Status::BAD_STATEID);
    assert_eq!(client.call(&[put, size]).0, Status::OK);
}
