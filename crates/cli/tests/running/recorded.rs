//! A server whose calls are recorded, and what is played of the record.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use super::bench::{Bench, open_to_all};
use super::server::{HOWDAH, Server, home, run, serve};

/// What no file system has.
const NOT_PLAYED: &[&str] = &[
    "NULL",
    "FSINFO",
    "EXCHANGE_ID",
    "CREATE_SESSION",
    "DESTROY_SESSION",
    "DESTROY_CLIENTID",
    "BIND_CONN_TO_SESSION",
    "RECLAIM_COMPLETE",
    "SEQUENCE",
    "CLOSE",
    "LOCK",
    "SEEK",
];

/// A server of an empty directory, in a home of its own.
pub struct Place {
    home: tempfile::TempDir,
    server: Server,
}

impl Place {
    pub fn start() -> Self {
        let home = home();
        let data = home.path().join("empty");
        open_to_all(&data);
        let listen = ["--squash", "none", "--privileged-ports=never", "--listen", "127.0.0.1:0"];
        let server = Server::start(serve(home.path()).arg(&data).args(listen));
        Self { home, server }
    }

    /// One that holds files already.
    pub fn start_with_files() -> Self {
        let place = Self::start();
        let old = place.data().join("old");
        open_to_all(&old);
        fs::write(old.join("file"), vec![7; 300_000]).expect("written");
        (0..40).for_each(|number| fs::write(old.join(format!("{number}")), "x").expect("written"));
        place
    }

    /// Where its files and its state are.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    pub fn address(&self) -> SocketAddr {
        self.server.address()
    }

    pub fn url(&self) -> String {
        let port = self.server.address().port();
        format!("nfs://127.0.0.1/?nfsport={port}&mountport={port}")
    }

    pub fn data(&self) -> PathBuf {
        self.home.path().join("empty")
    }

    /// What is called meanwhile, recorded in a file.
    pub fn capture(&self, more: &[&str], work: impl FnOnce()) -> (Recorded, String) {
        let file = self.home.path().join("calls.jsonl");
        let (file, state) = (text(&file), text(&self.home.path().join("state")));
        let arguments = [&["capture", &file, "--state", &state, "--json"], more].concat();
        let mut capture = Bench::start(&arguments);
        capture.progress(|line| line.contains("recording the calls to howdah"));
        work();
        capture.signal(Signal::INT);
        let (code, output, errors) = capture.end();
        assert_eq!(code, Some(0), "{errors}");
        let summary: Value = serde_json::from_str(&output).expect("JSON");
        assert_eq!((&summary["end"], &summary["dropped"]), (&"asked".into(), &0.into()), "{summary}");
        (Recorded::of(&file), file)
    }
}

/// What a file says.
#[derive(Debug, Default, PartialEq)]
pub struct Recorded {
    pub calls: BTreeMap<String, u64>,
    pub errors: u64,
    pub read: u64,
    pub written: u64,
}

impl Recorded {
    pub fn of(file: &str) -> Self {
        let mut recorded = Self::default();
        for line in fs::read_to_string(file).expect("it was written").lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let Some(procedure) = line["procedure"].as_str() else { continue };
            *recorded.calls.entry(procedure.to_owned()).or_default() += 1;
            recorded.errors += u64::from(line["error"].is_string());
            let done = line["done"].as_u64().unwrap_or_default();
            recorded.read += if procedure == "READ" { done } else { 0 };
            recorded.written += if procedure == "WRITE" { done } else { 0 };
        }
        recorded
    }

    /// Without what mounting and clearing up call besides, which are no part of a play.
    pub fn of_play(mut self) -> Self {
        self.calls.retain(|name, _| !["NULL", "FSINFO", "PATHCONF"].contains(&name.as_str()));
        self
    }
}

pub fn text(path: &Path) -> String {
    path.to_str().expect("text").to_owned()
}

pub fn howdah(arguments: &[&str]) -> (Option<i32>, String, String) {
    run(Command::new(HOWDAH).args(arguments))
}

pub fn play(place: &str, file: &str, more: &[&str]) -> Value {
    let usual = ["bench", place, "--replay", file, "--json", "-", "--progress", "never"];
    let (code, output, errors) = howdah(&[&usual, more].concat());
    assert_eq!(code, Some(0), "{errors}");
    serde_json::from_str(&output).expect("JSON")
}

/// Each procedure as often, and as many bytes, as recorded; every call ended as it did.
pub fn is_as_recorded(recorded: &Recorded, report: &Value) {
    let replay = &report["replay"];
    let of = |one: &Value, field: &str| one[field].as_u64().expect("a number");
    let mut calls = BTreeMap::new();
    let (mut read, mut written) = (0, 0);
    for one in replay["procedures"].as_array().expect("procedures") {
        let name = one["procedure"].as_str().expect("a name");
        assert_eq!(of(one, "calls") + of(one, "skipped"), of(one, "recorded_calls"), "{one}");
        assert!(of(one, "skipped") == 0 || NOT_PLAYED.contains(&name), "{one}");
        assert_eq!(of(one, "otherwise"), 0, "{name}: {}", replay["first_otherwise"]);
        calls.insert(name.to_owned(), of(one, "calls") + of(one, "skipped"));
        match name {
            "READ" => read = of(one, "bytes"),
            "WRITE" => written = of(one, "bytes"),
            _ => {}
        }
    }
    assert_eq!((&calls, read, written), (&recorded.calls, recorded.read, recorded.written));
}
