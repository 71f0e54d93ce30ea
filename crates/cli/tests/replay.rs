//! `howdah capture` of a server that works, and `howdah bench --replay` of what it recorded, as people run them: what was played is what
//! was recorded.

#[path = "running/bench.rs"]
mod bench;
#[path = "running/server.rs"]
#[allow(dead_code, reason = "its other users need the rest of it")]
mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use bench::{Bench, open_to_all};
use rustix::process::Signal;
use serde_json::Value;
use server::{HOWDAH, Server, home, run, serve};

/// What takes longer than this never comes.
const SOON: Duration = Duration::from_secs(30);

/// A server of an empty directory, in a home of its own.
struct Place {
    home: tempfile::TempDir,
    server: Server,
}

impl Place {
    fn start() -> Self {
        let home = home();
        let data = home.path().join("empty");
        open_to_all(&data);
        let listen = ["--squash", "none", "--listen", "127.0.0.1:0"];
        let server = Server::start(serve(home.path()).arg(&data).args(listen));
        Self { home, server }
    }

    /// One that holds files already.
    fn start_with_files() -> Self {
        let place = Self::start();
        let old = place.data().join("old");
        open_to_all(&old);
        fs::write(old.join("file"), vec![7; 300_000]).expect("written");
        (0..40).for_each(|number| fs::write(old.join(format!("{number}")), "x").expect("written"));
        place
    }

    fn url(&self) -> String {
        let port = self.server.address().port();
        format!("nfs://127.0.0.1/?nfsport={port}&mountport={port}")
    }

    fn data(&self) -> PathBuf {
        self.home.path().join("empty")
    }

    /// What is called meanwhile, recorded in a file.
    fn capture(&self, more: &[&str], work: impl FnOnce()) -> (Recorded, String) {
        let file = self.home.path().join("calls.jsonl");
        let (file, state) = (text(&file), text(&self.home.path().join("state")));
        let arguments = [&["capture", &file, "--state", &state, "--json"], more].concat();
        let mut capture = Bench::start(&arguments);
        capture.progress(|line| line.contains("recording the calls to howdah"));
        work();
        capture.signal(Signal::INT);
        let (code, output, errors) = capture.end();
        assert_eq!(code, Some(0), "{errors}");
        let told: Value = serde_json::from_str(&output).expect("JSON");
        assert_eq!((&told["end"], &told["dropped"]), (&"asked".into(), &0.into()), "{told}");
        (Recorded::of(&file), file)
    }
}

/// What a file says.
#[derive(Debug, Default, PartialEq)]
struct Recorded {
    calls: BTreeMap<String, u64>,
    errors: u64,
    read: u64,
    written: u64,
}

impl Recorded {
    fn of(file: &str) -> Self {
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
    fn of_play(mut self) -> Self {
        self.calls.retain(|name, _| !["NULL", "FSINFO", "PATHCONF"].contains(&name.as_str()));
        self
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("text").to_owned()
}

fn howdah(arguments: &[&str]) -> (Option<i32>, String, String) {
    run(Command::new(HOWDAH).args(arguments))
}

/// Work with all kinds of calls: files written, read, looked up, listed, renamed and removed, some of it not there.
fn work(url: &str) {
    let at = |path: &str| url.replacen("/?", &format!("/{path}?"), 1);
    for _ in 0..2 {
        let (code, _, errors) = howdah(&["cat", &at("old/file")]);
        assert_eq!(code, Some(0), "{errors}");
    }
    let (code, _, errors) = howdah(&["ls", "-l", &at("old")]);
    assert_eq!(code, Some(0), "{errors}");
    let small = ["--runs", "1", "--warm-up", "0", "--in-flight", "4", "--progress", "never"];
    for work in [
        &["-w", "metadata", "--files", "20"][..],
        &["-w", "files", "--size", "100K-300K", "--files", "5", "--record", "64K"],
        &["-w", "mixed", "--size", "512K", "--operations", "100"],
    ] {
        let (code, _, errors) = howdah(&[&["bench", url, "--non-empty"], work, &small].concat());
        assert_eq!(code, Some(0), "{errors}");
    }
    let (code, _, _) = howdah(&["ls", &at("nothing-here")]);
    assert_eq!(code, Some(1));
}

fn play(place: &str, file: &str, more: &[&str]) -> Value {
    let usual = ["bench", place, "--replay", file, "--json", "-", "--progress", "never"];
    let (code, output, errors) = howdah(&[&usual, more].concat());
    assert_eq!(code, Some(0), "{errors}");
    serde_json::from_str(&output).expect("JSON")
}

/// Each procedure as often, and as many bytes, as recorded; every call ended as it did.
fn is_as_recorded(recorded: &Recorded, report: &Value) {
    let replay = &report["replay"];
    let of = |one: &Value, field: &str| one[field].as_u64().expect("a number");
    let mut calls = BTreeMap::new();
    let (mut read, mut written) = (0, 0);
    for one in replay["procedures"].as_array().expect("procedures") {
        let name = one["procedure"].as_str().expect("a name");
        assert_eq!(of(one, "calls") + of(one, "skipped"), of(one, "recorded_calls"), "{one}");
        assert!(of(one, "skipped") == 0 || matches!(name, "NULL" | "FSINFO"), "{one}");
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

#[test]
fn what_is_played_is_what_was_recorded() {
    let (first, second) = (Place::start_with_files(), Place::start());
    let (recorded, file) = first.capture(&[], || work(&first.url()));
    assert!(recorded.errors > 0 && recorded.read > 0 && recorded.written > 0, "{recorded:?}");
    assert!(recorded.calls.len() > 12, "{recorded:?}");
    // Another server, which is recorded in turn.
    let mut report = Value::Null;
    let (played, _) = second.capture(&[], || report = play(&second.url(), &file, &["--speed", "max"]));
    is_as_recorded(&recorded, &report);
    let (before, told) = (recorded.of_play(), &report["replay"]["phases"][0]["procedures"]);
    for count in told.as_array().expect("counted").iter().filter(|count| count["program"] == "nfs") {
        let name = count["procedure"].as_str().expect("a name").to_uppercase();
        if let Some(calls) = before.calls.get(&name) {
            assert_eq!(count["calls"].as_u64(), Some(*calls), "{name}: {told}");
        }
    }
    // What the second server saw has what was made before and removed afterwards in it, too.
    assert!(played.read == before.read && played.written >= before.written, "{played:?}, {before:?}");
    assert_eq!(fs::read_dir(second.data()).expect("listed").count(), 0, "nothing is left");
}

#[test]
fn a_directory_and_memory_play_it_too_and_with_its_timing() {
    let place = Place::start_with_files();
    let (recorded, file) = place.capture(&["--names"], || work(&place.url()));
    let other = place.home.path().join("other");
    open_to_all(&other);
    for there in ["memory:", &text(&other)] {
        is_as_recorded(&recorded, &play(there, &file, &["--speed", "max"]));
    }
    let report = play("memory:", &file, &["--speed", "4"]);
    is_as_recorded(&recorded, &report);
    let seconds = |value: &Value| value.as_f64().expect("a number");
    let replay = &report["replay"];
    let took = seconds(&replay["phases"][0]["runs"][0]["seconds"]);
    assert!(
        took * 4.0 > seconds(&replay["recorded_seconds"]) * 0.9,
        "it was not faster than asked for: {took}"
    );
    assert!(replay["late"]["count"].as_u64().is_some_and(|count| count > 0), "{replay}");
    let (code, output, errors) = howdah(&["bench", "memory:", "--replay", &file, "--speed", "max"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(output.contains("\nreplay: ") && output.contains("\n  WRITE "), "{output}");
}

#[test]
fn a_capture_ends_when_it_is_told_to_though_calls_keep_coming_and_another_spoils_nothing() {
    let place = Place::start_with_files();
    let (url, file) = (place.url(), text(&place.home.path().join("calls.jsonl")));
    let more = ["--non-empty", "-w", "random-read", "--size", "4M", "--record", "8K", "--in-flight", "4"];
    let timing = ["--time", "60s", "--progress", "always"];
    let mut load = Bench::start(&[&["bench", &url][..], &more, &timing].concat());
    load.progress(|line| line.contains("read"));
    let state = text(&place.home.path().join("state"));
    let mut capture = Bench::start(&["capture", &file, "--state", &state]);
    capture.progress(|line| line.contains("recording the calls to howdah"));
    let (code, _, errors) = howdah(&["capture", &file, "--state", &state]);
    assert!(code == Some(1) && errors.contains("a capture runs already"), "{errors}");
    // So much that every look at the server finds calls.
    let start = Instant::now();
    while fs::metadata(&file).expect("the record").len() < 100_000 {
        assert!(start.elapsed() < SOON, "nothing is recorded");
        std::thread::yield_now();
    }
    capture.signal(Signal::INT);
    let (code, _, errors) = capture.end();
    load.signal(Signal::INT);
    let (loaded, _, said) = load.end();
    assert!(
        loaded == Some(1) && said.contains("interrupted"),
        "it went on until it was told to stop: {said}"
    );
    assert_eq!(code, Some(0), "{errors}");
    let recorded = fs::read_to_string(&file).expect("text");
    assert!(recorded.starts_with("{\"howdah_capture\":1,"), "{}", &recorded[..100]);
    let last = recorded.lines().last().expect("a line");
    assert!(last.starts_with("{\"end\":\"asked\","), "{last}");
}

#[test]
fn what_cannot_be_played_or_recorded_is_said() {
    let home = home();
    let other = text(&home.path().join("data/file"));
    for (arguments, code, wanted) in [
        (&["bench", "memory:", "--replay", "/nowhere/calls"][..], 1, "/nowhere/calls"),
        (&["bench", "memory:", "--replay", &other], 1, "not that of a capture"),
        (&["bench", "memory:", "--replay", &other, "-w", "write"], 2, "cannot be used together"),
        (&["bench", "memory:", "--speed", "2"], 2, "--replay"),
        (&["bench", "memory:", "--replay", &other, "--speed", "fast"], 2, "a number above 0, or max"),
        (&["capture", "x", "--calls", "0"], 2, "--calls"),
        (&["capture", "x", "--server", "/nowhere/admin"], 1, "no server listens there"),
    ] {
        let (ended, _, errors) = howdah(arguments);
        assert!(ended == Some(code) && errors.contains(wanted), "{arguments:?}: {errors}");
    }
    let place = Place::start();
    let state = text(&place.home.path().join("state"));
    let file = text(&place.home.path().join("no/such/file"));
    let (code, _, errors) = howdah(&["capture", &file, "--state", &state]);
    assert!(code == Some(1) && errors.contains("no/such/file"), "{errors}");
    let (code, output, errors) = howdah(&["capture", "-", "--state", &state, "--time", "100ms"]);
    assert!(code == Some(0) && errors.contains("nobody called"), "{errors}");
    assert!(
        output.starts_with("{\"howdah_capture\":1,") && output.contains("\n{\"end\":\"time\","),
        "{output}"
    );
}
