//! Storage of one export that hangs, or is slow, holds up no other export.

mod common;

use std::io::{self, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use common::{call, nfs_call, read_record};
use howdah_server::exports::{ClientRule, Export, Exports, GroupSource, Squash, UserGroups};
use howdah_server::{Server, Settings, Sockets};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{FileSystem, Result};
use howdah_wire::mount::{self, DirectoryPath, mnt};
use howdah_wire::nfs3::{self, FileHandle, access, getattr, write};
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};
use parking_lot::{Condvar, Mutex};

/// Far above what an answer takes, far below what a person waits for a failing test.
const PATIENCE: Duration = Duration::from_secs(20);

/// Storage that hangs in ACCESS, LOOKUP and WRITE until it is let go.
struct Hanging {
    inner: MemoryFileSystem,
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Hanging {
    fn new() -> Arc<Self> {
        let (is_open, opened) = Default::default();
        Arc::new(Self { inner: MemoryFileSystem::new(), is_open, opened })
    }

    fn open(&self) {
        *self.is_open.lock() = true;
        self.opened.notify_all();
    }
}

impl Layer for Hanging {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if matches!(call, Call::Access | Call::Lookup | Call::Write) {
            self.opened.wait_while(&mut self.is_open.lock(), |is_open| !*is_open);
        }
        run(&self.inner)
    }
}

/// What another server exports. It answers its calls when so many have come.
struct Far {
    inner: MemoryFileSystem,
    wanted: u32,
    came: Mutex<u32>,
    all_came: Condvar,
}

impl Layer for Far {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn waits(&self) -> bool {
        true
    }

    fn pass<T>(&self, _call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        let mut came = self.came.lock();
        *came += 1;
        self.all_came.notify_all();
        self.all_came.wait_while(&mut came, |came| *came < self.wanted);
        drop(came);
        run(&self.inner)
    }
}

/// Storage that takes its time for ACCESS.
struct Slow(MemoryFileSystem, Duration);

impl Layer for Slow {
    fn inner(&self) -> &dyn FileSystem {
        &self.0
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::Access {
            std::thread::sleep(self.1);
        }
        run(&self.0)
    }
}

/// A server of these exports, and their roots.
fn serve(exports: Vec<Arc<dyn FileSystem>>, workers: usize) -> (Server, SocketAddr, Vec<Vec<u8>>) {
    let rule = || ClientRule { squash: Squash::None, ..ClientRule::default() };
    let export = |(files, id): (_, u32)| Export::new(&format!("/{id}"), id, files, vec![rule()]);
    let exports =
        Exports::new(exports.into_iter().zip(1..).map(export).collect(), [7; 16]).expect("they differ");
    let roots =
        exports.iter().map(|export| exports.seal(export, export.root()).as_wire().0.to_vec()).collect();
    let sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], false).expect("binding");
    let server =
        Server::start(&Settings { workers, ..Settings::default() }, sockets, exports).expect("starting");
    let address = server.addresses()[0].1;
    (server, address, roots)
}

/// The user database says nothing of user 7.
struct Silent(Arc<Mutex<bool>>, Arc<Condvar>);

impl GroupSource for Silent {
    fn groups(&self, user: u32) -> io::Result<Option<Vec<u32>>> {
        if user == 7 {
            self.1.wait_while(&mut self.0.lock(), |is_open| !*is_open);
        }
        Ok(Some(vec![user]))
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("connecting");
    stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    stream
}

fn access(xid: u32, node: &[u8]) -> Vec<u8> {
    nfs_call(xid, access::PROCEDURE, &access::Arguments { node: FileHandle(node), wanted: 1 })
}

fn attributes(xid: u32, node: &[u8]) -> Vec<u8> {
    nfs_call(xid, getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(node) })
}

/// To a directory, which is an error, but one that the file system finds.
fn write(xid: u32, node: &[u8], length: usize) -> Vec<u8> {
    let (stability, data) = (write::Stability::Unstable, vec![7; length]);
    let arguments =
        write::Arguments { node: FileHandle(node), offset: 0, count: length as u32, stability, data: &data };
    nfs_call(xid, write::PROCEDURE, &arguments)
}

/// The next reply: of which call, and its status.
fn answered(stream: &mut TcpStream) -> (u32, u32) {
    let record = read_record(stream);
    let mut decoder = Decoder::new(&record);
    let header = ReplyHeader::decode(&mut decoder).expect("a reply");
    assert_eq!(header.outcome, Ok(Accepted::Success));
    (header.xid, decoder.u32("status").expect("a status"))
}

#[test]
fn other_exports_go_on_while_one_hangs() {
    const CALLERS: u32 = 100;
    let hanging = Hanging::new();
    let (server, address, roots) = serve(vec![hanging.clone(), Arc::new(MemoryFileSystem::new())], 4);
    let mut callers: Vec<TcpStream> = (0..CALLERS).map(|_| connect(address)).collect();
    // Half of them have calls for both exports on one connection, as a client has them for all that it mounts from a server. The
    // others' data is so long that it is left in the socket until it goes to the file, and what is behind it with it.
    for (caller, xid) in callers.iter_mut().zip(0..) {
        let calls = if xid % 2 == 0 {
            [write(xid, &roots[0], 100), attributes(CALLERS + xid, &roots[1])].concat()
        } else {
            write(xid, &roots[0], 200 << 10)
        };
        caller.write_all(&calls).expect("sending");
    }
    for (caller, xid) in callers.iter_mut().zip(0..).step_by(2) {
        assert_eq!(answered(caller), (CALLERS + xid, 0));
    }
    let mut other = connect(address);
    other.write_all(&access(1, &roots[1])).expect("sending");
    assert_eq!(answered(&mut other), (1, 0));
    hanging.open();
    for (caller, xid) in callers.iter_mut().zip(0..) {
        assert_eq!(answered(caller), (xid, nfs3::Status::IsDirectory as u32));
    }
    assert!(server.stop(PATIENCE));
}

#[test]
fn mounts_below_a_hanging_export_take_no_more_workers_than_its_other_calls() {
    // More than there are ever workers.
    const CALLERS: u32 = 300;
    let hanging = Hanging::new();
    let (server, address, roots) = serve(vec![hanging.clone(), Arc::new(MemoryFileSystem::new())], 4);
    let mut callers: Vec<TcpStream> = (0..CALLERS).map(|_| connect(address)).collect();
    let path = mnt::Arguments { path: DirectoryPath(b"/1/nothing") };
    for (caller, xid) in callers.iter_mut().zip(0..) {
        caller
            .write_all(&call(xid, mount::PROGRAM, mount::VERSION_3, mnt::PROCEDURE, &path))
            .expect("sending");
    }
    let mut other = connect(address);
    for xid in 0..20 {
        other.write_all(&attributes(xid, &roots[1])).expect("sending");
        assert_eq!(answered(&mut other), (xid, 0));
    }
    hanging.open();
    for (caller, xid) in callers.iter_mut().zip(0..) {
        assert_eq!(answered(caller), (xid, mount::Status::NotFound as u32));
    }
    assert!(server.stop(PATIENCE));
}

#[test]
fn one_connection_does_not_fill_the_line() {
    const CALLS: u32 = 3000;
    let hanging = Hanging::new();
    let (server, address, roots) = serve(vec![hanging.clone()], 4);
    let (mut greedy, mut modest) = (connect(address), connect(address));
    let calls: Vec<u8> = (0..CALLS).flat_map(|xid| access(xid, &roots[0])).collect();
    greedy.write_all(&calls).expect("sending");
    // What is too much is answered while the rest hangs.
    let (_, status) = answered(&mut greedy);
    assert_eq!(status, nfs3::Status::Jukebox as u32);
    modest.write_all(&access(1, &roots[0])).expect("sending");
    hanging.open();
    assert_eq!(answered(&mut modest), (1, 0));
    let refused = (1..CALLS).filter(|_| answered(&mut greedy).1 != 0).count() as u32 + 1;
    assert!(refused < CALLS - 1024, "{refused} were put off");
    assert!(server.stop(PATIENCE));
}

#[test]
fn exports_that_hang_take_no_more_than_all_workers_but_some() {
    // With 32 calls of each they would have more workers than there are ever.
    const EXPORTS: usize = 10;
    let hanging: Vec<Arc<Hanging>> = (0..EXPORTS).map(|_| Hanging::new()).collect();
    let files = hanging.iter().map(|one| one.clone() as Arc<dyn FileSystem>);
    let (server, address, roots) = serve(files.chain([Arc::new(MemoryFileSystem::new()) as _]).collect(), 32);
    let mut callers: Vec<TcpStream> = (0..EXPORTS).map(|_| connect(address)).collect();
    let mut other = connect(address);
    for (caller, root) in callers.iter_mut().zip(&roots) {
        let calls: Vec<u8> = (0..64).flat_map(|xid| access(xid, root)).collect();
        caller.write_all(&calls).expect("sending");
        other.write_all(&attributes(1, &roots[EXPORTS])).expect("sending");
        assert_eq!(answered(&mut other), (1, 0));
    }
    for xid in 0..200 {
        other.write_all(&attributes(xid, &roots[EXPORTS])).expect("sending");
        assert_eq!(answered(&mut other), (xid, 0));
    }
    hanging.iter().for_each(|one| one.open());
    for caller in &mut callers {
        let mut xids: Vec<u32> = (0..64).map(|_| answered(caller).0).collect();
        xids.sort_unstable();
        assert_eq!(xids, (0..64).collect::<Vec<_>>());
    }
    assert!(server.stop(PATIENCE));
}

#[test]
fn a_slow_export_has_as_many_calls_as_it_may_and_harms_no_other() {
    const CALLERS: u32 = 200;
    let slow = Slow(MemoryFileSystem::new(), Duration::from_millis(100));
    let (server, address, roots) = serve(vec![Arc::new(slow), Arc::new(MemoryFileSystem::new())], 32);
    let mut callers: Vec<TcpStream> = (0..CALLERS).map(|_| connect(address)).collect();
    for (caller, xid) in callers.iter_mut().zip(0..) {
        caller.write_all(&access(xid, &roots[0])).expect("sending");
    }
    // All of the slow ones take 0.7 s: these come in between, one after the other.
    let mut other = connect(address);
    for xid in 0..100 {
        other.write_all(&attributes(xid, &roots[1])).expect("sending");
        assert_eq!(answered(&mut other), (xid, 0));
    }
    for (caller, xid) in callers.iter_mut().zip(0..) {
        assert_eq!(answered(caller), (xid, 0));
    }
    assert!(server.stop(PATIENCE));
}

#[test]
fn far_calls_of_one_connection_wait_together_and_harm_no_other_export() {
    const CALLS: u32 = 200;
    let (came, all_came) = Default::default();
    let far = Arc::new(Far { inner: MemoryFileSystem::new(), wanted: CALLS, came, all_came });
    let (server, address, roots) = serve(vec![far.clone(), Arc::new(MemoryFileSystem::new())], 4);
    let (mut caller, mut other) = (connect(address), connect(address));
    let calls: Vec<u8> = (0..CALLS).flat_map(|xid| attributes(xid, &roots[0])).collect();
    caller.write_all(&calls).expect("sending");
    for xid in 0..20 {
        other.write_all(&attributes(xid, &roots[1])).expect("sending");
        assert_eq!(answered(&mut other), (xid, 0));
    }
    let mut xids: Vec<u32> = (0..CALLS).map(|_| answered(&mut caller).0).collect();
    xids.sort_unstable();
    assert_eq!(xids, (0..CALLS).collect::<Vec<_>>());
    assert!(server.stop(PATIENCE));
}

#[test]
fn a_user_whose_groups_nobody_can_say_holds_up_no_other() {
    const CALLERS: u32 = 100;
    let (is_open, opened) = <(Arc<Mutex<bool>>, Arc<Condvar>)>::default();
    let groups = UserGroups::new(Silent(Arc::clone(&is_open), Arc::clone(&opened)));
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), vec![rule]);
    let exports = Exports::new(vec![export], [7; 16]).expect("one").with_groups(Some(Arc::new(groups)));
    let root = exports.find(1).map(|export| exports.seal(export, export.root())).expect("it");
    let root = root.as_wire().0;
    let sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], false).expect("binding");
    let settings = Settings { workers: 4, ..Settings::default() };
    let server = Server::start(&settings, sockets, exports).expect("starting");
    let address = server.addresses()[0].1;
    let by = |user: u32, xid: u32| {
        let (program, version, procedure) = (nfs3::PROGRAM, nfs3::VERSION, getattr::PROCEDURE);
        let credentials = Credentials::Sys(AuthSys::new(b"test", user, user, &[]));
        let mut call = Encoder::to_vec(&CallHeader { xid, program, version, procedure, credentials });
        getattr::Arguments { node: FileHandle(root) }.encode(&mut Encoder::new(&mut call));
        let mark = RecordMark { length: call.len() as u32, last: true };
        [&mark.to_bytes()[..], &call].concat()
    };
    let mut callers: Vec<TcpStream> = (0..CALLERS).map(|_| connect(address)).collect();
    for (caller, xid) in callers.iter_mut().zip(0..) {
        caller.write_all(&by(7, xid)).expect("sending");
    }
    let mut other = connect(address);
    for xid in 0..20 {
        other.write_all(&by(8 + xid, xid)).expect("sending");
        assert_eq!(answered(&mut other), (xid, 0));
    }
    // Its own calls are answered as well, with the groups that they bring.
    for (caller, xid) in callers.iter_mut().zip(0..) {
        assert_eq!(answered(caller), (xid, 0));
    }
    *is_open.lock() = true;
    opened.notify_all();
    assert!(server.stop(PATIENCE));
}
