//! A client that takes all file descriptors does not keep others out. A test program of its own, since it limits the
//! descriptors of its whole process, in which the server runs as well.

#![allow(clippy::unwrap_used)]

mod common;

use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use common::{getattr, root, serve_memory};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{Domain, Socket, Type};

/// Connections that one address makes, and how many of them the server has descriptors for.
const CROWD: usize = 60;
const ROOM: u64 = 20;
/// Many times what an answer takes where nothing else is wrong.
const PATIENCE: Duration = Duration::from_secs(30);

/// A socket bound to this address of loopback, so that the server takes it for another client.
fn socket_of(address: Ipv4Addr) -> Socket {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::from((address, 0)).into()).unwrap();
    socket
}

#[test]
fn idle_connections_of_the_greediest_client_give_way_when_descriptors_run_out() {
    let (server, address) = serve_memory();
    let handle = root(&server);
    let first = socket_of(Ipv4Addr::new(127, 0, 0, 3));
    first.connect(&address.into()).unwrap();
    let mut first = TcpStream::from(first);
    assert!(getattr(&mut first, &handle).is_ok());

    // The clients' ends exist before the limit: only the server's need new descriptors under it.
    let crowd: Vec<Socket> = (0..CROWD).map(|_| socket_of(Ipv4Addr::LOCALHOST)).collect();
    let honest = socket_of(Ipv4Addr::new(127, 0, 0, 2));
    let limit = getrlimit(Resource::Nofile);
    let next = std::fs::File::open("/dev/null").map(|file| std::os::fd::AsRawFd::as_raw_fd(&file)).unwrap();
    let lowered = Rlimit { current: Some(u64::try_from(next).unwrap() + ROOM), ..limit };
    setrlimit(Resource::Nofile, lowered).unwrap();

    for socket in &crowd {
        socket.connect(&address.into()).unwrap();
    }
    honest.connect(&address.into()).unwrap();
    let mut honest = TcpStream::from(honest);
    honest.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(getattr(&mut honest, &handle).is_ok(), "another client is let in");
    assert!(getattr(&mut first, &handle).is_ok(), "and one that was there before is still served");
}
