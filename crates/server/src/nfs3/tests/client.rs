//! A client without a socket, and a small tree for it to work on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{
    Caller, Change, Create, CreateFile, FileSystem, Handle, MakeDirectory, MakeLink, Name, NewAttributes,
    SetAttributes, WriteFile,
};
use howdah_wire::nfs3::{FileHandle, PROGRAM, Status, VERSION};
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, Denied, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

use crate::calling::peer;
use crate::dispatch::{Whence, Work};
use crate::exports::{ClientRule, Export, Exports, Squash};
use crate::request::BulkData;
use crate::service::Service;
use crate::{Peer, Transport};

/// What the file in the tree holds.
pub const TEXT: &[u8] = b"howdy, world";
/// The owner of everything in the tree.
pub const OWNER: u32 = 1000;

/// The export's id in handles.
const EXPORT: u32 = 5;

/// A server of one export, and a client of it.
pub struct Client {
    pub service: Service,
    pub memory: Arc<MemoryFileSystem>,
    pub peer: Peer,
    /// User and group; `None` is AUTH_NONE.
    pub user: Option<u32>,
    calls: AtomicU32,
    /// The client's handles of the tree: see [`Client::new`].
    pub root: Vec<u8>,
    pub file: Vec<u8>,
    pub directory: Vec<u8>,
    pub link: Vec<u8>,
}

impl Client {
    /// A client that may do everything, of a root directory with a `file`, a `directory` and a `link`.
    pub fn new() -> Self {
        Self::with_rules(vec![ClientRule { squash: Squash::None, ..ClientRule::default() }])
    }

    /// The same under other rules.
    pub fn with_rules(rules: Vec<ClientRule>) -> Self {
        let memory = Arc::new(MemoryFileSystem::new());
        let owner = Caller::new(OWNER, OWNER);
        let (root, change) = (memory.root(), &mut Change::default());
        let everybody =
            NewAttributes { user: Some(OWNER), group: Some(OWNER), ..NewAttributes::with_mode(0o777) };
        memory
            .set_attributes(&Caller::ROOT, SetAttributes::new(&root, &everybody, None), change)
            .expect("root is opened");
        let how = Create::Guarded(NewAttributes::with_mode(0o644));
        let file =
            memory.create(&owner, CreateFile::new(&root, name("file"), &how), change).expect("file").handle;
        let data = howdah_vfs::Data::Bytes(TEXT);
        memory
            .write(&owner, WriteFile::new(&file, 0, data, howdah_vfs::Stability::FileSync), change)
            .expect("text");
        let new = NewAttributes::with_mode(0o755);
        let directory = memory
            .make_directory(&owner, MakeDirectory::new(&root, name("directory"), &new), change)
            .expect("made")
            .handle;
        let link = memory
            .make_link(&owner, MakeLink::new(&root, name("link"), b"over/there", &new), change)
            .expect("made")
            .handle;
        let export = Export::new("/", EXPORT, memory.clone(), rules);
        let exports = Exports::new(vec![export], [7; 16]).expect("one export");
        let peer = peer("192.0.2.9:700", "192.0.2.1:2049", Transport::Tcp);
        let mut client = Self {
            service: Service::new(exports),
            memory,
            peer,
            user: Some(OWNER),
            calls: AtomicU32::new(0),
            root: Vec::new(),
            file: Vec::new(),
            directory: Vec::new(),
            link: Vec::new(),
        };
        [client.root, client.file, client.directory, client.link] =
            [root, file, directory, link].map(|handle| client.seal(&handle));
        client
    }

    /// What a client gets for a handle of the file system.
    pub fn seal(&self, handle: &Handle) -> Vec<u8> {
        let exports = self.service.exports();
        let export = exports.find(EXPORT).expect("the export");
        exports.seal(export, handle).as_wire().0.to_vec()
    }

    /// The result's bytes, its content included.
    pub fn call(&self, procedure: u32, arguments: &impl Encode) -> Vec<u8> {
        let (outcome, result) = self.send(procedure, &Encoder::to_vec(arguments), None);
        assert_eq!(outcome, Ok(Accepted::Success), "procedure {procedure}");
        result
    }

    /// Lets the next call be a repetition of the last one: a client that saw no answer sends it again.
    pub fn forget_last(&self) {
        self.calls.fetch_sub(1, Ordering::Relaxed);
    }

    /// Only how it ended: `None` is well.
    pub fn status(&self, procedure: u32, arguments: &impl Encode) -> Option<Status> {
        status(&self.call(procedure, arguments))
    }

    /// A call as this client's user, and what came of it.
    pub fn send<'a>(
        &'a self,
        procedure: u32,
        arguments: &[u8],
        waiting: Option<&'a mut dyn BulkData>,
    ) -> (Result<Accepted, Denied>, Vec<u8>) {
        let credentials = match self.user {
            Some(user) => Credentials::Sys(AuthSys::new(b"client", user, user, &[])),
            None => Credentials::None,
        };
        self.send_as(credentials, procedure, arguments, waiting)
    }

    /// A call with any credentials.
    pub fn send_as<'a>(
        &'a self,
        credentials: Credentials<'_>,
        procedure: u32,
        arguments: &[u8],
        waiting: Option<&'a mut dyn BulkData>,
    ) -> (Result<Accepted, Denied>, Vec<u8>) {
        // Each call is a new one: the same xid would be answered from memory.
        let xid = self.calls.fetch_add(1, Ordering::Relaxed);
        let header = CallHeader { xid, program: PROGRAM, version: VERSION, procedure, credentials };
        let mut message = Encoder::to_vec(&header);
        message.extend_from_slice(arguments);
        let dispatcher = &self.service.dispatcher;
        let reply = match dispatcher.read(&message, None, self.peer.transport) {
            Work::NoCall | Work::Reply => panic!("no answer"),
            Work::Refuse(header) | Work::AskTls(header) => Encoder::to_vec(&header),
            Work::Run(job) => {
                let waiting = waiting.map(|waiting| waiting as &mut dyn BulkData);
                let from = Whence::datagram(&self.peer, &|_| false);
                let reply = dispatcher.run(&job, &from, waiting, Vec::new()).expect("an answer");
                let length = reply.message_length();
                let message = reply.finish().in_memory().expect("memory has no files").split_off(4);
                assert_eq!(message.len(), length, "the record mark is right");
                message
            }
        };
        let mut decoder = Decoder::new(&reply);
        let header = ReplyHeader::decode(&mut decoder).expect("a reply");
        (header.outcome, decoder.rest().to_vec())
    }
}

/// How a result of NFS ended: `None` is well.
pub fn status(result: &[u8]) -> Option<Status> {
    match Decoder::new(result).u32("status").expect("a status") {
        0 => None,
        number => Some(*Status::ALL.iter().find(|&&status| status as u32 == number).expect("a known status")),
    }
}

/// Decodes a result, all of it.
pub fn decoded<'a, T: Decode<'a>>(result: &'a [u8]) -> T {
    let mut decoder = Decoder::new(result);
    let value = T::decode(&mut decoder).expect("a result");
    decoder.finish("result").expect("nothing more");
    value
}

/// A name in a directory.
pub fn at<'a>(directory: &'a [u8], name: &'a [u8]) -> howdah_wire::nfs3::DirectoryName<'a> {
    howdah_wire::nfs3::DirectoryName { directory: FileHandle(directory), name }
}

/// A name for the file system.
pub fn name(text: &str) -> Name<'_> {
    Name::parse(text.as_bytes()).expect("a name")
}
