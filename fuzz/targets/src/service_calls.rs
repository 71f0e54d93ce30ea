//! Calls as any client may send them, to a server of a file system in memory: each is answered, with what its procedure
//! may answer, and a repeated one with the same.

mod input;
mod shape;

use std::collections::HashSet;
use std::sync::Arc;

use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Ends, Peer, Service, Transport, TransportSecurity};
use howdah_vfs::memory::{MemoryFileSystem, MemoryOptions};
use howdah_wire::nfs3::{self, FileHandle};
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder, Encoder};

use input::Input;
use shape::{SHAPES, encode};

/// The most calls of one input.
const CALLS_MAX: u32 = 100;
/// The most handles that are kept for later calls.
const HANDLES_MAX: usize = 16;
/// Bytes that the file system takes, so that an input cannot fill the memory.
const BUDGET: u64 = 1 << 20;
/// The procedures whose reply is kept for a repetition: CREATE to LINK.
const ONCE: std::ops::RangeInclusive<u32> = 8..=15;

/// Each call: its procedure and who makes it in a byte each, then what its arguments are made of.
pub fn run(input: &[u8]) {
    let options = MemoryOptions { budget: Some(BUDGET), root_mode: 0o777, ..MemoryOptions::default() };
    let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
    let export = Export::new("/", 1, Arc::new(MemoryFileSystem::with_options(options)), vec![rule]);
    let service = Service::new(Exports::new(vec![export], [7; 16]).expect("one export"));
    let mut client = Client { handles: vec![root(&service)], known: HashSet::new(), service };
    let mut input = Input::new(input);
    for xid in 0..CALLS_MAX {
        if input.is_empty() {
            return;
        }
        client.call(xid, &mut input);
    }
}

struct Client {
    service: Service,
    handles: Vec<Vec<u8>>,
    known: HashSet<Vec<u8>>,
}

fn root(service: &Service) -> Vec<u8> {
    let exports = service.exports();
    let export = exports.iter().next().expect("one export");
    exports.seal(export, export.root()).as_wire().0.to_vec()
}

impl Client {
    fn call(&mut self, xid: u32, input: &mut Input<'_>) {
        let (choice, who) = (input.byte(), input.byte());
        let procedure = u32::from(choice) % SHAPES.len() as u32;
        let credentials = match who % 4 {
            0 => Credentials::None,
            1 => Credentials::Sys(AuthSys::new(b"fuzz", 0, 0, &[])),
            user => Credentials::Sys(AuthSys::new(b"fuzz", 1000 + u32::from(user), 1000, &[1001])),
        };
        let (program, version) = (nfs3::PROGRAM, nfs3::VERSION);
        let mut message = Encoder::to_vec(&CallHeader { xid, program, version, procedure, credentials });
        encode(SHAPES[procedure as usize], input, &self.handles, &mut Encoder::new(&mut message));

        let reply = self.send(&message);
        if who & 0x80 != 0 && ONCE.contains(&procedure) {
            assert_eq!(self.send(&message), reply, "the repetition of a call of procedure {procedure}");
        }
        let mut decoder = Decoder::new(&reply);
        let header = ReplyHeader::decode(&mut decoder).expect("a reply");
        assert_eq!(header.xid, xid);
        match header.outcome {
            Ok(Accepted::Success) => self.judge(procedure, decoder.rest()),
            Ok(Accepted::GarbageArguments) => {}
            other => panic!("procedure {procedure} was answered {other:?}"),
        }
    }

    fn send(&self, message: &[u8]) -> Vec<u8> {
        let address = |text: &str| text.parse().expect("an address");
        let (client, server) = (address("192.0.2.9:1001"), address("192.0.2.1:2049"));
        let ends = Ends { client, server };
        let peer =
            Peer { ends, transport: Transport::Tcp, security: TransportSecurity::Plain, certificate: None };
        self.service.answer(&peer, message).expect("every call of NFS is answered")
    }

    /// The result must be one of its procedure, whole; the handles in it are kept.
    fn judge(&mut self, procedure: u32, result: &[u8]) {
        match procedure {
            nfs3::null::PROCEDURE => whole::<()>(result),
            nfs3::getattr::PROCEDURE => drop(whole::<nfs3::getattr::Reply>(result)),
            nfs3::setattr::PROCEDURE => drop(whole::<nfs3::setattr::Reply>(result)),
            nfs3::lookup::PROCEDURE => {
                let reply = whole::<nfs3::lookup::Reply<'_>>(result);
                self.keep(reply.ok().map(|success| success.node));
            }
            nfs3::access::PROCEDURE => drop(whole::<nfs3::access::Reply>(result)),
            nfs3::readlink::PROCEDURE => drop(whole::<nfs3::readlink::Reply<'_>>(result)),
            nfs3::read::PROCEDURE => drop(whole::<nfs3::read::Reply<'_>>(result)),
            nfs3::write::PROCEDURE => drop(whole::<nfs3::write::Reply>(result)),
            nfs3::create::PROCEDURE
            | nfs3::mkdir::PROCEDURE
            | nfs3::symlink::PROCEDURE
            | nfs3::mknod::PROCEDURE => {
                let reply = whole::<nfs3::create::Reply<'_>>(result);
                self.keep(reply.ok().and_then(|made| made.node));
            }
            nfs3::remove::PROCEDURE => drop(whole::<nfs3::remove::Reply>(result)),
            nfs3::rmdir::PROCEDURE => drop(whole::<nfs3::rmdir::Reply>(result)),
            nfs3::rename::PROCEDURE => drop(whole::<nfs3::rename::Reply>(result)),
            nfs3::link::PROCEDURE => drop(whole::<nfs3::link::Reply>(result)),
            nfs3::readdir::PROCEDURE => drop(whole::<nfs3::readdir::Reply<'_>>(result)),
            nfs3::readdirplus::PROCEDURE => drop(whole::<nfs3::readdirplus::Reply<'_>>(result)),
            nfs3::fsstat::PROCEDURE => drop(whole::<nfs3::fsstat::Reply>(result)),
            nfs3::fsinfo::PROCEDURE => drop(whole::<nfs3::fsinfo::Reply>(result)),
            nfs3::pathconf::PROCEDURE => drop(whole::<nfs3::pathconf::Reply>(result)),
            nfs3::commit::PROCEDURE => drop(whole::<nfs3::commit::Reply>(result)),
            other => panic!("procedure {other} was answered"),
        }
    }

    fn keep(&mut self, handle: Option<FileHandle<'_>>) {
        let Some(FileHandle(bytes)) = handle else { return };
        if self.handles.len() < HANDLES_MAX && self.known.insert(bytes.to_vec()) {
            self.handles.push(bytes.to_vec());
        }
    }
}

fn whole<'a, T: Decode<'a>>(result: &'a [u8]) -> T {
    let mut decoder = Decoder::new(result);
    let value = T::decode(&mut decoder).expect("a result of the procedure");
    decoder.finish("result").expect("nothing after it");
    value
}
