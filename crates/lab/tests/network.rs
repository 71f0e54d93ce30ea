//! Networks as they are built, with sockets on their hosts. Each test that takes root says so where there is none: as an
//! ordinary user a network is built in a sandbox, which the tests of `howdah lab` enter.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Stdio;
use std::time::{Duration, Instant};

use howdah_lab::network::{LabNetwork, Topology, WireSpec};
use howdah_needs::{Lack, skipped};

/// Longer than anything here takes, also on a busy machine.
const LIMIT: Duration = Duration::from_secs(30);

fn build(topology: &Topology) -> Option<LabNetwork> {
    if !rustix::process::geteuid().is_root() {
        skipped(Lack::Root, "making network namespaces takes root");
        return None;
    }
    Some(LabNetwork::build(topology).expect("a network"))
}

/// The path of this text.
fn wire(path: &str) -> WireSpec {
    WireSpec::new(toml::from_str(path).expect("a path"), 1)
}

/// A socket on a host, at its address on a wire.
fn socket(network: &LabNetwork, host: &str, wire: &str) -> UdpSocket {
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
    for (_, direction) in network.wire("path0").counters().directions() {
        assert_eq!(direction.late.counts.iter().sum::<u64>(), 0, "nothing is late where nothing is due");
    }

    let network = build(&Topology::pair(wire("rtt = '60ms'"))).expect("root");
    let (client, server) = (socket(&network, "client", "path0"), socket(&network, "server", "path0"));
    let took = echo(&client, &server);
    assert!(took >= Duration::from_millis(60), "{took:?}");
    let counters = network.wire("path0").counters();
    for (_, direction) in counters.directions() {
        let first = &direction.elements[0];
        assert_eq!(
            (first.name.as_str(), first.counters.arrived.packets),
            ("taken", 1),
            "nothing else travels"
        );
        // Header, datagram header, 13 bytes of payload, Ethernet's minimum and framing.
        assert_eq!(first.counters.arrived.bytes, 46 + 38);
        assert_eq!(direction.late.counts.iter().sum::<u64>(), 1, "however late it was");
        assert!(direction.late.most > 0, "handing it over takes time too");
    }
}

#[test]
fn programs_of_a_host_see_its_interfaces_alone() {
    let Some(network) = build(&Topology::default()) else { return };
    let ours = || {
        let names =
            std::fs::read_dir("/sys/class/net").expect("listing").flatten().map(|entry| entry.file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    let before = ours();
    for host in ["client", "server"] {
        let output = network.host(host).command("ls").arg("/sys/class/net").output().expect("coreutils");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "lo\npath0\n", "{host}: {output:?}");
        let mut mtu = network.host(host).command("cat");
        let output = mtu.arg("/sys/class/net/path0/mtu").output().expect("coreutils");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "1500\n", "{host}: {output:?}");
        // Limits of memory are still to be seen.
        let groups = |output: std::io::Result<std::process::Output>| output.expect("coreutils").stdout;
        let ours = groups(std::process::Command::new("ls").arg("/sys/fs/cgroup").output());
        assert_eq!(groups(network.host(host).command("ls").arg("/sys/fs/cgroup").output()), ours, "{host}");
    }
    assert_eq!(ours(), before, "only programs of hosts see another /sys");
}

#[test]
fn a_punctual_wire_carries_datagrams_too() {
    let spec = WireSpec { punctual: true, ..wire("rtt = '20ms'\nrate = '1Gbit'") };
    let Some(network) = build(&Topology::pair(spec)) else { return };
    let (client, server) = (socket(&network, "client", "path0"), socket(&network, "server", "path0"));
    let took = echo(&client, &server);
    assert!(took >= Duration::from_millis(20), "{took:?}");
}

#[test]
fn every_profile_carries_a_datagram_there_and_back() {
    for profile in howdah_link::profiles() {
        let Some(network) = build(&Topology::pair(WireSpec::new(profile.path.clone(), 1))) else { return };
        let (client, server) = (socket(&network, "client", "path0"), socket(&network, "server", "path0"));
        // On a path that loses some, this often says that none come through only if none do.
        client
            .set_read_timeout(Some(profile.path.round_trip() * 4 + Duration::from_secs(2)))
            .expect("a limit");
        let mut buffer = [0; 64];
        let arrived = (0..10).any(|_| {
            client.send_to(b"ping", server.local_addr().expect("bound")).expect("sending");
            server
                .set_read_timeout(Some(profile.path.round_trip() * 4 + Duration::from_secs(2)))
                .expect("a limit");
            let Ok((length, from)) = server.recv_from(&mut buffer) else { return false };
            server.send_to(&buffer[..length], from).expect("sending");
            client.recv_from(&mut buffer).is_ok()
        });
        assert!(arrived, "{}", profile.name);
    }
}

/// Which of so many datagrams arrive.
fn arrivals(network: &LabNetwork, count: u32) -> Vec<u32> {
    let (client, server) = (socket(network, "client", "path0"), socket(network, "server", "path0"));
    server.set_read_timeout(Some(Duration::from_millis(20))).expect("a limit");
    let to = server.local_addr().expect("bound");
    let mut arrived = Vec::new();
    let mut buffer = [0; 64];
    for number in 0..count {
        client.send_to(&number.to_be_bytes(), to).expect("sending");
        // Not so many at once that a socket could not hold them.
        if number % 50 == 49 {
            while let Ok((4, _)) = server.recv_from(&mut buffer) {
                arrived.push(u32::from_be_bytes([buffer[0], buffer[1], buffer[2], buffer[3]]));
            }
        }
    }
    // What comes late on a busy machine: markers, until one gets through.
    server.set_read_timeout(Some(LIMIT)).expect("a limit");
    for _ in 0..100 {
        client.send_to(b"end", to).expect("sending");
    }
    loop {
        match server.recv_from(&mut buffer).expect("one of the markers") {
            (4, _) => arrived.push(u32::from_be_bytes([buffer[0], buffer[1], buffer[2], buffer[3]])),
            _ => return arrived,
        }
    }
}

#[test]
fn the_same_seed_loses_the_same_datagrams() {
    let with_seed = |seed| {
        let spec = WireSpec { seed, ..wire("loss = '10%'") };
        Some(arrivals(&build(&Topology::pair(spec))?, 500))
    };
    let Some(first) = with_seed(7) else { return };
    assert!(first.len() > 300 && first.len() < 490, "{} of 500", first.len());
    assert_eq!(Some(&first), with_seed(7).as_ref());
    assert_ne!(Some(&first), with_seed(8).as_ref());
}

/// Sends so much over a connection from client to server; every byte is compared.
fn stream(network: &LabNetwork, megabytes: usize) {
    let address = SocketAddr::new(network.address("server", "path0"), 0);
    let listener =
        network.host("server").run_in(|| TcpListener::bind(address)).expect("a thread").expect("listening");
    let to = listener.local_addr().expect("bound");
    let block: Vec<u8> =
        (0..1u32 << 20).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut client =
                network.host("client").run_in(|| TcpStream::connect(to)).expect("a thread").expect("there");
            client.set_write_timeout(Some(LIMIT)).expect("a limit");
            (0..megabytes).for_each(|_| client.write_all(&block).expect("sending"));
        });
        let (mut server, _) = listener.accept().expect("it comes");
        server.set_read_timeout(Some(LIMIT)).expect("a limit");
        let mut buffer = vec![0; block.len()];
        for _ in 0..megabytes {
            server.read_exact(&mut buffer).expect("receiving");
            assert!(buffer == block, "what arrived is not what was sent");
        }
        assert_eq!(server.read(&mut buffer).expect("the end"), 0);
    });
}

#[test]
fn super_packets_that_lose_segments_or_bits_still_carry_what_was_sent() {
    let Some(network) = build(&Topology::pair(wire("loss = '0.3%'\ncorrupt = '0.3%'\nduplicate = '0.3%'")))
    else {
        return;
    };
    stream(&network, 8);
    let there = network.wire("path0").counters().there;
    let counters = |name: &str| {
        there.elements.iter().find(|element| element.name.contains(name)).expect("an element").counters
    };
    // 8 MiB are about 5,800 segments: that none of them is lost has a chance of one in thirty million.
    assert!(counters("loss").dropped.packets > 0, "{there:?}");
    assert!(counters("taken").arrived.packets > 5_000, "{there:?}");
    assert_eq!(counters("delivered").dropped.packets, 0, "the kernel takes every part: {there:?}");
}

#[test]
fn a_host_on_two_wires_answers_on_the_one_that_was_used() {
    let mut topology = Topology::default();
    topology.wires.insert("path1".to_owned(), WireSpec::default());
    let Some(network) = build(&topology) else { return };
    // From the address on one wire to an address on the other one: the source says which wire is taken.
    let client = socket(&network, "client", "path1");
    let server = socket(&network, "server", "path0");
    echo(&client, &server);
    let there = |wire: &str| network.wire(wire).counters().there.elements[0].counters.arrived.packets;
    assert_eq!((there("path0"), there("path1")), (0, 1));
    assert_eq!(network.addresses("server", "path1").v4.octets(), [10, 77, 1, 1]);
    let other = socket(&network, "client", "path0");
    echo(&other, &server);
    assert_eq!((there("path0"), there("path1")), (1, 1));
}

#[test]
fn ipv6_works_at_once() {
    let Some(network) = build(&Topology::default()) else { return };
    let bind = |host: &str| {
        let address = SocketAddr::new(network.addresses(host, "path0").v6?.into(), 0);
        Some(network.host(host).run_in(|| UdpSocket::bind(address)).expect("a thread").expect("a socket"))
    };
    let (Some(client), Some(server)) = (bind("client"), bind("server")) else {
        return skipped(Lack::Kernel, "this machine has no IPv6");
    };
    for socket in [&client, &server] {
        socket.set_read_timeout(Some(LIMIT)).expect("a limit");
    }
    echo(&client, &server);
}

#[test]
fn settings_and_sizes_are_a_hosts_own() {
    let mut topology = Topology::pair(wire("mtu = 9000"));
    let name = "net.ipv4.tcp_rmem";
    let ours = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_rmem").expect("reading");
    let server = topology.hosts.get_mut("server").expect("a server");
    server.sysctls.insert(name.to_owned(), "4096 300000 3158016".to_owned());
    let Some(network) = build(&topology) else { return };
    let read = |host: &str, path: &str| {
        let text =
            network.host(host).run_in(|| std::fs::read_to_string(path).expect("reading")).expect("a thread");
        text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(read("server", "/proc/sys/net/ipv4/tcp_rmem"), ["4096", "300000", "3158016"]);
    assert_ne!(read("client", "/proc/sys/net/ipv4/tcp_rmem"), ["4096", "300000", "3158016"]);
    assert_eq!(std::fs::read_to_string("/proc/sys/net/ipv4/tcp_rmem").expect("reading"), ours);
    let output = network.host("client").command("ip").args(["link", "show", "path0"]).output().expect("ip");
    assert!(String::from_utf8_lossy(&output.stdout).contains("mtu 9000"), "{output:?}");

    for (name, said) in
        [("kernel.panic", "no setting of a network namespace"), ("net.nothing", "no such setting")]
    {
        let mut topology = Topology::default();
        topology.hosts.get_mut("client").expect("a client").sysctls.insert(name.to_owned(), "1".to_owned());
        let error = format!("{:#}", LabNetwork::build(&topology).expect_err(name));
        assert!(error.contains(said) && error.contains("host client"), "{error}");
    }
}

#[test]
fn dropped_it_is_gone() {
    let Some(network) = build(&Topology::default()) else { return };
    let interfaces = |network: &LabNetwork| {
        let output = network.host("server").command("ip").args(["-o", "link"]).output().expect("ip");
        String::from_utf8_lossy(&output.stdout).lines().count()
    };
    assert_eq!(interfaces(&network), 2, "lo and path0");
    assert!(network.wire("path0").is_alive());
    // What still runs on a host keeps the host, but not the wire.
    let mut staying = network.host("server").command("cat");
    let mut staying = staying.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("cat");
    let namespace = std::fs::File::open(format!("/proc/{}/ns/net", staying.id())).expect("its namespace");
    drop(network);
    let names = std::thread::spawn(move || {
        nix::sched::setns(&namespace, nix::sched::CloneFlags::CLONE_NEWNET).expect("entering");
        let output = std::process::Command::new("ip").args(["-o", "link"]).output().expect("ip");
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    let names = names.join().expect("looking");
    assert!(names.contains("lo") && !names.contains("path0"), "{names}");
    drop(staying.stdin.take());
    staying.wait().expect("cat ends");
}
