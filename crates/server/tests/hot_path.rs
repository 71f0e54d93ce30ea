//! What a call on the hot path costs, counted: allocations per GETATTR, and copies of a READ's payload.

#![allow(unsafe_code, clippy::unwrap_used, clippy::print_stdout)]

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use common::{nfs_call, read_record, root, serve, serve_memory};
use howdah_gss::{ContextSide, GssContext, LucidContext, SessionKey};
use howdah_server::exports::{
    ClientRule, Export, Exports, GroupSource, PrincipalMap, PrincipalSettings, SecurityFlavor,
    SecurityFlavors, UserAccount, UserGroups,
};
use howdah_server::gss::{AcceptedToken, GssDoor, TokenAcceptor, TokenRefusal};
use howdah_server::{Server, Service, ServiceOptions, Settings, Sockets};
use howdah_store::local::{LocalFileSystem, Options};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{Caller, Content, FileSystem, GroupList, Name, ReadFile, Result};
use howdah_wire::nfs3::{self, FileHandle};
use howdah_wire::rpc::{
    CallHeader, Credentials, GssCredential, GssInit, GssInitResult, GssProcedure, GssService, GssVerifier,
    RecordMark, SignedReply,
};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};
use parking_lot::Mutex;

/// Counts what is allocated: bytes by any thread of this process, and, once asked to, allocations by workers. The watch and their like
/// look around every second, however many calls there are.
struct Counting;

thread_local! {
    /// Whether this thread is a worker, once that is known.
    static IS_WORKER: Cell<Option<bool>> = const { Cell::new(None) };
}

static COUNTS_WORKERS: AtomicBool = AtomicBool::new(false);
static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);
static BYTES: AtomicU64 = AtomicU64::new(0);
static ALONE: Mutex<()> = Mutex::new(());

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if COUNTS_WORKERS.load(Ordering::Relaxed) && is_worker() {
            ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        }
        BYTES.fetch_add(layout.size() as u64, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn is_worker() -> bool {
    let known = IS_WORKER.get();
    known.unwrap_or_else(|| {
        // Asking for the name allocates.
        IS_WORKER.set(Some(false));
        let is = rustix::thread::name().is_ok_and(|name| name.to_bytes().starts_with(b"worker-"));
        IS_WORKER.set(Some(is));
        is
    })
}

/// Allocations of the server's workers for each of many calls, warm.
fn allocations_per_call(mut exchange: impl FnMut()) -> f64 {
    const TURNS: usize = 5;
    const CALLS: u32 = 2_000;
    (0..200).for_each(|_| exchange());
    COUNTS_WORKERS.store(true, Ordering::Relaxed);
    let mut turn = || {
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        (0..CALLS).for_each(|_| exchange());
        (ALLOCATIONS.load(Ordering::Relaxed) - before) as f64 / f64::from(CALLS)
    };
    // Looks at the connection, some a second, allocate too: the turn counts that had the fewest of them.
    (0..TURNS).map(|_| turn()).fold(f64::INFINITY, f64::min)
}

/// Sends the same call over and over, and reads replies of known length: allocates nothing itself.
fn allocations_per_call_of(stream: &mut TcpStream, call: &[u8]) -> f64 {
    stream.write_all(call).unwrap();
    let mut mark = [0; 4];
    stream.read_exact(&mut mark).unwrap();
    let mut reply = vec![0; (u32::from_be_bytes(mark) & 0x7fff_ffff) as usize];
    stream.read_exact(&mut reply).unwrap();
    allocations_per_call(|| {
        stream.write_all(call).unwrap();
        stream.read_exact(&mut mark).unwrap();
        stream.read_exact(&mut reply).unwrap();
    })
}

#[test]
fn a_warm_getattr_allocates_nothing() {
    let _alone = ALONE.lock();
    let (server, address) = serve_memory();
    let handle = root(&server);
    let arguments = nfs3::getattr::Arguments { node: FileHandle(&handle) };
    let call = nfs_call(1, nfs3::getattr::PROCEDURE, &arguments);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let each = allocations_per_call_of(&mut stream, &call);
    println!("allocations per warm GETATTR: {each}");
    assert!(each < 0.01, "{each} allocations per call");
    // A worker that takes in a connection allocates, and so would be seen.
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    common::getattr(&mut TcpStream::connect(address).unwrap(), &handle).unwrap();
    assert!(ALLOCATIONS.load(Ordering::Relaxed) > before, "allocations are counted");
}

/// Takes every token for alice's, who is a user, and knows the key of her context.
struct Alice;

impl Alice {
    fn lucid(side: ContextSide) -> LucidContext {
        let key = SessionKey::new(18, &[5; 32]).unwrap();
        LucidContext { side, key, acceptor_subkey: true, send_sequence: 1, expiry: u64::MAX }
    }
}

impl TokenAcceptor for Alice {
    fn accept(&self, _: &[u8]) -> std::result::Result<AcceptedToken, TokenRefusal> {
        let lucid = Self::lucid(ContextSide::Acceptor);
        let (client, service) = ("alice@R".to_owned(), "nfs/server@R".to_owned());
        Ok(AcceptedToken { reply: Vec::new(), client, service, lucid })
    }

    fn width(&self) -> usize {
        1
    }
}

impl GroupSource for Alice {
    fn groups(&self, _: u32) -> io::Result<Option<Vec<u32>>> {
        Ok(None)
    }

    fn user(&self, _: &str) -> io::Result<Option<UserAccount>> {
        Ok(Some(UserAccount { user: 7, group: 7, groups: GroupList::default() }))
    }
}

#[test]
fn a_warm_getattr_with_kerberos_allocates_nothing() {
    let _alone = ALONE.lock();
    let rule =
        ClientRule { sec: SecurityFlavors::new([SecurityFlavor::Krb5]).unwrap(), ..ClientRule::default() };
    let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), vec![rule]);
    let map = PrincipalMap::new(PrincipalSettings::default());
    let users = Arc::new(UserGroups::new(Alice));
    let exports = Exports::new(vec![export], [7; 16]).unwrap().with_principals(map, users);
    let gss = Some(GssDoor::new(Box::new(Alice)));
    let service = Service::with_options(exports, ServiceOptions { gss, ..ServiceOptions::default() });
    let sockets = Sockets::bind(&["127.0.0.1:0".parse().unwrap()], true).unwrap();
    let server = Server::start_service(&Settings::default(), sockets, service).unwrap();
    let mut stream = TcpStream::connect(server.addresses()[0].1).unwrap();
    stream.set_nodelay(true).unwrap();

    let keys = GssContext::new(&Alice::lucid(ContextSide::Initiator));
    let call = |what, credential: GssCredential<'_>, arguments: &[u8]| {
        let (program, version, procedure) = what;
        let is_first = credential.procedure == GssProcedure::Init;
        let credentials = Credentials::Gss(credential);
        let mut message = Vec::new();
        CallHeader { xid: 1, program, version, procedure, credentials }
            .encode_unsigned(&mut Encoder::new(&mut message));
        let mic = keys.sign(&[&message]);
        GssVerifier { mic: if is_first { &[] } else { mic.bytes() } }.encode(&mut Encoder::new(&mut message));
        message.extend_from_slice(arguments);
        let mark = RecordMark { length: message.len() as u32, last: true };
        [&mark.to_bytes()[..], &message].concat()
    };
    let service = GssService::None;
    let first = GssCredential { procedure: GssProcedure::Init, sequence: 0, service, handle: &[] };
    let token = Encoder::to_vec(&GssInit { token: b"alice" });
    stream.write_all(&call((nfs3::PROGRAM, nfs3::VERSION, 0), first, &token)).unwrap();
    let reply = read_record(&mut stream);
    let mut decoder = Decoder::new(&reply);
    SignedReply::decode(&mut decoder).unwrap();
    let handle = GssInitResult::decode(&mut decoder).unwrap().handle;

    let arguments = Encoder::to_vec(&nfs3::getattr::Arguments { node: FileHandle(&root(&server)) });
    let what = (nfs3::PROGRAM, nfs3::VERSION, nfs3::getattr::PROCEDURE);
    let mut sequence = 0;
    let each = allocations_per_call(|| {
        sequence += 1;
        let credential = GssCredential { procedure: GssProcedure::Data, sequence, service, handle };
        stream.write_all(&call(what, credential, &arguments)).unwrap();
        let reply = read_record(&mut stream);
        let mut decoder = Decoder::new(&reply);
        SignedReply::decode(&mut decoder).unwrap();
        nfs3::getattr::Reply::decode(&mut decoder).unwrap().unwrap();
    });
    println!("allocations per warm GETATTR with Kerberos: {each}");
    assert!(each < 0.01, "{each} allocations per call");
}

/// Sees what a READ is answered with.
struct Spy {
    inner: LocalFileSystem,
    ranges: AtomicU64,
}

impl Layer for Spy {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        self.ranges.fetch_add(u64::from(call == Call::Read), Ordering::Relaxed);
        run(&self.inner)
    }
}

/// A READ's payload goes from the file to the socket inside the kernel: what is allocated while megabytes are read, by
/// the server and by this client, which has its buffer already, is far less than one of them.
#[test]
fn the_payload_of_a_read_is_never_in_user_space() {
    const SIZE: usize = 1 << 20;
    const READS: u64 = 32;
    let _alone = ALONE.lock();
    let directory = tempfile::tempdir().unwrap();
    let content: Vec<u8> = (0..SIZE).map(|at| (at / 7) as u8).collect();
    std::fs::write(directory.path().join("file"), &content).unwrap();
    let spy = Arc::new(Spy {
        inner: LocalFileSystem::open(directory.path(), Options::default()).unwrap(),
        ranges: AtomicU64::new(0),
    });
    let name = Name::parse(b"file").unwrap();
    let found = spy.inner.lookup(&Caller::ROOT, &spy.inner.root(), name).unwrap();
    let mut appended = Vec::new();
    let outcome =
        spy.inner.read(&Caller::ROOT, ReadFile::new(&found.node.handle, 0, SIZE), &mut appended).unwrap();
    assert!(
        matches!(outcome.content, Content::File(howdah_vfs::FileRange { length: SIZE, .. }))
            && appended.is_empty()
    );

    let (server, address) = serve(spy.clone());
    let exports = server.service().exports();
    let handle = exports.seal(exports.iter().next().unwrap(), &found.node.handle);
    let arguments = nfs3::read::Arguments { node: handle.as_wire(), offset: 0, count: SIZE as u32 };
    let call = nfs_call(1, nfs3::read::PROCEDURE, &arguments);
    let mut stream = TcpStream::connect(address).unwrap();
    let mut reply = vec![0; SIZE + 4096];
    let before = BYTES.load(Ordering::Relaxed);
    for _ in 0..READS {
        stream.write_all(&call).unwrap();
        let mut mark = [0; 4];
        stream.read_exact(&mut mark).unwrap();
        let length = (u32::from_be_bytes(mark) & 0x7fff_ffff) as usize;
        stream.read_exact(&mut reply[..length]).unwrap();
        assert!(reply[..length].ends_with(&content));
    }
    let allocated = BYTES.load(Ordering::Relaxed) - before;
    println!("{READS} READs of 1 MiB: {} KiB allocated in all", allocated >> 10);
    assert_eq!(spy.ranges.load(Ordering::Relaxed), READS);
    assert!(allocated < SIZE as u64 / 2, "{allocated} bytes");
}

#[test]
fn a_warm_getattr_in_a_datagram_allocates_nothing() {
    let _alone = ALONE.lock();
    let (server, address) = serve_memory();
    let handle = root(&server);
    let arguments = nfs3::getattr::Arguments { node: FileHandle(&handle) };
    let call = nfs_call(1, nfs3::getattr::PROCEDURE, &arguments);
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.connect(address).unwrap();
    let mut reply = [0; 1024];
    let each = allocations_per_call(|| {
        // Over loopback, nothing that finds room is lost.
        socket.send(&call[RecordMark::SIZE..]).unwrap();
        assert!(socket.recv(&mut reply).unwrap() > 100);
    });
    println!("allocations per warm GETATTR in a datagram: {each}");
    assert!(each < 0.01, "{each} allocations per call");
}
