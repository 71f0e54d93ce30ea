//! A client without a socket.

use std::sync::Arc;

use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, Change, Create, CreateFile, FileSystem, Handle, Name, NewAttributes};
use howdah_wire::nfs3::FileHandle;
use howdah_wire::nlm::share::{ShareAccess, ShareDeny};
use howdah_wire::nlm::test::Outcome;
use howdah_wire::nlm::{
    CallerName, Cookie, Lock, LockOwner, PROGRAM, Status, VERSION_4, cancel, free_all, lock, share, test,
    unlock, unshare,
};
use howdah_wire::xdr::Encode;

use crate::calling::{call, peer};
use crate::exports::{ClientRule, Clients, Export, Exports, Squash};
use crate::result_of;
use crate::service::{Service, ServiceOptions};
use crate::states::StateOptions;
use crate::{Peer, Transport};

/// The address that clients call.
pub const SERVER: &str = "192.0.2.1:2049";

/// A server of an export with a file that everybody may write, one that its owner may, and a directory.
pub struct Fixture {
    pub service: Arc<Service>,
    pub file: Vec<u8>,
    pub private: Vec<u8>,
    pub directory: Vec<u8>,
}

/// A client.
#[derive(Clone)]
pub struct Client {
    pub service: Arc<Service>,
    pub peer: Peer,
    pub name: &'static str,
    /// The number of its status monitor.
    pub number: u32,
}

impl Fixture {
    pub fn new() -> Self {
        Self::with(StateOptions::forgetful())
    }

    pub fn with(states: StateOptions) -> Self {
        let memory = MemoryFileSystem::new();
        let root = memory.root();
        let make = |name: &str, mode| {
            let name = Name::parse(name.as_bytes()).expect("a name");
            let new = NewAttributes { user: Some(7), ..NewAttributes::with_mode(mode) };
            let change = &mut Change::default();
            memory
                .create(&Caller::ROOT, CreateFile::new(&root, name, &Create::Guarded(new)), change)
                .expect("made")
                .handle
        };
        let (file, private) = (make("file", 0o666), make("private", 0o600));
        Self::of(Arc::new(memory), [file, private, root], states)
    }

    /// Of this file system, with a file that everybody may write, one that its owner may, and a directory.
    pub fn of(file_system: Arc<dyn FileSystem>, nodes: [Handle; 3], states: StateOptions) -> Self {
        Self::adjusted(file_system, nodes, states, |export| export)
    }

    /// The same, of an export with other settings.
    pub fn adjusted(
        file_system: Arc<dyn FileSystem>,
        nodes: [Handle; 3],
        states: StateOptions,
        adjust: impl Fn(Export) -> Export,
    ) -> Self {
        let rules = vec![ClientRule {
            clients: Clients::Network { address: "192.0.2.0".parse().expect("an address"), prefix: 24 },
            squash: Squash::None,
            ..ClientRule::default()
        }];
        let export = adjust(Export::new("/", 1, file_system, rules));
        let exports = Exports::new(vec![export], [7; 16]).expect("exports");
        let seal = |handle: &Handle| exports.seal_as(1, handle).as_wire().0.to_vec();
        let [file, private, directory] = nodes.each_ref().map(seal);
        let service = Service::with_options(exports, ServiceOptions { states, ..ServiceOptions::default() });
        Self { service: Arc::new(service), file, private, directory }
    }

    pub fn client(&self, name: &'static str, address: &str) -> Client {
        let peer = peer(&format!("{address}:701"), SERVER, Transport::Udp);
        Client { service: Arc::clone(&self.service), peer, name, number: 3 }
    }
}

impl Client {
    fn status(&self, procedure: u32, arguments: &impl Encode) -> Status {
        let what = (PROGRAM, VERSION_4, procedure);
        let reply = result_of!(lock::Reply<'_>, &self.service, &self.peer, what, arguments);
        assert_eq!(reply.cookie, COOKIE);
        reply.status
    }

    pub fn bytes<'a>(&self, file: &'a [u8], process: u32, (offset, length): (u64, u64)) -> Lock<'a> {
        let caller = CallerName(self.name.as_bytes());
        Lock { caller, file: FileHandle(file), owner: LockOwner(b"owner"), process, offset, length }
    }

    pub fn lock_as(&self, lock: Lock<'_>, exclusive: bool, block: bool, reclaim: bool) -> Status {
        let state = self.number;
        let arguments = lock::Arguments { cookie: COOKIE, block, exclusive, lock, reclaim, state };
        self.status(lock::PROCEDURE, &arguments)
    }

    /// An exclusive lock, now or not at all.
    pub fn lock(&self, file: &[u8], process: u32, range: (u64, u64)) -> Status {
        self.lock_as(self.bytes(file, process, range), true, false, false)
    }

    /// An exclusive lock, waited for.
    pub fn wait(&self, file: &[u8], process: u32, range: (u64, u64)) -> Status {
        self.lock_as(self.bytes(file, process, range), true, true, false)
    }

    pub fn cancel(&self, file: &[u8], process: u32, range: (u64, u64)) -> Status {
        let lock = self.bytes(file, process, range);
        let arguments = cancel::Arguments { cookie: COOKIE, block: true, exclusive: true, lock };
        self.status(cancel::PROCEDURE, &arguments)
    }

    pub fn unlock(&self, file: &[u8], process: u32, range: (u64, u64)) -> Status {
        let arguments = unlock::Arguments { cookie: COOKIE, lock: self.bytes(file, process, range) };
        self.status(unlock::PROCEDURE, &arguments)
    }

    pub fn test(&self, file: &[u8], process: u32, range: (u64, u64)) -> Outcome<'static> {
        let lock = self.bytes(file, process, range);
        let arguments = test::Arguments { cookie: COOKIE, exclusive: true, lock };
        let what = (PROGRAM, VERSION_4, test::PROCEDURE);
        result_of!(test::Reply<'_>, &self.service, &self.peer, what, &arguments).outcome
    }

    pub fn share(&self, file: &[u8], owner: &[u8], access: ShareAccess, deny: ShareDeny) -> Status {
        self.share_call(share::PROCEDURE, file, owner, (access, deny))
    }

    pub fn unshare(&self, file: &[u8], owner: &[u8]) -> Status {
        self.share_call(unshare::PROCEDURE, file, owner, (ShareAccess::Nothing, ShareDeny::Nothing))
    }

    fn share_call(
        &self,
        procedure: u32,
        file: &[u8],
        owner: &[u8],
        (access, deny): (ShareAccess, ShareDeny),
    ) -> Status {
        let caller = CallerName(self.name.as_bytes());
        let share = share::Share { caller, file: FileHandle(file), owner: LockOwner(owner), deny, access };
        let arguments = share::Arguments { cookie: COOKIE, share, reclaim: false };
        let what = (PROGRAM, VERSION_4, procedure);
        result_of!(share::Reply<'_>, &self.service, &self.peer, what, &arguments).status
    }

    pub fn free_all(&self) {
        let arguments = free_all::Arguments { name: CallerName(self.name.as_bytes()), state: 0 };
        call(&self.service, &self.peer, (PROGRAM, VERSION_4, free_all::PROCEDURE), &arguments)
            .expect("an answer");
    }
}

/// What the calls come with.
pub const COOKIE: Cookie<'static> = Cookie(b"call 7");
