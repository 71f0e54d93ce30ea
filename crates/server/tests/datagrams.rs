//! UDP by several sockets of one address: whichever a call comes to, it is the same server.

mod common;

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{exports, nfs_call, root};
use howdah_server::{Server, Settings, Sockets, UdpSettings, UdpTraffic};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_wire::nfs3::{DirectoryName, FileHandle, NewAttributes, getattr, mkdir};
use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Decode, Decoder};

/// How long an answer over loopback may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// So many that calls from as many ports meet every socket of a group of [`GROUP`].
const PORTS: usize = 64;
const GROUP: usize = 4;

fn serve(listen: &str, udp: UdpSettings) -> (Server, SocketAddr) {
    let sockets =
        Sockets::bind_with(&[listen.parse().expect("an address")], Some(&udp)).expect("a free port");
    let exports = exports(Arc::new(MemoryFileSystem::new()));
    let settings = Settings { workers: 8, ..Settings::default() };
    let server = Server::start(&settings, sockets, exports).expect("starting");
    let port = server.addresses()[0].1.port();
    (server, (Ipv4Addr::LOCALHOST, port).into())
}

/// Sends a call in a datagram from a port of its own; gives the whole reply.
fn ask(server: SocketAddr, call: &[u8]) -> Vec<u8> {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("any port");
    socket.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    socket.send_to(&call[RecordMark::SIZE..], server).expect("sending");
    let mut reply = vec![0; 65_536];
    let (length, from) = socket.recv_from(&mut reply).expect("an answer");
    assert_eq!(from, server, "from where it was asked");
    reply.truncate(length);
    reply
}

/// The traffic once so many replies are counted: the last of them may have arrived before.
fn traffic_after(server: &Server, replies: u64) -> Vec<UdpTraffic> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let traffic = server.udp_traffic();
        let sent: u64 = traffic.iter().map(|traffic| traffic.sent.datagrams).sum();
        if sent >= replies {
            return traffic;
        }
        assert!(Instant::now() < deadline, "{traffic:?}");
        std::thread::yield_now();
    }
}

#[test]
fn a_call_sent_again_is_known_at_whatever_socket_it_arrives() {
    let (server, address) = serve("127.0.0.1:0", UdpSettings { sockets: Some(GROUP), per_interface: false });
    assert_eq!(server.addresses().len(), 2, "one address for each transport");
    let (root, new) = (root(&server), NewAttributes::default());
    let object = DirectoryName { directory: FileHandle(&root), name: b"directory" };
    let call = nfs_call(1, mkdir::PROCEDURE, &mkdir::Arguments { object, new });
    let first = ask(address, &call);
    let mut decoder = Decoder::new(&first);
    assert_eq!(ReplyHeader::decode(&mut decoder).expect("a reply").outcome, Ok(Accepted::Success));
    mkdir::Reply::decode(&mut decoder).expect("a result").expect("made");
    for _ in 1..PORTS {
        assert_eq!(ask(address, &call), first);
    }
    let [traffic] = &traffic_after(&server, PORTS as u64)[..] else { panic!("one address") };
    assert_eq!((traffic.sockets, traffic.address, &traffic.interface), (GROUP, address, &None));
    assert_eq!((traffic.dropped, traffic.unsent), (0, 0));
    let sizes = [(call.len() - RecordMark::SIZE), first.len()].map(|size| (PORTS * size) as u64);
    assert_eq!((traffic.received.datagrams, traffic.sent.datagrams), (PORTS as u64, PORTS as u64));
    assert_eq!([traffic.received.bytes, traffic.sent.bytes], sizes);
}

#[test]
fn a_second_server_of_the_same_port_is_refused_also_where_sockets_are_shared() {
    let (_server, address) = serve("127.0.0.1:0", UdpSettings { sockets: Some(GROUP), per_interface: false });
    // TCP's listener would refuse it first.
    let group = UdpSettings { sockets: Some(GROUP), per_interface: false };
    assert_eq!(group.bind(address).expect_err("taken").kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn loopback_has_sockets_of_its_own_where_interfaces_have() {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let (server, address) = serve(listen, UdpSettings { sockets: Some(2), per_interface: true });
        let root = root(&server);
        let call = nfs_call(1, getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(&root) });
        for _ in 0..PORTS {
            ask(address, &call);
        }
        let traffic = traffic_after(&server, PORTS as u64);
        let on = |name: Option<&str>| {
            traffic
                .iter()
                .find(|traffic| traffic.interface.as_deref() == name)
                .expect("sockets for it")
                .clone()
        };
        assert_eq!((on(None).sockets, on(None).received.datagrams), (1, 0));
        assert_eq!((on(Some("lo")).sockets, on(Some("lo")).received.datagrams), (2, PORTS as u64));
        assert_eq!(server.addresses().len(), 2, "one address for each transport");
        assert!(server.stop(PATIENCE));
    }
}
