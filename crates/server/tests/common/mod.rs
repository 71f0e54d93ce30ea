//! A server over the in-memory file system, and a client that speaks bytes.

#![allow(dead_code)] // Each test binary uses its own part of this.

pub mod nfs4;
pub mod secured;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use howdah_server::exports::{ClientRule, DelegationPolicy, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets, Tuning};
use howdah_vfs::FileSystem;
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs3;
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encode, Encoder};

/// Starts a server of this file system on a free port of loopback.
pub fn serve(file_system: Arc<dyn FileSystem>) -> (Server, SocketAddr) {
    serve_with(file_system, 8)
}

/// The same with so many workers.
pub fn serve_with(file_system: Arc<dyn FileSystem>, workers: usize) -> (Server, SocketAddr) {
    serve_as(file_system, &Settings { workers, ..Settings::default() })
}

/// The same with connections sized in that way.
pub fn serve_tuned(file_system: Arc<dyn FileSystem>, tuning: Tuning) -> (Server, SocketAddr) {
    serve_as(file_system, &Settings { tuning, ..Settings::default() })
}

fn serve_as(file_system: Arc<dyn FileSystem>, settings: &Settings) -> (Server, SocketAddr) {
    let exports = exports(file_system);
    let sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], true).expect("binding");
    let server = Server::start(settings, sockets, exports).expect("starting");
    let address = server.addresses()[0].1;
    (server, address)
}

/// This file system as the one export.
pub fn exports(file_system: Arc<dyn FileSystem>) -> Exports {
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    // As `howdah serve` gives them.
    let export =
        Export::new("/", 1, file_system, vec![rule]).with_delegations(DelegationPolicy::WhereNoticed);
    Exports::new(vec![export], [7; 16]).expect("one export")
}

/// Starts a server of an empty file system in memory.
pub fn serve_memory() -> (Server, SocketAddr) {
    serve(Arc::new(MemoryFileSystem::new()))
}

/// The wire form of the root's handle.
pub fn root(server: &Server) -> Vec<u8> {
    let exports = server.service().exports();
    let export = exports.iter().next().expect("one export");
    exports.seal(export, export.root()).as_wire().0.to_vec()
}

/// A call in a record of its own.
pub fn call(xid: u32, program: u32, version: u32, procedure: u32, arguments: &impl Encode) -> Vec<u8> {
    let credentials = Credentials::Sys(AuthSys::new(b"test", 0, 0, &[]));
    let mut message = Encoder::to_vec(&CallHeader { xid, program, version, procedure, credentials });
    arguments.encode(&mut Encoder::new(&mut message));
    let mark = RecordMark { length: message.len() as u32, last: true };
    [&mark.to_bytes()[..], &message].concat()
}

/// A call of NFSv3.
pub fn nfs_call(xid: u32, procedure: u32, arguments: &impl Encode) -> Vec<u8> {
    call(xid, nfs3::PROGRAM, nfs3::VERSION, procedure, arguments)
}

/// Reads one record.
pub fn read_record(stream: &mut TcpStream) -> Vec<u8> {
    let mut mark = [0; RecordMark::SIZE];
    stream.read_exact(&mut mark).expect("a record mark");
    let mut record = vec![0; RecordMark::from_bytes(mark).length as usize];
    stream.read_exact(&mut record).expect("a record");
    record
}

/// Sends a call and gives the bytes of its result.
pub fn exchange(stream: &mut TcpStream, call: &[u8]) -> Vec<u8> {
    stream.write_all(call).expect("sending");
    let record = read_record(stream);
    let mut decoder = Decoder::new(&record);
    let header = ReplyHeader::decode(&mut decoder).expect("a reply");
    assert_eq!(header.outcome, Ok(Accepted::Success));
    decoder.rest().to_vec()
}

/// Makes a file of that size in the root; its handle.
pub fn make_file(server: &Server, address: SocketAddr, size: u64) -> Vec<u8> {
    use nfs3::create::{self, How};
    let root = root(server);
    let object = nfs3::DirectoryName { directory: nfs3::FileHandle(&root), name: b"file" };
    let how = How::Unchecked(nfs3::NewAttributes { size: Some(size), ..nfs3::NewAttributes::default() });
    let call = nfs_call(1, create::PROCEDURE, &create::Arguments { object, how });
    let result = exchange(&mut TcpStream::connect(address).expect("connecting"), &call);
    let made = create::Reply::decode(&mut Decoder::new(&result)).expect("a result").expect("made");
    made.node.expect("a handle").0.to_vec()
}

/// Asks for the attributes of a node.
pub fn getattr(stream: &mut TcpStream, handle: &[u8]) -> nfs3::getattr::Reply {
    let arguments = nfs3::getattr::Arguments { node: nfs3::FileHandle(handle) };
    let result = exchange(stream, &nfs_call(77, nfs3::getattr::PROCEDURE, &arguments));
    nfs3::getattr::Reply::decode(&mut Decoder::new(&result)).expect("a result")
}

/// Resident memory of this process, in bytes, without what the allocator keeps of earlier tests.
pub fn resident() -> usize {
    howdah_net::give_memory_back();
    let statm = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: usize = statm.split(' ').nth(1).and_then(|field| field.parse().ok()).expect("a number");
    pages * 4096
}
