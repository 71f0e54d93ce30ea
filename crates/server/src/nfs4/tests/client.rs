//! A client without a socket.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, Change, FileSystem, NewAttributes, SetAttributes};
use howdah_wire::nfs4::compound::{Head, ReplyHead, ResultHead};
use howdah_wire::nfs4::create_session::{self, ChannelSizes};
use howdah_wire::nfs4::exchange_id::{self, ClientOwner, Protection};
use howdah_wire::nfs4::{
    COMPOUND, ClientId, FileHandle, Opaque, PROGRAM, SessionId, Status, VERSION, Verifier, getfh, lookup,
    open, putfh, putrootfh, sequence,
};
use howdah_wire::nfs4::{Name, Owner, StateId};
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, ReplyHeader};
use howdah_wire::xdr::{Array, Decode, Decoder, Encode, Encoder};

use crate::calling::peer;
use crate::exports::{ClientRule, Export, Exports, Squash};
use crate::service::Service;
use crate::states::StateOptions;
use crate::{Peer, Transport};

/// The sizes that the client asks for.
pub const SIZES: ChannelSizes = ChannelSizes {
    header_padding: 0,
    request: 1 << 20,
    response: 1 << 20,
    kept_response: 4 << 10,
    operations: 64,
    slots: 8,
    rdma_reads: None,
};

/// A server of these exports.
pub fn service(names: &[&str]) -> Arc<Service> {
    service_with(names, |export| export)
}

/// A server of these exports, each changed so.
pub fn service_with(names: &[&str], adjust: impl Fn(Export) -> Export) -> Arc<Service> {
    let export = |(name, id): (&&str, u32)| {
        let memory = MemoryFileSystem::new();
        let everybody = NewAttributes::with_mode(0o777);
        let change = &mut Change::default();
        memory
            .set_attributes(&Caller::ROOT, SetAttributes::new(&memory.root(), &everybody, None), change)
            .expect("opened");
        let rules = vec![ClientRule { squash: Squash::None, ..ClientRule::default() }];
        adjust(Export::new(name, id, Arc::new(memory), rules))
    };
    let exports = names.iter().zip(1..).map(export).collect();
    let exports = Exports::new(exports, [7; 16]).expect("exports");
    Arc::new(Service::with(exports, Some(StateOptions::forgetful()), Vec::new()))
}

/// A server of one file system, at the root.
pub fn service_of(file_system: Arc<dyn FileSystem>) -> Arc<Service> {
    let rules = vec![ClientRule { squash: Squash::None, ..ClientRule::default() }];
    let exports = Exports::new(vec![Export::new("/", 1, file_system, rules)], [7; 16]).expect("exports");
    Arc::new(Service::with(exports, Some(StateOptions::forgetful()), Vec::new()))
}

/// A client with a session.
pub struct Client {
    pub service: Arc<Service>,
    pub peer: Peer,
    pub user: u32,
    pub id: ClientId,
    pub session: SessionId,
    /// The number of the last call in the first slot.
    pub sequence: u32,
    pub minor_version: u32,
}

/// An operation as it goes into a compound.
pub type Step = Vec<u8>;

/// The reply to a compound.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: Status,
    pub results: u32,
    bytes: Vec<u8>,
    at: usize,
}

/// An operation with arguments.
pub fn step(operation: u32, arguments: &impl Encode) -> Step {
    let mut step = operation.to_be_bytes().to_vec();
    arguments.encode(&mut Encoder::new(&mut step));
    step
}

/// An operation without.
pub fn bare(operation: u32) -> Step {
    operation.to_be_bytes().to_vec()
}

/// PUTROOTFH and a LOOKUP for each name.
pub fn walk(names: &[&str]) -> Vec<Step> {
    let lookups =
        names.iter().map(|name| step(lookup::OPERATION, &lookup::Arguments { name: Name(name.as_bytes()) }));
    std::iter::once(bare(putrootfh::OPERATION)).chain(lookups).collect()
}

/// PUTFH.
pub fn put(handle: &[u8]) -> Step {
    step(putfh::OPERATION, &putfh::Arguments { node: FileHandle(handle) })
}

impl Client {
    /// A client of this name, whose state is confirmed.
    pub fn new(service: &Arc<Service>, name: &str) -> Self {
        Self::unconfirmed(service, name).confirmed(name)
    }

    /// A client of this name that calls from such a peer.
    pub fn at(service: &Arc<Service>, name: &str, peer: Peer) -> Self {
        Self { peer, ..Self::unconfirmed(service, name) }.confirmed(name)
    }

    fn confirmed(mut self, name: &str) -> Self {
        let id = self.exchange(name, 1);
        self.id = id.client;
        let made = self.create_session(id.sequence).expect("a session");
        self.session = made.session;
        self.complete();
        self
    }

    /// The same before it said anything.
    pub fn unconfirmed(service: &Arc<Service>, name: &str) -> Self {
        let port = 700 + name.len();
        Self {
            service: Arc::clone(service),
            peer: peer(&format!("192.0.2.9:{port}"), "192.0.2.1:2049", Transport::Tcp),
            user: 1000,
            id: ClientId(0),
            session: SessionId([0; 16]),
            sequence: 0,
            minor_version: 2,
        }
    }

    /// EXCHANGE_ID.
    pub fn exchange(&self, name: &str, verifier: u64) -> exchange_id::Success<'static> {
        let arguments = exchange_id::Arguments {
            owner: ClientOwner { verifier: Verifier(verifier.to_be_bytes()), owner: Opaque(name.as_bytes()) },
            flags: 0,
            protection: Protection::None,
            implementation: None,
        };
        let mut answer = self.send(&[step(exchange_id::OPERATION, &arguments)]);
        assert_eq!(answer.status, Status::OK);
        let success: exchange_id::Success<'_> = answer.take(exchange_id::OPERATION);
        exchange_id::Success {
            owner: SERVER,
            scope: Opaque(b""),
            implementation: None,
            ..success_of(&success)
        }
    }

    /// CREATE_SESSION.
    pub fn create_session(&self, sequence: u32) -> Result<create_session::Success, Status> {
        self.create_session_of(sequence, SIZES)
    }

    /// The same with calls of these sizes.
    pub fn create_session_of(
        &self,
        sequence: u32,
        fore: ChannelSizes,
    ) -> Result<create_session::Success, Status> {
        let arguments = create_session::Arguments {
            client: self.id,
            sequence,
            flags: 0,
            fore,
            back: SIZES,
            callback_program: 0x4000_0000,
            security: Array::of(&[]),
        };
        let mut answer = self.send(&[step(create_session::OPERATION, &arguments)]);
        answer.result::<create_session::Success>(create_session::OPERATION)
    }

    fn complete(&mut self) {
        use howdah_wire::nfs4::reclaim_complete::{Arguments, OPERATION};
        let answer = self.call(&[step(OPERATION, &Arguments { one_file_system: false })]);
        assert_eq!(answer.status, Status::OK);
    }

    /// A compound in the session's first slot.
    pub fn call(&mut self, steps: &[Step]) -> Answer {
        self.sequence += 1;
        self.again(steps)
    }

    /// The same with the number of the last one: a retry.
    pub fn again(&self, steps: &[Step]) -> Answer {
        let first = self.sequence_step(0, self.sequence);
        let mut answer = self.send(&[&[first], steps].concat());
        if answer.results > 0 {
            let _ = answer.result::<sequence::Success>(sequence::OPERATION);
        }
        answer
    }

    /// SEQUENCE.
    pub fn sequence_step(&self, slot: u32, sequence: u32) -> Step {
        let arguments =
            sequence::Arguments { session: self.session, sequence, slot, highest_slot: slot, keep: true };
        step(sequence::OPERATION, &arguments)
    }

    /// The call of a compound as it is.
    pub fn message(&self, steps: &[Step]) -> Vec<u8> {
        let credentials = Credentials::Sys(AuthSys::new(b"client", self.user, self.user, &[]));
        let header =
            CallHeader { xid: 1, program: PROGRAM, version: VERSION, procedure: COMPOUND, credentials };
        let mut message = Encoder::to_vec(&header);
        let head = Head { tag: b"tag", minor_version: self.minor_version, operations: steps.len() as u32 };
        head.encode(&mut Encoder::new(&mut message));
        message.extend(steps.concat());
        message
    }

    /// A compound as it is.
    pub fn send(&self, steps: &[Step]) -> Answer {
        let message = self.message(steps);
        Answer::of(&self.service.answer(&self.peer, &message).expect("an answer"))
    }

    /// The status of a call of NFSv3, with which its result begins.
    pub fn nfs3_status(&self, procedure: u32, arguments: &impl Encode) -> u32 {
        use howdah_wire::nfs3;
        let credentials = Credentials::Sys(AuthSys::new(b"client", self.user, self.user, &[]));
        let (program, version) = (nfs3::PROGRAM, nfs3::VERSION);
        // A call with the number of another is answered as that one was.
        static CALLS: AtomicU32 = AtomicU32::new(1);
        let xid = CALLS.fetch_add(1, Ordering::Relaxed);
        let header = CallHeader { xid, program, version, procedure, credentials };
        let mut message = Encoder::to_vec(&header);
        arguments.encode(&mut Encoder::new(&mut message));
        let reply = self.service.answer(&self.peer, &message).expect("an answer");
        let mut decoder = Decoder::new(&reply);
        ReplyHeader::decode(&mut decoder).expect("a reply");
        decoder.u32("status").expect("a status")
    }

    /// The handle of a path.
    pub fn handle(&mut self, names: &[&str]) -> Result<Vec<u8>, Status> {
        let mut steps = walk(names);
        steps.push(bare(getfh::OPERATION));
        let mut answer = self.call(&steps);
        answer.skip(putrootfh::OPERATION)?;
        for _ in names {
            answer.skip(lookup::OPERATION)?;
        }
        Ok(answer.take::<getfh::Success<'_>>(getfh::OPERATION).node.0.to_vec())
    }

    /// OPEN of a name in a directory, made if need be: its stateid and handle.
    pub fn open(
        &mut self,
        directory: &[u8],
        name: &str,
        owner: &str,
        (access, deny): (u32, u32),
        create: Option<open::How<'_>>,
    ) -> Result<(StateId, Vec<u8>), Status> {
        let arguments = open::Arguments {
            sequence: 0,
            access,
            deny,
            owner: Owner { client: self.id, owner: Opaque(owner.as_bytes()) },
            create,
            claim: open::Claim::Name(Name(name.as_bytes())),
        };
        let steps = [put(directory), step(open::OPERATION, &arguments), bare(getfh::OPERATION)];
        let mut answer = self.call(&steps);
        answer.skip(putfh::OPERATION)?;
        let opened = answer.result::<open::Success<'_>>(open::OPERATION)?.state;
        Ok((opened, answer.take::<getfh::Success<'_>>(getfh::OPERATION).node.0.to_vec()))
    }
}

const SERVER: exchange_id::ServerOwner<'static> = exchange_id::ServerOwner { minor: 0, major: Opaque(b"") };

fn success_of(success: &exchange_id::Success<'_>) -> exchange_id::Success<'static> {
    exchange_id::Success {
        client: success.client,
        sequence: success.sequence,
        flags: success.flags,
        protection: Protection::None,
        owner: SERVER,
        scope: Opaque(b""),
        implementation: None,
    }
}

impl Answer {
    /// The reply to a compound.
    pub fn of(reply: &[u8]) -> Self {
        let mut decoder = Decoder::new(reply);
        let header = ReplyHeader::decode(&mut decoder).expect("a reply");
        assert_eq!(header.outcome, Ok(Accepted::Success));
        let ReplyHead { status, tag, results } = ReplyHead::decode(&mut decoder).expect("a head");
        assert_eq!(tag, b"tag");
        Self { status, results, bytes: decoder.rest().to_vec(), at: 0 }
    }

    /// The next result's status.
    pub fn status_of(&mut self, operation: u32) -> Status {
        let mut decoder = Decoder::new(&self.bytes[self.at..]);
        let head = ResultHead::decode(&mut decoder).expect("a result");
        assert_eq!(head.operation, operation);
        self.at += decoder.position();
        head.status
    }

    /// The next result, which holds nothing if it is well.
    pub fn skip(&mut self, operation: u32) -> Result<(), Status> {
        match self.status_of(operation) {
            Status::OK => Ok(()),
            status => Err(status),
        }
    }

    /// What the next result holds, or why it was refused.
    pub fn result<'a, T: Decode<'a>>(&'a mut self, operation: u32) -> Result<T, Status> {
        self.skip(operation)?;
        Ok(self.body())
    }

    /// What the next result holds.
    pub fn take<'a, T: Decode<'a>>(&'a mut self, operation: u32) -> T {
        self.result(operation).unwrap_or_else(|status| panic!("operation {operation}: {status}"))
    }

    /// What stands next.
    pub fn body<'a, T: Decode<'a>>(&'a mut self) -> T {
        let mut decoder = Decoder::new(&self.bytes[self.at..]);
        let body = T::decode(&mut decoder).expect("a body");
        self.at += decoder.position();
        body
    }

    /// Whether all was read.
    pub fn is_read(&self) -> bool {
        self.at == self.bytes.len()
    }
}
