//! What `howdah why` says of traffic that is made on purpose.

use std::fs::File;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::asking::{Served, until};
use crate::server::HOWDAH;

/// A program that goes on until the test is over.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that goes on for long, without a word.
fn running(arguments: &[&str]) -> Running {
    let mut command = Command::new(HOWDAH);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    Running(command.spawn().expect("it runs"))
}

fn large_file(path: &std::path::Path) {
    File::create(path).expect("made").set_len(20 << 30).expect("sized");
}

/// The client on this host, once it moves much in the direction of that word.
fn busy(served: &Served, direction: &str) -> Value {
    let wanted = format!("{direction} limited by ");
    let way = if direction == "reads" { "sent" } else { "received" };
    let moves = |group: &Value| group["recent"][way].as_u64().is_some_and(|bytes| bytes > 100_000);
    until(&wanted, || {
        let said = served.json(&["why"]);
        let groups = said["servers"][0]["clients"][0]["groups"].as_array()?.clone();
        groups.into_iter().find(|group| {
            group["sentence"].as_str().is_some_and(|said| said.starts_with(&wanted)) && moves(group)
        })
    })
}

#[test]
fn reads_are_called_reads_and_writes_writes() {
    let served = Served::start(&["--squash", "none"]);
    large_file(&served.data().join("large"));
    let url = served.url("large");
    let reader = running(&["cat", &url]);
    let group = busy(&served, "reads");
    let rate = |field: &str| group[field].as_f64().expect("a rate");
    assert!(rate("sent_per_second") > rate("received_per_second"), "{group}");
    // As people see it: who, what, how fast, and where the time went.
    let text = until("a sentence", || {
        let (code, text, why) = served.ask(&["why"]);
        assert_eq!(code, Some(0), "{why}");
        text.contains("reads limited by").then_some(text)
    });
    assert!(text.starts_with("127.0.0.1") && text.contains(" read") && text.contains("last "), "{text}");
    drop(reader);

    // As slow as it was asked to be: nothing here limits it.
    large_file(&served.home.path().join("source"));
    let (source, url) = (served.home.path().join("source"), served.url("copied"));
    let source = source.to_str().expect("text");
    let writer = running(&["cp", "--rate", "20M", "--sparse", "never", "--progress", "never", source, &url]);
    busy(&served, "writes");
    drop(writer);
    let gone = until("the end", || {
        let (code, text, _) = served.ask(&["why"]);
        (code == Some(0) && text.starts_with("no client is connected over TCP\n")).then_some(text)
    });
    // What was seen of it is kept.
    let row = gone.lines().find(|line| line.starts_with("gone for ")).expect("who is gone");
    assert!(row.contains("s: 127.0.0.1, "), "{gone}");
    assert!(gone.contains(" written"), "{gone}");
    let (code, said, why) = served.ask(&["why", "127.0.0.1"]);
    assert_eq!(code, Some(3), "{why}");
    assert!(said.contains("127.0.0.1") && said.contains("gone for "), "{said}");
}

#[test]
fn who_is_not_connected_is_said_with_an_exit_code_of_its_own() {
    let served = Served::start(&[]);
    let (code, said, why) = served.ask(&["why", "10.9.8.7"]);
    assert_eq!((code, said.as_str()), (Some(3), ""));
    assert!(why.contains("10.9.8.7 is not connected"), "{why}");
    assert_eq!(served.json(&["why"])["servers"][0]["clients"], serde_json::json!([]));
}

#[test]
fn idle_clients_share_a_line() {
    let served = Served::start(&[]);
    let connections: Vec<_> =
        (0..2).map(|_| std::net::TcpStream::connect(served.server.address()).expect("connected")).collect();
    let line = "idle: 127.0.0.1 (2 connections)\n";
    until("both", || (served.ask(&["why"]).1 == line).then_some(()));
    let (_, all, _) = served.ask(&["why", "--all"]);
    let lane = format!("    {}: ", connections[0].local_addr().expect("bound"));
    assert!(
        all.starts_with("127.0.0.1, 2 connections: idle: the client asks for no more\n")
            && all.contains(&lane),
        "{all}"
    );
}

#[test]
fn without_tuning_nobody_looks() {
    let served = Served::start(&["--no-tuning"]);
    let (code, _, why) = served.ask(&["why"]);
    assert!(code == Some(1) && why.contains("--no-tuning"), "{why}");
    let (code, _, why) = served.ask(&["set", "tcp_rcvbuf", "16M"]);
    assert!(code == Some(2) && why.contains("tuning is off"), "{why}");
}
