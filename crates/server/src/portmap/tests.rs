//! Portmap and rpcbind as a client sees them.

use howdah_wire::portmap::{self as version2, Mapping, Protocol};
use howdah_wire::rpcbind::{self, Binding, Text};
use howdah_wire::{mount, nlm, nsm, rpc::Accepted};

use crate::calling::{call, peer};
use crate::result_of;
use crate::service::Service;
use crate::{Peer, Transport};

const PORTMAP: u32 = version2::PROGRAM;

/// Listening on both transports: on 2049 for all addresses, on 111 for those of IPv4.
fn service() -> Service {
    let service = Service::new(Default::default());
    let address = |text: &str| text.parse().expect("an address");
    *service.listeners.write() = vec![
        (Transport::Tcp, address("0.0.0.0:111")),
        (Transport::Udp, address("0.0.0.0:111")),
        (Transport::Tcp, address("[::]:2049")),
        (Transport::Udp, address("[::]:2049")),
    ];
    service
}

fn over(transport: Transport, server: &str) -> Peer {
    let client = if server.starts_with('[') { "[2001:db8::9]:1001" } else { "192.0.2.9:1001" };
    peer(client, server, transport)
}

fn binding(program: u32, version: u32) -> Binding<'static> {
    Binding { program, version, network: "whatever".into(), address: "".into(), owner: "".into() }
}

#[test]
fn ports() {
    let service = service();
    let port = |program, version, protocol| {
        let mapping = Mapping { program, version, protocol, port: 0 };
        let arguments = version2::getport::Arguments { mapping };
        let peer = over(Transport::Udp, "192.0.2.1:111");
        result_of!(version2::getport::Reply, &service, &peer, (PORTMAP, 2, 3), &arguments).port
    };
    assert_eq!(port(mount::PROGRAM, 3, Protocol::TCP), 2049);
    assert_eq!(port(mount::PROGRAM, 3, Protocol::UDP), 2049);
    assert_eq!(
        port(mount::PROGRAM, 2, Protocol::UDP),
        2049,
        "the program itself tells which versions there are"
    );
    assert_eq!(port(PORTMAP, 2, Protocol::TCP), 111);
    assert_eq!(port(mount::PROGRAM, 3, Protocol(132)), 0);
    assert_eq!(port(nlm::PROGRAM, 4, Protocol::TCP), 2049);
    assert_eq!(port(nsm::PROGRAM, 1, Protocol::UDP), 2049);
    assert_eq!(port(100_020, 1, Protocol::TCP), 0);
}

#[test]
fn the_time_of_this_host_is_told() {
    let peer = over(Transport::Tcp, "192.0.2.1:2049");
    let now = || std::time::UNIX_EPOCH.elapsed().expect("after 1970").as_secs();
    let before = now();
    let seconds = result_of!(rpcbind::gettime::Reply, &service(), &peer, (PORTMAP, 3, 6), &()).seconds;
    assert!((before..=now()).contains(&u64::from(seconds)), "{seconds}");
}

#[test]
fn addresses_are_those_that_the_client_reached_us_at() {
    let service = service();
    let address = |procedure, server, program, version| {
        let arguments = rpcbind::getaddr::Arguments { binding: binding(program, version) };
        let peer = over(Transport::Tcp, server);
        let reply = result_of!(rpcbind::getaddr::Reply, &service, &peer, (PORTMAP, 4, procedure), &arguments);
        String::from_utf8_lossy(reply.address.0).into_owned()
    };
    let (any, exact) = (rpcbind::getaddr::PROCEDURE, rpcbind::getaddr::PROCEDURE_OF_VERSION);
    assert_eq!(address(any, "192.0.2.1:111", mount::PROGRAM, 3), "192.0.2.1.8.1");
    assert_eq!(address(any, "[2001:db8::1]:2049", mount::PROGRAM, 3), "2001:db8::1.8.1");
    assert_eq!(address(any, "192.0.2.1:2049", PORTMAP, 4), "192.0.2.1.0.111");
    assert_eq!(address(any, "[2001:db8::1]:2049", PORTMAP, 4), "2001:db8::1.8.1");
    assert_eq!(address(any, "192.0.2.1:111", mount::PROGRAM, 2), "192.0.2.1.8.1");
    assert_eq!(address(exact, "192.0.2.1:111", mount::PROGRAM, 2), "");
    assert_eq!(address(exact, "192.0.2.1:111", mount::PROGRAM, 1), "192.0.2.1.8.1");
    assert_eq!(address(any, "192.0.2.1:111", nlm::PROGRAM, 4), "192.0.2.1.8.1");
    assert_eq!(address(any, "192.0.2.1:111", 100_020, 1), "");
}

#[test]
fn lists_tell_every_version_on_every_network() {
    let service = service();
    let peer = over(Transport::Tcp, "192.0.2.1:111");
    let list = result_of!(version2::dump::Reply, &service, &peer, (PORTMAP, 2, 4), &()).mappings;
    let of = |program, version, protocol, port| Mapping { program, version, protocol, port };
    for expected in [of(mount::PROGRAM, 1, Protocol::UDP, 2049), of(PORTMAP, 4, Protocol::TCP, 111)] {
        assert!(list.contains(&expected), "{expected:?}");
    }
    assert!(!list.contains(&of(mount::PROGRAM, 1, Protocol::UDP, 111)), "111 is the portmapper's");
    assert!(!list.contains(&of(PORTMAP, 4, Protocol::TCP, 2049)), "and there alone is it looked for");
    let list = result_of!(rpcbind::dump::Reply, &service, &peer, (PORTMAP, 4, 4), &()).bindings;
    let expected = Binding { network: "udp6".into(), address: "::.8.1".into(), ..binding(mount::PROGRAM, 3) };
    assert!(list.contains(&Binding { owner: "howdah".into(), ..expected }), "{list:?}");
    assert!(list.iter().all(|binding| binding.address != Text(b"::.0.111")), "111 is IPv4's here");

    let arguments = rpcbind::getaddrlist::Arguments { binding: binding(mount::PROGRAM, 3) };
    let reply = result_of!(rpcbind::getaddrlist::Reply, &service, &peer, (PORTMAP, 4, 11), &arguments);
    let networks: Vec<_> = reply.addresses.iter().map(|entry| (entry.network.0, entry.address.0)).collect();
    assert_eq!(networks, [(&b"udp"[..], &b"192.0.2.1.8.1"[..]), (b"tcp", b"192.0.2.1.8.1")]);
}

#[test]
fn nothing_can_be_registered_here() {
    let service = service();
    let peer = over(Transport::Tcp, "127.0.0.1:111");
    for procedure in [version2::set::PROCEDURE, version2::unset::PROCEDURE] {
        let mapping = Mapping { program: 100_003, version: 3, protocol: Protocol::TCP, port: 1 };
        let arguments = version2::set::Arguments { mapping };
        let reply = result_of!(version2::set::Reply, &service, &peer, (PORTMAP, 2, procedure), &arguments);
        assert!(!reply.done);
        let arguments = rpcbind::set::Arguments { binding: binding(100_003, 3) };
        let reply = result_of!(rpcbind::set::Reply, &service, &peer, (PORTMAP, 3, procedure), &arguments);
        assert!(!reply.done);
    }
}

#[test]
fn nothing_is_passed_on_not_even_with_an_error() {
    let service = service();
    let arguments = version2::callit::Arguments {
        program: mount::PROGRAM,
        version: 3,
        procedure: 5,
        arguments: version2::callit::CallData(&[]),
    };
    for (version, procedure) in [(2, 5), (3, 5), (4, 5), (4, 10)] {
        for transport in [Transport::Udp, Transport::Tcp] {
            let peer = over(transport, "192.0.2.1:111");
            assert_eq!(call(&service, &peer, (PORTMAP, version, procedure), &arguments), None);
            assert_eq!(call(&service, &peer, (PORTMAP, version, procedure), &()), None);
        }
    }
}

#[test]
fn each_version_has_its_procedures_and_no_more() {
    let service = service();
    let peer = over(Transport::Udp, "192.0.2.1:111");
    let outcome = |version, procedure| {
        call(&service, &peer, (PORTMAP, version, procedure), &()).expect("an answer").0.outcome
    };
    for version in [2, 3, 4] {
        assert_eq!(outcome(version, 0), Ok(Accepted::Success));
    }
    for (version, procedure) in [(2, 6), (3, 9), (4, 12)] {
        assert_eq!(outcome(version, procedure), Ok(Accepted::ProcedureUnavailable));
    }
    assert_eq!(outcome(1, 0), Ok(Accepted::ProgramMismatch { low: 2, high: 4 }));
    // Which no client calls: UADDR2TADDR, TADDR2UADDR.
    for procedure in [7, 8] {
        assert_eq!(outcome(3, procedure), Ok(Accepted::ProcedureUnavailable));
    }
}
