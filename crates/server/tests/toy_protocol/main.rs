//! A protocol that the server does not know is a folder and one line where what is served is put together. It gets everything
//! that the others have: both transports, replies kept for repetitions, its place in portmap, counts.

#[path = "../common/mod.rs"]
mod common;
mod counter;

use std::io::Write;
use std::net::{TcpStream, UdpSocket};
use std::sync::Arc;

use common::{call, exchange, exports};
use counter::{ADD, Counter, FILE, NUMBER, Summand, VERSION};
use howdah_server::{Server, Service, Settings, Sockets};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::portmap::{self, Mapping, Protocol, getport};
use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder};

fn sum(result: &[u8]) -> u32 {
    Decoder::new(result).u32("sum").expect("a sum")
}

#[test]
fn a_protocol_is_one_folder_and_one_line() {
    let data: Vec<u8> = (0..1_000_003_u32).map(|at| at as u8).collect();
    let mut file = tempfile::tempfile().expect("a file");
    file.write_all(&data).expect("written");
    let counter = Counter::new(file.into(), data.len());
    let service = Service::with(exports(Arc::new(MemoryFileSystem::new())), None, vec![Box::new(counter)]);
    let sockets = Sockets::bind(&["127.0.0.1:0".parse().expect("an address")], true).expect("binding");
    let server = Server::start_service(&Settings::default(), sockets, service).expect("starting");
    let address = server.addresses()[0].1;
    let mut stream = TcpStream::connect(address).expect("connecting");
    let add = |xid, more| call(xid, NUMBER, VERSION, ADD, &Summand(more));
    assert_eq!(sum(&exchange(&mut stream, &add(1, 5))), 5);
    assert_eq!(sum(&exchange(&mut stream, &add(2, 3))), 8);
    assert_eq!(sum(&exchange(&mut stream, &add(2, 3))), 8, "the repetition of a call");

    // A file in the middle of a reply, which no buffer of the server holds.
    let reply = exchange(&mut stream, &call(9, NUMBER, VERSION, FILE, &Summand(0)));
    let (before, behind) = reply.split_at(4);
    let (file, after) = behind.split_at(data.len().next_multiple_of(4));
    assert_eq!((sum(before), sum(after)), (8, !8));
    assert!(file[..data.len()] == data);

    let socket = UdpSocket::bind("127.0.0.1:0").expect("any port");
    socket.connect(address).expect("an address");
    socket.send(&add(3, 4)[RecordMark::SIZE..]).expect("sent");
    let mut reply = [0; 128];
    let length = socket.recv(&mut reply).expect("a reply");
    let mut decoder = Decoder::new(&reply[..length]);
    assert_eq!(ReplyHeader::decode(&mut decoder).expect("a reply").outcome, Ok(Accepted::Success));
    assert_eq!(sum(decoder.rest()), 12);

    let mapping = Mapping { program: NUMBER, version: VERSION, protocol: Protocol::TCP, port: 0 };
    let asked =
        call(4, portmap::PROGRAM, portmap::VERSION, getport::PROCEDURE, &getport::Arguments { mapping });
    let answer = exchange(&mut stream, &asked);
    let answer = getport::Reply::decode(&mut Decoder::new(&answer)).expect("a port");
    assert_eq!(answer.port, u32::from(address.port()));
}
