//! UDP at a server with several interfaces, each with sockets of its own: on hosts that are network namespaces.

mod caller;
mod served;

use std::net::{IpAddr, SocketAddr, SocketAddrV6};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use caller::{AGAIN, Caller};
use howdah_lab::network::LabHost;
use howdah_needs::{Lack, skipped};
use howdah_server::UdpSettings;
use served::{CLIENTS, Served, WIRES, await_that, ip, network, try_ip};

/// Longer than anything here takes, also on a busy machine.
pub const LIMIT: Duration = Duration::from_secs(60);
const GROUP: usize = 2;
const PER_INTERFACE: UdpSettings = UdpSettings { sockets: Some(GROUP), per_interface: true };

#[test]
fn each_interface_has_sockets_that_take_what_comes_there() {
    let Some(network) = network() else { return };
    let served = Served::start(network.host("server"), PER_INTERFACE);
    for (number, (client, wire)) in CLIENTS.into_iter().zip(WIRES).enumerate() {
        let addresses = network.addresses("server", wire);
        for address in addresses.all() {
            let server = SocketAddr::new(address, served.port);
            let mut caller = Caller::new(network.host(client), server, &served.root());
            (0..=number).for_each(|_| caller.get_attributes());
        }
        let traffic = served.on(Some(wire)).expect("sockets of it");
        assert_eq!(traffic.sockets, GROUP);
        assert_eq!(traffic.received.datagrams as usize, (number + 1) * addresses.all().count());
        assert!(traffic.received.bytes > traffic.received.datagrams * 40 && traffic.dropped == 0);
    }
    assert_eq!(served.received(None), 0);
}

#[test]
fn one_group_for_all_interfaces_answers_from_the_address_that_was_asked() {
    let Some(network) = network() else { return };
    let udp = UdpSettings { sockets: Some(4), per_interface: false };
    let served = Served::start(network.host("server"), udp);
    for (client, wire) in CLIENTS.into_iter().zip(WIRES) {
        for address in network.addresses("server", wire).all() {
            let server = SocketAddr::new(address, served.port);
            Caller::new(network.host(client), server, &served.root()).get_attributes();
        }
    }
    assert_eq!(served.server.udp_traffic().len(), 1);
}

/// Counts calls of a client on each wire while the first one's interface goes down and comes up again.
#[test]
fn an_interface_that_goes_down_and_up_costs_only_its_own_calls_a_retry() {
    const MORE: u32 = 20;
    let Some(network) = network() else { return };
    let served = Served::start(network.host("server"), PER_INTERFACE);
    let server = network.host("server");
    let done: [AtomicU32; 3] = Default::default();
    let over = AtomicBool::new(false);
    let callers = std::thread::scope(|scope| {
        let callers: Vec<_> = CLIENTS
            .into_iter()
            .zip(WIRES)
            .zip(&done)
            .map(|((client, wire), done)| {
                let mut caller = Caller::new(network.host(client), served.at(&network, wire), &served.root());
                let patience = if wire == WIRES[0] { AGAIN } else { LIMIT };
                let over = &over;
                scope.spawn(move || {
                    while !over.load(Ordering::SeqCst) {
                        let number = done.load(Ordering::SeqCst);
                        caller.make_directory(&format!("{client}-{number}"), patience);
                        done.store(number + 1, Ordering::SeqCst);
                    }
                    caller
                })
            })
            .collect();
        let more = |which: &[usize]| {
            let before: Vec<u32> = which.iter().map(|&index| done[index].load(Ordering::SeqCst)).collect();
            await_that("more calls", || {
                which
                    .iter()
                    .zip(&before)
                    .all(|(&index, &before)| done[index].load(Ordering::SeqCst) >= before + MORE)
            });
        };
        more(&[0, 1, 2]);
        ip(server, "link set path0 down");
        served.await_sockets("path0", 0);
        more(&[1, 2]);
        ip(server, "link set path0 up");
        served.await_sockets("path0", GROUP);
        more(&[0, 1, 2]);
        over.store(true, Ordering::SeqCst);
        callers.into_iter().map(|caller| caller.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert!(callers[0].again > 0, "its interface was down");
    assert_eq!([callers[1].again, callers[2].again], [0, 0]);
    let traffic = served.on(Some("path0")).expect("what it carried before counts too");
    assert!(traffic.received.datagrams > u64::from(2 * MORE), "{traffic:?}");
}

/// Lays a cable between two hosts: an interface `name` on each.
fn cable(one: &LabHost, other: &LabHost, name: &str) {
    let other_end = format!("/proc/{}/fd/{}", std::process::id(), other.namespace().as_fd().as_raw_fd());
    ip(one, &format!("link add {name} type veth peer name {name} netns {other_end}"));
    [one, other].into_iter().for_each(|host| ip(host, &format!("link set {name} up")));
}

#[test]
fn addresses_and_interfaces_that_come_later_are_served() {
    let Some(network) = network() else { return };
    let (client, server) = (network.host("one"), network.host("server"));
    let served = Served::start(server, PER_INTERFACE);
    let ask = |address: &str| {
        let address: IpAddr = address.parse().expect("an address");
        Caller::new(client, SocketAddr::new(address, served.port), &served.root()).get_attributes();
    };

    ip(server, "address add 10.99.0.1/24 dev path0");
    ip(client, "address add 10.99.0.2/24 dev path0");
    ask("10.99.0.1");
    assert_eq!(served.received(Some("path0")), 1);

    cable(server, client, "late");
    ip(server, "address add 10.98.0.1/24 dev late");
    ip(client, "address add 10.98.0.2/24 dev late");
    served.await_sockets("late", GROUP);
    ask("10.98.0.1");
    assert_eq!(served.received(Some("late")), 1);
    if network.addresses("server", "path0").v6.is_some() {
        // Neither waits to see whether somebody else has its address.
        ip(server, "address add fe80::a/64 dev late nodad");
        ip(client, "address add fe80::b/64 dev late nodad");
        let index =
            |host: &LabHost| host.run_in(|| howdah_net::interfaces().expect("a list")).expect("a thread");
        let late = index(client).into_iter().find(|interface| interface.name == "late").expect("it is there");
        let link_local =
            SocketAddrV6::new("fe80::a".parse().expect("an address"), served.port, 0, late.index);
        Caller::new(client, link_local.into(), &served.root()).get_attributes();
        assert_eq!(served.received(Some("late")), 2);
    }

    ip(server, "link delete late");
    served.await_sockets("late", 0);
    assert_eq!(served.received(None), 0, "nothing was left to the wildcard");
}

#[test]
fn what_comes_by_a_tunnel_a_bridge_or_a_bond_comes_by_its_own_sockets() {
    let Some(network) = network() else { return };
    let (client, server) = (network.host("one"), network.host("server"));
    let served = Served::start(server, PER_INTERFACE);
    let ask_on = |name: &str, address: &str| {
        served.await_sockets(name, GROUP);
        let address: IpAddr = address.parse().expect("an address");
        Caller::new(client, SocketAddr::new(address, served.port), &served.root()).get_attributes();
        assert_eq!((served.received(Some(name)), served.received(None)), (1, 0), "{name}");
    };

    let tunnel = |host: &LabHost, from: &str, to: &str, address: &str| {
        let (from, to) = (network.address(from, "path0"), network.address(to, "path0"));
        try_ip(
            host,
            &format!("link add tunnel type vxlan id 7 local {from} remote {to} dstport 4789 dev path0"),
        )?;
        ip(host, &format!("address add {address}/24 dev tunnel"));
        ip(host, "link set tunnel up");
        Ok::<_, String>(())
    };
    let made = tunnel(server, "server", "one", "10.97.0.1").and(tunnel(client, "one", "server", "10.97.0.2"));
    match made {
        Ok(()) => ask_on("tunnel", "10.97.0.1"),
        Err(said) => skipped(Lack::Kernel, format_args!("tunnels: {said}")),
    }

    cable(server, client, "port");
    ip(client, "address add 10.96.0.2/24 dev port");
    let gathered = |name: &str, kind: &str, address: &str| {
        try_ip(server, &format!("link add {name} type {kind}"))?;
        ip(server, "link set port down");
        ip(server, &format!("link set port master {name}"));
        ip(server, "link set port up");
        ip(server, &format!("address add {address}/24 dev {name}"));
        ip(server, &format!("link set {name} up"));
        Ok::<_, String>(())
    };
    for (name, kind) in [("bridge", "bridge"), ("bond", "bond mode active-backup")] {
        match gathered(name, kind, "10.96.0.1") {
            Ok(()) => {
                ask_on(name, "10.96.0.1");
                ip(server, &format!("link delete {name}"));
            }
            Err(said) => skipped(Lack::Kernel, format_args!("{name}: {said}")),
        }
    }
}
