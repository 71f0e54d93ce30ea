//! `howdah get` and `howdah set`: there, back, refused, and what it does to a connection that lives.

use std::net::TcpStream;

use howdah_needs::{Lack, skipped};
use howdah_net::SocketList;
use serde_json::Value;

use crate::asking::{Served, until};

/// A knob as `howdah get` has it in JSON.
fn knob(served: &Served, name: &str) -> Value {
    served.json(&["get", name])["servers"][0]["knobs"][0].clone()
}

#[test]
fn a_knob_goes_there_and_back() {
    let mut served = Served::start(&[]);
    let (code, all, _) = served.ask(&["get"]);
    assert_eq!(code, Some(0));
    for name in ["tcp_sndbuf", "tcp_rcvbuf", "tcp_congestion", "memory_budget"] {
        assert!(all.lines().any(|line| line.split_whitespace().eq([name, "auto"])), "{name} in {all}");
    }
    let (code, said, why) = served.ask(&["set", "tcp_rcvbuf", "16M"]);
    assert_eq!(code, Some(0), "{why}");
    assert!(said.starts_with("tcp_rcvbuf is 16777216 (was auto)\n"), "{said}");
    for wanted in ["bounded by: ", "lasts until the server stops", "\n    tcp_rcvbuf = \"16M\"\n"] {
        assert!(said.contains(wanted), "{wanted} in {said}");
    }
    assert_eq!(knob(&served, "tcp_rcvbuf")["set"], "16777216");
    // Who reads the log later sees it, too.
    assert!(served.server.log_line("tcp_rcvbuf").contains("16M"));
    for back in ["auto", "0"] {
        let said = served.json(&["set", "tcp_rcvbuf", back]);
        assert_eq!(said["knob"]["set"], "auto");
    }
    assert_eq!(knob(&served, "tcp_rcvbuf")["set"], "auto");
}

#[test]
fn what_cannot_be_is_refused_with_what_would_do() {
    let served = Served::start(&[]);
    for (arguments, wanted) in [
        (
            &["set", "tcp_rcvbuf", "1M"][..],
            "less than the floor of 3158016 bytes (3 calls of 1052672 bytes each)",
        ),
        (
            &["set", "tcp_sndbuf", "2M"],
            "less than the floor of 2105344 bytes (2 replies of 1052672 bytes each)",
        ),
        (&["set", "tcp_sndbuf", "many"], "a size is a number with K, M, G, T"),
        (&["set", "tcp_congestion", "no-such"], "tcp_available_congestion_control"),
        (&["set", "memory_budget", "1K"], "floor of 16777216 bytes"),
        (&["set", "tcp_wmem", "4M"], "no knob is called tcp_wmem: tcp_sndbuf, tcp_rcvbuf"),
        (&["set", "tcp_wmem", "4M"], "; howdah get lists them"),
        (&["set", "memory_budget", "1000T"], "more than the memory of this host"),
        (&["set", "../v1", "4M"], "no knob is called ../v1"),
        (&["get", "tcp_wmem"], "no knob is called tcp_wmem: there are tcp_sndbuf"),
    ] {
        let (code, said, why) = served.ask(arguments);
        assert_eq!((code, said.as_str()), (Some(2), ""), "{arguments:?}: {why}");
        assert!(why.starts_with("howdah: ") && why.contains(wanted), "{wanted} in {why}");
    }
    assert_eq!(knob(&served, "tcp_rcvbuf")["set"], "auto");
}

#[test]
fn a_connection_that_lives_gets_the_size() {
    let served = Served::start(&[]);
    if knob(&served, "tcp_rcvbuf")["bounded_by"].as_str().is_some_and(|said| said.contains("CAP_NET_ADMIN")) {
        skipped(Lack::Kernel, "buffers cannot be forced here");
        return;
    }
    let address = served.server.address();
    let stream = TcpStream::connect(address).expect("connected");
    let client = stream.local_addr().expect("bound");
    let mut list = SocketList::open().expect("the kernel lists sockets");
    // As the kernel has it, not as the server says.
    let mut buffers = || {
        let sockets = list.tcp().expect("listed");
        let ours = sockets.into_iter().find(|socket| socket.local == address && socket.remote == client)?;
        ours.memory.map(|memory| (memory.send_buffer_bytes, memory.receive_buffer_bytes))
    };
    let before = until("the connection", &mut buffers);
    assert_ne!(before, (5 << 20, 8 << 20));
    assert_eq!(served.ask(&["set", "tcp_sndbuf", "5M"]).0, Some(0));
    assert_eq!(served.ask(&["set", "tcp_rcvbuf", "8M"]).0, Some(0));
    until("both sizes", || (buffers()? == (5 << 20, 8 << 20)).then_some(()));
    drop(stream);
}
