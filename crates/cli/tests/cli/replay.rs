//! `howdah capture` of a server that works, and `howdah bench --replay` of what it recorded, as people run them: what was played is what
//! was recorded.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::bench::{Bench, open_to_all};
use crate::recorded::{Place, howdah, is_as_recorded, play, text};
use crate::server::home;

/// What takes longer than this never comes.
const SOON: Duration = Duration::from_secs(30);

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
    let (before, replayed) = (recorded.of_play(), &report["replay"]["phases"][0]["procedures"]);
    for count in replayed.as_array().expect("counted").iter().filter(|count| count["program"] == "nfs") {
        let name = count["procedure"].as_str().expect("a name").to_uppercase();
        if let Some(calls) = before.calls.get(&name) {
            assert_eq!(count["calls"].as_u64(), Some(*calls), "{name}: {replayed}");
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
    let other = place.home().join("other");
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
    let (url, file) = (place.url(), text(&place.home().join("calls.jsonl")));
    let more = ["--non-empty", "-w", "random-read", "--size", "4M", "--record", "8K", "--in-flight", "4"];
    let timing = ["--time", "60s", "--progress", "always"];
    let mut load = Bench::start(&[&["bench", &url][..], &more, &timing].concat());
    load.progress(|line| line.contains("read"));
    let state = text(&place.home().join("state"));
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
    assert!(loaded == Some(1) && said.contains("interrupted"), "it ran until it was stopped: {said}");
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
    let state = text(&place.home().join("state"));
    let file = text(&place.home().join("no/such/file"));
    let (code, _, errors) = howdah(&["capture", &file, "--state", &state]);
    assert!(code == Some(1) && errors.contains("no/such/file"), "{errors}");
    let (code, output, errors) = howdah(&["capture", "-", "--state", &state, "--time", "100ms"]);
    assert!(code == Some(0) && errors.contains("no calls: nothing to replay"), "{errors}");
    assert!(
        output.starts_with("{\"howdah_capture\":1,") && output.contains("\n{\"end\":\"time\","),
        "{output}"
    );
}
