//! Networks as they are built, with sockets on their hosts. Each test that takes root says so where there is none: as an
//! ordinary user a network is built in a sandbox, which the tests of `howdah lab` enter.
#![allow(clippy::print_stdout)] // A test that is skipped says why.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use howdah_lab::network::{Network, Topology, WireSpec};

/// Longer than anything here takes, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(30);

fn build(topology: &Topology) -> Option<Network> {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: making network namespaces takes root");
        return None;
    }
    Some(Network::build(topology).expect("a network"))
}

/// The path of this text.
fn wire(path: &str) -> WireSpec {
    WireSpec::new(toml::from_str(path).expect("a path"), 1)
}

/// A socket on a host, at its address on a wire.
fn socket(network: &Network, host: &str, wire: &str) -> UdpSocket {
    let address = SocketAddr::new(network.address(host, wire), 0);
    let socket = network.host(host).run_in(|| UdpSocket::bind(address)).expect("a thread").expect("a socket");
    socket.set_read_timeout(Some(LIMIT)).expect("a limit");
    socket
}

/// Sends a datagram there and back.
fn echo(client: &UdpSocket, server: &UdpSocket) -> Duration {
    let start = Instant::now();
    let mut buffer = [0; 2000];
    client.send_to(b"to the server", server.local_addr().expect("bound")).expect("sending");
    let (length, from) = server.recv_from(&mut buffer).expect("it arrives");
    server.send_to(&buffer[..length], from).expect("sending");
    let (length, _) = client.recv_from(&mut buffer).expect("it comes back");
    assert_eq!(&buffer[..length], b"to the server");
    start.elapsed()
}

#[test]
fn datagrams_pass_a_perfect_wire_and_take_their_time_on_a_long_one() {
    let Some(network) = build(&Topology::default()) else { return };
    let (client, server) = (socket(&network, "client", "path0"), socket(&network, "server", "path0"));
    echo(&client, &server);

    let network = build(&Topology::pair(wire("rtt = '60ms'"))).expect("root");
    let (client, server) = (socket(&network, "client", "path0"), socket(&network, "server", "path0"));
    let took = echo(&client, &server);
    assert!(took >= Duration::from_millis(60), "{took:?}");
    let counters = network.wire("path0").counters();
    let first = &counters.there.elements[0];
    assert_eq!((first.name.as_str(), first.counters.arrived.packets), ("taken", 1), "nothing else travels");
}
