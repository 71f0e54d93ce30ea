//! Figures for monitors: on the admin socket, and on an address of this host.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use howdah_net::connect_local;
use howdah_server::admin::MetricsSettings;
use howdah_server::exports::{Export, Exports};
use howdah_vfs::layer::{Call, Layer};
use howdah_vfs::memory::MemoryFileSystem;
use howdah_vfs::{FileSystem, Result};
use howdah_wire::nfs3::{self, FileHandle};

use crate::ask::Asked;
use crate::common::{getattr, nfs_call, read_record, root};

/// Longer than that nothing takes here.
const PATIENCE: Duration = Duration::from_secs(30);

/// Asks on a stream; the head and the body.
fn get(stream: impl Read + Write, path: &str, accept: &str) -> (String, String) {
    get_from("localhost", stream, path, accept)
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
        let metric = |direction: &str| {
            value(&body, &format!("howdah_client_{direction}_bytes_total{{client=\"127.0.0.1\"}}"))
        };
        // The kernel counts the end of a stream as a byte that came.
        if metric("out") == Some(received)
            && metric("in").is_some_and(|bytes| (sent..=sent + 40).contains(&bytes))
        {
            return;
        }
        assert!(Instant::now() < deadline, "sent {sent}, received {received}: {body}");
        thread::yield_now();
    }
}

#[test]
fn a_monitor_sees_the_process_and_the_space_of_each_export() {
    let asked = Asked::start();
    let (_, body) = over_tcp(asked.metrics, "/metrics", "*/*");
    let above_zero = |sample: &str| {
        let line = body
            .lines()
            .find_map(|line| line.strip_prefix(sample))
            .unwrap_or_else(|| panic!("{sample}: {body}"));
        assert!(line.trim().parse::<f64>().is_ok_and(|value| value > 0.0), "{sample} {line}");
    };
    for name in ["resident_memory_bytes", "virtual_memory_bytes", "open_fds", "max_fds", "start_time_seconds"]
    {
        above_zero(&format!("process_{name} "));
    }
    assert!(body.contains("\nprocess_cpu_seconds_total "), "{body}");
    above_zero("howdah_export_info{export=\"/\",id=\"1\"} ");
    for name in ["size_bytes", "free_bytes", "available_bytes", "inodes", "free_inodes"] {
        above_zero(&format!("howdah_export_{name}{{export=\"/\"}} "));
    }
    let exports = asked.get("/v1/exports");
    assert!(exports["exports"][0]["capacity"]["free_bytes"].as_u64() > Some(0), "{exports}");
}

#[test]
fn an_export_that_is_gone_is_told() {
    let asked = Asked::start();
    let present = |value: u8| {
        let (_, body) = over_tcp(asked.metrics, "/metrics", "*/*");
        assert!(body.contains(&format!("howdah_export_present{{export=\"/\"}} {value}\n")), "{body}");
    };
    present(1);
    let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), Vec::new());
    let gone = export.with_gone(Some("there is no directory /srv".to_owned()));
    asked.server.reload(Exports::new(vec![gone], [7; 16]).expect("one export"));
    present(0);
    assert_eq!(asked.get("/v1/exports")["exports"][0]["gone"], "there is no directory /srv");
}

/// Does not say how full it is until it is let go.
struct Silent {
    inner: MemoryFileSystem,
    held: Mutex<()>,
}

impl Layer for Silent {
    fn inner(&self) -> &dyn FileSystem {
        &self.inner
    }

    fn pass<T>(&self, call: Call, run: impl FnOnce(&dyn FileSystem) -> Result<T>) -> Result<T> {
        if call == Call::Statistics {
            drop(self.held.lock().expect("nobody panics with it"));
        }
        run(&self.inner)
    }
}

#[test]
fn a_file_system_that_hangs_keeps_no_monitor_waiting() {
    let silent = Arc::new(Silent { inner: MemoryFileSystem::new(), held: Mutex::new(()) });
    let held = silent.held.lock().expect("nobody panicked");
    let asked = Asked::serving(Arc::<Silent>::clone(&silent));
    for _ in 0..3 {
        let (_, body) = over_tcp(asked.metrics, "/metrics", "*/*");
        assert!(body.contains("howdah_export_info{"), "{body}");
        assert!(!body.contains("howdah_export_free_bytes{"), "{body}");
    }
    drop(held);
    let deadline = Instant::now() + PATIENCE;
    while !over_tcp(asked.metrics, "/metrics", "*/*").1.contains("howdah_export_free_bytes{") {
        assert!(Instant::now() < deadline, "it answers now");
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
        ("this-host:9049", false),
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
