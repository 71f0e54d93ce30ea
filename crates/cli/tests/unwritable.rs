//! A server whose state directory is full or read-only serves NFSv3 all the same, and says what does not work.

#[path = "running/server.rs"]
mod server;

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};

use howdah_client::connect::{ConnectOptions, connect};
use howdah_needs::{Lack, skipped};
use howdah_vfs::{Caller, Name};
use rustix::process::Signal;
use server::{Server, home, run, serve};

const HERE: [&str; 2] = ["--listen", "127.0.0.1:0"];
const METRICS: [&str; 2] = ["--metrics", "127.0.0.1:0"];

fn succeeds(command: &mut Command) -> bool {
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Runs a test once more, in a namespace where it may mount; whether this is that run.
fn is_in_namespace(test: &str) -> bool {
    const CHILD: &str = "HOWDAH_TEST_NAMESPACE";
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--propagation", "private"]);
        command
    };
    if !rustix::process::geteuid().is_root() || !succeeds(unshare().arg("true")) {
        skipped(Lack::Namespaces, "this takes a mount namespace");
        return false;
    }
    let mut again = unshare();
    again.arg(std::env::current_exe().expect("own path")).args(["--exact", test, "--nocapture"]);
    assert!(again.env(CHILD, "1").status().expect("it runs").success(), "in the namespace");
    false
}

fn mount(arguments: &[&str], at: &Path) {
    assert!(succeeds(Command::new("mount").args(arguments).arg(at)), "mount {arguments:?}");
}

/// A file system of its own for the state directory, in which a server ran already.
fn state_of_a_run(home: &Path) {
    let state = home.join("state");
    fs::create_dir(&state).expect("made");
    mount(&["-t", "tmpfs", "-o", "size=256k,mode=0700", "none"], &state);
    let mut server = Server::start(serve(home).arg(home.join("data")).args(HERE));
    server.signal(Signal::TERM);
    assert_eq!(server.end().code(), Some(0));
}

/// By NFSv3 files are found.
fn serves(server: &Server) {
    let url = format!("nfs://{}/", server.address()).parse().expect("a URL");
    let client = connect(&url, &ConnectOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    let named = Name::parse(b"file").expect("a name");
    client.lookup(&Caller::ROOT, &client.root(), named).expect("it is there");
}

/// The value of a gauge, of a server whose log says where metrics are.
fn gauge(metrics: &str, name: &str) -> String {
    let mut stream = TcpStream::connect(metrics).expect("it listens");
    write!(stream, "GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n").expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    let line = answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap_or_else(|| panic!("{name} in {answer}")).to_owned()
}

fn metrics(server: &mut Server) -> String {
    let line = server.log_line("metrics: http://");
    line.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address").to_owned()
}

#[test]
fn a_read_only_state_directory_stops_new_nfs4_clients_alone() {
    if !is_in_namespace("a_read_only_state_directory_stops_new_nfs4_clients_alone") {
        return;
    }
    let home = home();
    let state = home.path().join("state");
    state_of_a_run(home.path());
    mount(&["-o", "remount,ro"], &state);
    let mut server = Server::start(serve(home.path()).arg(home.path().join("data")).args(HERE).args(METRICS));
    let metrics = metrics(&mut server);
    let warning = server.log_line("cannot write to the state directory");
    for part in ["Read-only file system", "NFSv3", "New NFSv4 clients", "Make room"] {
        assert!(warning.contains(part), "{part} in {warning}");
    }
    serves(&server);
    assert_eq!(gauge(&metrics, "howdah_state_unwritable"), "1");
    mount(&["-o", "remount,rw"], &state);
    server.log_line("the record of clients can be written again");
    assert_eq!(gauge(&metrics, "howdah_state_unwritable"), "0");
    server.signal(Signal::TERM);
    let more = server.log_to_the_end();
    assert!(!more.iter().any(|line| line.contains("cannot write")), "said once: {more:?}");
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn a_full_state_directory_is_warned_of_and_served_with() {
    if !is_in_namespace("a_full_state_directory_is_warned_of_and_served_with") {
        return;
    }
    let home = home();
    let state = home.path().join("state");
    state_of_a_run(home.path());
    let mut filler = fs::File::create(state.join("filler")).expect("made");
    let full = std::iter::repeat_with(|| filler.write_all(&[7; 4096])).find_map(Result::err);
    assert_eq!(full.map(|error| error.kind()), Some(ErrorKind::StorageFull));
    let mut server = Server::start(serve(home.path()).arg(home.path().join("data")).args(HERE).args(METRICS));
    let metrics = metrics(&mut server);
    server.log_line("cannot write to the state directory");
    serves(&server);
    // The record of clients has room of its own.
    assert_eq!(gauge(&metrics, "howdah_state_unwritable"), "0");
    server.signal(Signal::TERM);
    assert_eq!(server.end().code(), Some(0));
}

#[test]
fn without_a_key_that_can_be_kept_it_does_not_start() {
    if !is_in_namespace("without_a_key_that_can_be_kept_it_does_not_start") {
        return;
    }
    let home = home();
    let state = home.path().join("state");
    fs::create_dir(&state).expect("made");
    mount(&["-t", "tmpfs", "-o", "ro,mode=0700", "none"], &state);
    let (code, _, why) = run(serve(home.path()).arg(home.path().join("data")).args(HERE));
    assert_eq!(code, Some(1));
    assert!(why.contains("handle key") && why.contains("read-only file system"), "{why}");
}
