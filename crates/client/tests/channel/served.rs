//! A server of a file system in memory, and the calls that tests make of it.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use howdah_client::channel::{
    Answer, CallError, Channel, ChannelOptions, Class, Locate, Pending, ReceiveInto, ReplaySafety, Request,
    Target, Transport,
};
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs3;
use howdah_wire::rpc::{AuthSys, Credentials};
use howdah_wire::xdr::{Decode, Decoder, Encode};

/// A server that runs until it is dropped.
pub struct Served {
    pub address: SocketAddr,
    pub root: Vec<u8>,
    _server: Server,
}

/// Starts one.
pub fn serve() -> Served {
    let address = "127.0.0.1:0".parse().expect("an address");
    serve_at(address, Arc::new(MemoryFileSystem::new()))
}

/// Starts one of this file system at this address.
pub fn serve_at(address: SocketAddr, file_system: Arc<MemoryFileSystem>) -> Served {
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    let export = Export::new("/", 1, file_system, vec![rule]);
    let exports = Exports::new(vec![export], [7; 16]).expect("one export");
    let sockets = Sockets::bind(&[address], true).expect("a free port");
    let server =
        Server::start(&Settings { workers: 4, ..Settings::default() }, sockets, exports).expect("a server");
    let (address, exports) = (server.addresses()[0].1, server.service().exports());
    let export = exports.iter().next().expect("one export");
    let root = exports.seal(export, export.root()).as_wire().0.to_vec();
    Served { address, root, _server: server }
}

/// A channel to a server over TCP.
pub fn open(address: SocketAddr, options: ChannelOptions) -> Channel {
    let target = Target { addresses: vec![address], transport: Transport::Tcp };
    Channel::open(target, options).expect("a channel")
}

/// A call of NFSv3 as the superuser.
pub fn request(procedure: u32, arguments: &dyn Encode, class: Class) -> Request<'_> {
    Request {
        procedure,
        credentials: Credentials::Sys(AuthSys::new(b"test", 0, 0, &[])),
        arguments,
        class,
        ..Request::null(nfs3::PROGRAM, nfs3::VERSION)
    }
}

/// Nothing, as XDR.
pub struct Nothing;

impl Encode for Nothing {
    fn encode(&self, _: &mut howdah_wire::xdr::Encoder<'_>) {}
}

/// NULL.
pub fn null(channel: &Channel) -> Result<Answer, CallError> {
    channel.call(request(nfs3::null::PROCEDURE, &Nothing, Class::Attributes))
}

/// GETATTR.
pub fn getattr(channel: &Channel, node: &[u8]) -> nfs3::getattr::Reply {
    let arguments = nfs3::getattr::Arguments { node: nfs3::FileHandle(node) };
    let answer = channel
        .call(request(nfs3::getattr::PROCEDURE, &arguments, Class::Attributes))
        .expect("an answer to GETATTR");
    nfs3::getattr::Reply::decode(&mut Decoder::new(&answer.results)).expect("results of GETATTR")
}

/// CREATE; gives the handle.
pub fn create(channel: &Channel, directory: &[u8], name: &str) -> Vec<u8> {
    let arguments = nfs3::create::Arguments {
        object: nfs3::DirectoryName { directory: nfs3::FileHandle(directory), name: name.as_bytes() },
        how: nfs3::create::How::Unchecked(nfs3::NewAttributes::default()),
    };
    let mut request = request(nfs3::create::PROCEDURE, &arguments, Class::Change);
    request.replay = ReplaySafety::OnceOnly;
    let answer = channel.call(request).expect("an answer to CREATE");
    let reply = nfs3::create::Reply::decode(&mut Decoder::new(&answer.results)).expect("results of CREATE");
    reply.expect("a new file").node.expect("its handle").0.to_vec()
}

/// WRITE, not waited for.
pub fn start_write(channel: &Channel, node: &[u8], offset: u64, data: Bytes) -> Pending {
    let arguments = nfs3::write::Head {
        node: nfs3::FileHandle(node),
        offset,
        count: data.len() as u32,
        stability: nfs3::write::Stability::Unstable,
        length: data.len() as u32,
    };
    let mut request = request(nfs3::write::PROCEDURE, &arguments, Class::Write);
    request.payload = Some(data.into());
    channel.start(request)
}

/// How many bytes a WRITE wrote.
pub fn written(pending: Pending) -> usize {
    let answer = pending.wait().expect("an answer to WRITE");
    let reply = nfs3::write::Reply::decode(&mut Decoder::new(&answer.results)).expect("results of WRITE");
    reply.expect("written").count as usize
}

/// READ, not waited for.
pub fn start_read(channel: &Channel, node: &[u8], offset: u64, count: usize, buffer: Vec<u8>) -> Pending {
    let arguments = nfs3::read::Arguments { node: nfs3::FileHandle(node), offset, count: count as u32 };
    let mut request = request(nfs3::read::PROCEDURE, &arguments, Class::Read);
    request.receive = Some(ReceiveInto { buffer, most: count, locate });
    channel.start(request)
}

/// What a READ appended, and the buffer.
pub fn read(pending: Pending) -> (Vec<u8>, usize) {
    pending.wait().expect("an answer to READ").received.expect("the buffer")
}

/// The data of a READ: after status, attributes, count, end of file and its own length.
pub fn locate(results: &[u8]) -> Locate {
    let word = |at: usize| results.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes));
    let (Some(status), Some(flag)) = (word(0), word(4)) else { return Locate::NeedMore };
    if status != 0 {
        return Locate::NoData;
    }
    let attributes = if flag == 1 { nfs3::Attributes::SIZE } else { 0 };
    match word(16 + attributes) {
        Some(length) => Locate::Data { at: 20 + attributes, length: length as usize },
        None => Locate::NeedMore,
    }
}
