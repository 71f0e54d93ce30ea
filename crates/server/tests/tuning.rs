//! What can be set while a server runs, and what it reports of its connections.

mod common;

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{getattr, root, serve_memory, serve_tuned};
use howdah_needs::{Lack, skipped};
use howdah_server::Server;
use howdah_server::Tuning;
use howdah_server::exports::Clients;
use howdah_server::tuning::{ConnectionReport, KnobError, NetworkSizes};
use howdah_tune::{Own, Setting};
use howdah_vfs::memory::MemoryFileSystem;

/// Far more than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// Calls until the server reports what is wanted of its only connection.
fn call_until(
    server: &Server,
    stream: &mut TcpStream,
    what: &str,
    wanted: impl Fn(&ConnectionReport) -> bool,
) -> ConnectionReport {
    let start = Instant::now();
    loop {
        getattr(stream, &root(server)).expect("attributes");
        let report = server.tuning_report();
        if let [connection] = &report.connections[..]
            && wanted(connection)
        {
            return connection.clone();
        }
        assert!(start.elapsed() < PATIENCE, "{what}: {report:#?}");
    }
}

#[test]
fn a_connection_is_reported_with_its_verdict_figures_and_sums() {
    let (server, address) = serve_memory();
    let mut stream = TcpStream::connect(address).expect("connecting");
    let seen = call_until(&server, &mut stream, "a verdict", |connection| {
        connection.verdict.is_some() && !connection.account.sending_seconds.is_empty()
    });
    assert_eq!((seen.client, seen.server), (stream.local_addr().expect("an address"), address));
    assert!(seen.is_local && seen.transport == "tcp", "{seen:?}");
    let figures = seen.figures.expect("it was looked at");
    assert!(figures.calls > 0 && figures.sent > 0 && figures.received > 0, "{figures:?}");
    drop(stream);
    let start = Instant::now();
    let report = loop {
        let report = server.tuning_report();
        match &report.clients[..] {
            [client] if client.connections == 0 => break report,
            _ => assert!(start.elapsed() < PATIENCE, "{report:#?}"),
        }
        std::thread::yield_now();
    };
    let client = &report.clients[0];
    assert!(client.client.is_loopback() && client.opened == 1, "{client:?}");
    assert!(client.account.moved.sent >= figures.sent, "sums outlive their connections: {client:?}");
    assert!(["forced", "unprivileged"].contains(&report.mode.as_str()), "{report:?}");
    assert!(report.budget_bytes > 0 && report.pressure == "none", "{report:?}");
}

#[test]
fn knobs_say_what_holds_and_refuse_with_a_reason() {
    let (server, _) = serve_memory();
    let names: Vec<String> = server.knobs().into_iter().map(|knob| knob.name).collect();
    assert_eq!(names, ["tcp_sndbuf", "tcp_rcvbuf", "tcp_congestion", "memory_budget"]);
    assert!(server.knobs().iter().all(|knob| knob.set == "auto"));
    let refused = |name: &str, value: &str| match server.set_knob(name, value) {
        Err(error) => error.to_string(),
        Ok(knob) => panic!("{knob:?}"),
    };
    assert!(refused("tcp_rcvbuf", "1M").contains("floor of 3158016 bytes (3 calls of"));
    assert!(refused("tcp_sndbuf", "2105343").contains("floor of 2105344 bytes (2 replies of"));
    assert!(refused("memory_budget", "1M").contains("floor of 16777216 bytes"));
    assert!(refused("tcp_congestion", "nobody-has-it").contains("tcp_available_congestion_control"));
    assert!(refused("tcp_wmem", "1M").contains("tcp_sndbuf, tcp_rcvbuf"));
    assert!(matches!(server.set_knob("", "0"), Err(KnobError::Unknown { .. })));
    let knob = server.set_knob("memory_budget", "64M").expect("enough");
    assert_eq!((knob.set.as_str(), server.tuning_report().budget_bytes), ("67108864", 64 << 20));
    let knob = server.set_knob("memory_budget", "0").expect("automatic");
    assert_eq!(knob.set, "auto");
    assert_ne!(server.tuning_report().budget_bytes, 64 << 20);
}

#[test]
fn a_size_that_is_set_reaches_connections_that_live_and_new_ones() {
    // With a size, listeners do not offer a larger window, which would have to be used up first.
    let tuning = Tuning { receive_buffer: Setting::Fixed(3_200_000), ..Tuning::default() };
    let (server, address) = serve_tuned(Arc::new(MemoryFileSystem::new()), tuning);
    if server.tuning_report().mode != "forced" {
        skipped(Lack::Kernel, "buffers cannot be forced here");
        return;
    }
    let mut stream = TcpStream::connect(address).expect("connecting");
    call_until(&server, &mut stream, "a first look", |connection| connection.figures.is_some());
    let figures = |connection: &ConnectionReport| {
        connection.figures.as_ref().map_or((0, 0), |figures| (figures.send_buffer, figures.receive_buffer))
    };
    server.set_knob("tcp_sndbuf", "4M").expect("above the floor");
    server.set_knob("tcp_rcvbuf", "8M").expect("above the floor");
    call_until(&server, &mut stream, "sizes", |connection| figures(connection) == (4 << 20, 8 << 20));
    // Smaller: the window first, the buffer when what was promised is used up.
    server.set_knob("tcp_sndbuf", "3M").expect("above the floor");
    server.set_knob("tcp_rcvbuf", "4M").expect("above the floor");
    let seen = call_until(&server, &mut stream, "smaller", |connection| figures(connection).0 == 3 << 20);
    assert!(seen.sizes.promised_window <= 4 << 20, "{seen:?}");
    let automatic = |name| server.set_knob(name, "auto").expect("it always may be");
    assert_eq!((automatic("tcp_sndbuf").set, automatic("tcp_rcvbuf").set), ("auto".into(), "auto".into()));
    call_until(&server, &mut stream, "automatic", |connection| figures(connection).0 > 3 << 20);
    drop(stream);
    server.set_knob("tcp_sndbuf", "5M").expect("above the floor");
    let mut stream = TcpStream::connect(address).expect("connecting");
    call_until(&server, &mut stream, "a new one", |connection| figures(connection).0 == 5 << 20);
}

#[test]
fn clients_of_a_network_have_its_sizes_and_not_what_is_set_for_all() {
    let own = Own { send_buffer: Some(Setting::Fixed(6 << 20)), ..Own::default() };
    let network = |address: [u8; 4], prefix, own| NetworkSizes {
        clients: Clients::Network { address: address.into(), prefix },
        own,
    };
    let tuning = Tuning {
        send_buffer: Setting::Fixed(4 << 20),
        networks: vec![network([127, 0, 0, 2], 32, Own::default()), network([127, 0, 0, 0], 8, own)],
        ..Tuning::default()
    };
    let (server, address) = serve_tuned(Arc::new(MemoryFileSystem::new()), tuning);
    if server.tuning_report().mode != "forced" {
        skipped(Lack::Kernel, "buffers cannot be forced here");
        return;
    }
    let size =
        |connection: &ConnectionReport| connection.figures.as_ref().map_or(0, |figures| figures.send_buffer);
    let mut stream = TcpStream::connect(address).expect("connecting");
    call_until(&server, &mut stream, "its network's", |connection| size(connection) == 6 << 20);
    server.set_knob("tcp_sndbuf", "5M").expect("above the floor");
    server.set_knob("tcp_rcvbuf", "8M").expect("above the floor");
    // One that lives has been offered a larger window, which it would have to use up first.
    drop(stream);
    let mut stream = TcpStream::connect(address).expect("connecting");
    let seen = call_until(&server, &mut stream, "what it has none of its own of", |connection| {
        connection.figures.as_ref().is_some_and(|figures| figures.receive_buffer == 8 << 20)
    });
    assert_eq!(size(&seen), 6 << 20, "{seen:?}");
    drop(stream);
    // Of the networks that it fits, the first one: and that one says nothing of it.
    let other = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
    other.bind(&SocketAddr::from(([127, 0, 0, 2], 0)).into()).expect("an address of loopback");
    other.connect(&address.into()).expect("connecting");
    let mut stream = TcpStream::from(other);
    call_until(&server, &mut stream, "what is set for all", |connection| size(connection) == 5 << 20);
}
