//! Rules for netgroups and names with wildcards, with the system's resolver and a name server that answers, lies or hangs. In
//! namespaces of its own, with an `/etc` of its own.

#[path = "running/server.rs"]
#[allow(dead_code, reason = "part of what it offers is enough here")]
mod server;

use std::fs;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use howdah_needs::{Lack, skipped};
use rustix::process::Signal;
use server::{HOWDAH, Server, run};

/// Set for the process inside the namespaces.
const INSIDE: &str = "HOWDAH_TEST_INSIDE";
const TEST: &str = "clients_are_known_by_names_that_lead_back_and_a_hanging_dns_holds_up_one_call";

/// Names that the server of names gives to addresses, and where these lead: node1 is, node2 is not what its address says.
const NAMES: [(&str, &str, [u8; 4]); 3] = [
    ("1.9.9.10.in-addr.arpa", "node1.example.org", [10, 9, 9, 1]),
    ("2.9.9.10.in-addr.arpa", "node2.example.org", [10, 9, 9, 77]),
    ("3.9.9.10.in-addr.arpa", "node3.lab.net", [10, 9, 9, 3]),
];

#[test]
fn clients_are_known_by_names_that_lead_back_and_a_hanging_dns_holds_up_one_call() {
    if let Some(home) = std::env::var_os(INSIDE) {
        return inside(Path::new(&home));
    }
    let home = tempfile::tempdir().expect("a directory");
    let prepare = "ip link set lo up && for n in 1 2 3 4 5; do ip address add 10.9.9.$n/32 dev lo; done && \
                   mount --bind \"$HOME/etc\" /etc";
    fs::create_dir_all(home.path().join("etc")).expect("made");
    let unshare = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--net", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script]);
        command.env("HOME", home.path());
        command
    };
    let possible = unshare(prepare).stdout(Stdio::null()).output();
    if !possible.as_ref().is_ok_and(|output| output.status.success()) {
        skipped(Lack::Namespaces, format_args!("no namespaces, or no right to make them: {possible:?}"));
        return;
    }
    for (file, text) in [
        ("passwd", "root:x:0:0:root:/:/bin/sh\n"),
        ("group", "root:x:0:\n"),
        ("nsswitch.conf", "hosts: files dns\n"),
        ("hosts", "10.9.9.4 known.example.org\n"),
        ("resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:1\nsearch lab.net\n"),
        ("netgroup", "lab (node3,,)\n"),
    ] {
        fs::write(home.path().join("etc").join(file), text).expect("written");
    }
    let this = std::env::current_exe().expect("a test runs from a file");
    let status = unshare(&format!("{prepare} && exec \"$0\" --exact --nocapture \"$1\""))
        .arg(this)
        .arg(TEST)
        .env(INSIDE, home.path())
        .status()
        .expect("it ran a moment ago");
    assert!(status.success(), "inside the namespaces: {status}");
}

fn inside(home: &Path) {
    let hangs = answer_names();
    fs::create_dir(home.join("data")).expect("made");
    fs::write(home.join("data/file"), "text").expect("written");
    let file = home.join("howdah.toml");
    let text = format!(
        "[[export]]\nname = \"/\"\npath = \"{}\"\nclients = [\"@lab\", \"*.example.org\"]\n",
        home.join("data").display()
    );
    fs::write(&file, text).expect("written");
    let start = || {
        let mut command = Command::new(HOWDAH);
        command.arg("serve").arg("--config").arg(&file).arg("--state").arg(home.join("state"));
        Server::start(command.args(["--rpcbind", "off", "--log", "info", "--sandbox", "seccomp"]))
    };
    let mut server = start();
    // A client has the address that it calls.
    for (host, is_let_in) in [(1, true), (2, false), (3, true), (4, true), (5, false)] {
        assert_eq!(lists(host).0, is_let_in, "10.9.9.{host}");
    }
    server.signal(Signal::TERM);
    server.end();

    let mistaken = home.join("mistaken.toml");
    fs::write(&mistaken, fs::read_to_string(&file).expect("read").replace("@lab", "@labs")).expect("written");
    let mut serve = Command::new(HOWDAH);
    serve.arg("serve").arg("--config").arg(&mistaken).arg("--state").arg(home.join("other"));
    let (code, _, errors) = run(serve.args(["--rpcbind", "off"]));
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("/etc/netgroup has no netgroup labs"), "{errors}");

    hangs.store(true, Ordering::SeqCst);
    let _server = start();
    let (is_let_in, took) = thread::scope(|scope| {
        let first = scope.spawn(|| lists(1));
        let (is_let_in, took) = lists(4);
        assert!(is_let_in && took < Duration::from_secs(4), "another client waits {took:?}");
        first.join().expect("no panic")
    });
    assert!(!is_let_in && took < Duration::from_secs(20), "the first call waits {took:?}");
    let (is_let_in, took) = lists(1);
    assert!(!is_let_in && took < Duration::from_secs(4), "the second call waits {took:?}");
}

/// Whether a client with this address may list the export, and how long that takes.
fn lists(host: u8) -> (bool, Duration) {
    let start = Instant::now();
    let url = format!("nfs://10.9.9.{host}/?version=3&nfsport=2049&mountport=2049");
    let (code, _, _) = run(Command::new(HOWDAH).args(["ls", &url]));
    (code == Some(0), start.elapsed())
}

/// A name server. It stops answering when the flag is set.
fn answer_names() -> Arc<AtomicBool> {
    let socket = UdpSocket::bind("127.0.0.1:53").expect("nobody else is here");
    let hangs = Arc::new(AtomicBool::new(false));
    let is_silent = Arc::clone(&hangs);
    thread::spawn(move || {
        let mut question = [0; 512];
        while let Ok((length, client)) = socket.recv_from(&mut question) {
            if !is_silent.load(Ordering::SeqCst) {
                let _ = socket.send_to(&answer(&question[..length]), client);
            }
        }
    });
    hangs
}

/// The answer to a question for one name (RFC 1035 4.1), of type A or PTR; no such name for all others.
fn answer(question: &[u8]) -> Vec<u8> {
    let (mut at, mut labels) = (12, Vec::new());
    while question[at] != 0 {
        let length = usize::from(question[at]);
        labels.push(String::from_utf8_lossy(&question[at + 1..][..length]).to_lowercase());
        at += 1 + length;
    }
    let (name, kind) = (labels.join("."), question[at + 2]);
    let data = NAMES.iter().find_map(|(reverse, host, address)| match kind {
        1 if name == *host => Some(address.to_vec()),
        12 if name == *reverse => Some(host.split('.').flat_map(label).chain([0]).collect()),
        _ => None,
    });
    let is_known = NAMES.iter().any(|(reverse, host, _)| name == *host || name == *reverse);
    let (code, count) = (if is_known { 0 } else { 3 }, u8::from(data.is_some()));
    let mut reply = question[..2].to_vec();
    reply.extend([0x85, 0x80 | code, 0, 1, 0, count, 0, 0, 0, 0]);
    reply.extend(&question[12..at + 5]);
    if let Some(data) = data {
        reply.extend([0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
        reply.extend(data);
    }
    reply
}

fn label(text: &str) -> Vec<u8> {
    [&[text.len() as u8], text.as_bytes()].concat()
}
