//! What `howdah stat` says of a server that was asked something.

use std::fs;

use serde_json::Value;

use crate::asking::{Served, until};
use crate::server::HOWDAH;

/// A server whose one file has been read.
fn read_once(flags: &[&str]) -> Served {
    let served = Served::start(flags);
    fs::write(served.data().join("file"), vec![7; 100_000]).expect("written");
    let read =
        std::process::Command::new(HOWDAH).args(["cat", &served.url("file")]).output().expect("it runs");
    assert!(read.status.success() && read.stdout.len() == 100_000, "{read:?}");
    served
}

fn procedure<'a>(procedures: &'a Value, name: &str) -> Option<&'a Value> {
    procedures.as_array()?.iter().find(|procedure| procedure["procedure"] == name)
}

#[test]
fn what_was_read_is_counted() {
    let served = read_once(&[]);
    let said = served.json(&["stat"]);
    let server = &said["servers"][0];
    let read = procedure(&server["procedures"], "READ").unwrap_or_else(|| panic!("no READ in {said}"));
    assert!(read["sent"].as_u64().is_some_and(|bytes| bytes > 100_000), "{read}");
    assert!(read["latency"]["p99_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{read}");
    assert!(procedure(&server["procedures"], "MNT").is_some(), "{said}");
    let of_export = served.json(&["stat", "--export", "/"]);
    assert!(procedure(&of_export["servers"][0]["procedures"], "READ").is_some(), "{of_export}");

    let (code, text, why) = served.ask(&["stat"]);
    assert_eq!(code, Some(0), "{why}");
    assert!(
        text.starts_with("howdah ") && text.contains("\nprocedure ") && text.contains("\nREAD "),
        "{text}"
    );
    assert!(
        text.contains("\nworkers: ") && text.lines().skip(1).all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn rates_are_of_the_interval_alone() {
    let served = read_once(&[]);
    let lines = until("a quiet interval", || {
        let (code, text, why) = served.ask(&["stat", "--interval", "0.1", "--count", "2", "--json"]);
        assert_eq!(code, Some(0), "{why}");
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let is_quiet = |line: &Value| line["servers"][0]["procedures"].as_array().is_some_and(Vec::is_empty);
        lines.iter().all(is_quiet).then_some(lines)
    });
    assert_eq!(lines.len(), 2);
    let (_, text, _) = served.ask(&["stat", "--interval", "0.1", "--count", "1"]);
    assert!(text.contains("no calls\n"), "{text}");
}

#[test]
fn an_export_that_is_not_served_has_an_exit_code_of_its_own() {
    let served = Served::start(&[]);
    let (code, said, why) = served.ask(&["stat", "--export", "/other"]);
    assert_eq!((code, said.as_str()), (Some(3), ""));
    assert!(why.contains("no export is called /other; there is /"), "{why}");
    let (code, _, why) = served.ask(&["stat", "/tmp"]);
    assert!(code == Some(2) && why.contains("files were named"), "{why}");
}
