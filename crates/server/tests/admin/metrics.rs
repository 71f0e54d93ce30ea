//! Figures for monitors: on the admin socket, and on an address of this host.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use howdah_net::connect_local;
use howdah_server::admin::MetricsSettings;
use howdah_wire::nfs3::{self, FileHandle};

use crate::ask::Asked;
use crate::common::{getattr, nfs_call, read_record, root};

/// Longer than that nothing takes here.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks on a stream; the head and the body.
fn get(stream: impl Read + Write, path: &str, accept: &str) -> (String, String) {
    get_from("howdah", stream, path, accept)
}

fn get_from(host: &str, mut stream: impl Read + Write, path: &str, accept: &str) -> (String, String) {
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\n\r\n").expect("sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("answered");
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    (head.to_ascii_lowercase(), body.to_owned())
}

fn over_tcp(address: SocketAddr, path: &str, accept: &str) -> (String, String) {
    get(TcpStream::connect(address).expect("it listens"), path, accept)
}

#[test]
fn monitors_are_told_in_the_form_that_they_read() {
    let asked = Asked::start();
    let mut stream = TcpStream::connect(asked.address).expect("connected");
    let handle = root(&asked.server);
    for _ in 0..5 {
        assert!(getattr(&mut stream, &handle).is_ok());
    }
    let calls = "howdah_calls_total{export=\"/\",program=\"nfs\",version=\"3\",procedure=\"GETATTR\"} 5\n";
    let (head, body) = over_tcp(asked.metrics, "/metrics", "application/openmetrics-text; version=1.0.0");
    assert!(head.starts_with("http/1.1 200") && head.contains("application/openmetrics-text"), "{head}");
    assert!(body.contains(calls) && body.ends_with("# EOF\n"), "{body}");
    let (head, body) = get(connect_local(&asked.socket).expect("it listens"), "/metrics", "*/*");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    assert!(body.contains(calls) && body.contains("# TYPE howdah_calls_total counter\n"), "{body}");
    assert!(!body.contains("client="), "no client has figures of its own unasked: {body}");
}

/// The value of a sample, if it is there.
fn value(text: &str, sample: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(sample)?.trim().parse().ok())
}

#[test]
fn every_byte_of_a_client_counts_however_short_its_connections_are() {
    let asked = Asked::telling(MetricsSettings { clients: 10 });
    let handle = root(&asked.server);
    let (mut sent, mut received) = (0, 0);
    for connection in 0..40 {
        let mut stream = TcpStream::connect(asked.address).expect("connected");
        for xid in 0..connection % 8 {
            let call = nfs_call(
                xid,
                nfs3::getattr::PROCEDURE,
                &nfs3::getattr::Arguments { node: FileHandle(&handle) },
            );
            sent += call.len() as u64;
            stream.write_all(&call).expect("sending");
            received += read_record(&mut stream).len() as u64 + 4;
        }
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let (_, body) = over_tcp(asked.metrics, "/metrics", "*/*");
        let told = |direction: &str| {
            value(&body, &format!("howdah_client_{direction}_bytes_total{{client=\"127.0.0.1\"}}"))
        };
        // The kernel counts the end of a stream as a byte that came.
        if told("out") == Some(received)
            && told("in").is_some_and(|bytes| (sent..=sent + 40).contains(&bytes))
        {
            return;
        }
        assert!(Instant::now() < deadline, "sent {sent}, received {received}: {body}");
        thread::yield_now();
    }
}

#[test]
fn over_tcp_there_is_nothing_else() {
    let asked = Asked::start();
    for path in ["/", "/v1", "/v1/clients", "/v1/knobs/tcp_rcvbuf"] {
        let (head, body) = over_tcp(asked.metrics, path, "*/*");
        assert!(head.starts_with("http/1.1 404"), "{path}: {head}");
        assert!(body.contains("this address has /metrics alone"), "{path}: {body}");
    }
}

#[test]
fn a_name_that_was_made_to_lead_here_is_not_answered() {
    let asked = Asked::start();
    for (host, is_ours) in [
        ("127.0.0.1:9049", true),
        ("localhost:9049", true),
        ("this-host:9049", true),
        ("evil.example:9049", false),
        ("127.0.0.1.evil.example", false),
    ] {
        let stream = TcpStream::connect(asked.metrics).expect("it listens");
        let (head, body) = get_from(host, stream, "/metrics", "*/*");
        assert_eq!(head.starts_with("http/1.1 200"), is_ours, "{host}: {head}");
        assert_eq!(head.starts_with("http/1.1 421"), !is_ours, "{host}: {head}");
        assert_eq!(body.contains("howdah_uptime_seconds"), is_ours, "{host}: {body}");
    }
}
