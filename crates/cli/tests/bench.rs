//! `howdah bench` and `howdah nfsstat` as people run them: over NFS while the server is killed, interrupted, misused; and
//! their JSON, field by field as `docs/bench.md` has it.

#[path = "running/bench.rs"]
mod bench;
#[path = "running/server.rs"]
#[allow(dead_code, reason = "its other users need the rest of it")]
mod server;

use std::collections::BTreeSet;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use bench::{Bench, open_to_all};
use rustix::process::Signal;
use serde_json::Value;
use server::{HOWDAH, Server, home, run, serve};

/// Where everything is documented.
const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bench.md");

/// A record of two calls.
const RECORD: &str = r#"{"howdah_capture":1,"howdah":"0","started":"2026-11-22T00:00:00Z","names":"hashed","seconds_most":1,"calls_most":9,"bytes_most":9}
{"at":0.0,"took":0.001,"procedure":"LOOKUP","node":"d","name":"n","found":"f","found_kind":"file","found_size":100}
{"at":0.001,"took":0.001,"procedure":"READ","node":"f","offset":0,"count":200,"done":100,"size":100}
{"end":"asked","seconds":0.1,"calls":2,"dropped":0,"left_out":0}
"#;

/// A server of the empty directory `empty` in `home`, on this address.
fn start(home: &Path, listen: &str) -> Server {
    let data = home.join("empty");
    open_to_all(&data);
    Server::start(serve(home).arg(data).args(["--squash", "none", "--listen", listen]))
}

fn url(address: SocketAddr) -> String {
    format!("nfs://{}/?nfsport={}&mountport={}", address.ip(), address.port(), address.port())
}

fn howdah(arguments: &[&str]) -> (Option<i32>, String, String) {
    run(Command::new(HOWDAH).args(arguments))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{why} in\n{text}"))
}

fn phases(report: &Value) -> impl Iterator<Item = &Value> {
    let results = report["results"].as_array().expect("results");
    results.iter().flat_map(|result| result["phases"].as_array().expect("phases"))
}

/// The sum of a figure over all runs of all phases.
fn sum(report: &Value, figure: &str) -> u64 {
    let runs = phases(report).flat_map(|phase| phase["runs"].as_array().expect("runs"));
    runs.map(|run| run[figure].as_u64().expect("a number")).sum()
}

/// Runs a workload while the server is killed without warning and started again; all data is there afterwards. On a
/// machine that is too busy to be killed on in time, it runs longer.
fn survives_a_kill(workload: &str, more: &[&str]) {
    survives_a_kill_over("tcp", workload, more);
}

fn survives_a_kill_over(transport: &str, workload: &str, more: &[&str]) {
    let home = home();
    let sent_again = |time: &&str| {
        let report =
            run_through_a_kill(home.path(), transport, workload, &[&["--time", time], more].concat());
        report.is_some_and(|report| retransmissions(&report) > 0)
    };
    assert!(["2s", "10s", "40s"].iter().any(sent_again), "never was a call sent again");
}

/// What it reports; nothing, if it was over before it could be disturbed.
fn run_through_a_kill(home: &Path, transport: &str, workload: &str, more: &[&str]) -> Option<Value> {
    let first = start(home, "127.0.0.1:0");
    let address = first.address();
    let url = format!("{}&proto={transport}", url(address));
    let fixed = ["--verify", "--runs", "1", "--warm-up", "0", "--progress", "always", "--json", "-"];
    let mut bench = Bench::start(&[&["bench", &url, "-w", workload], &fixed[..], more].concat());
    // Only the phases that are timed are worth a kill.
    bench.next_line(|line| line.starts_with(workload) && !line.contains("laying out"))?;
    drop(first);
    let _second = start(home, &address.to_string());
    let (code, output, errors) = bench.end();
    assert_eq!(code, Some(0), "{workload}: {errors}");
    let report = json(&output);
    assert!(sum(&report, "operations") > 0, "{output}");
    assert!(workload == "metadata" || sum(&report, "verified_bytes") > 0, "{output}");
    let left = fs::read_dir(home.join("empty")).expect("listed").count();
    assert_eq!(left, 0, "it cleared up");
    Some(report)
}

/// How often a call was sent again.
fn retransmissions(report: &Value) -> u64 {
    let counts = |phase: &Value| phase["procedures"].as_array().expect("procedures").clone();
    phases(report).flat_map(counts).map(|count| count["retransmissions"].as_u64().expect("a number")).sum()
}

#[test]
fn sequential_writing_survives_a_kill_of_the_server() {
    survives_a_kill("write", &["--size", "4M", "--files", "2"]);
}

#[test]
fn sequential_reading_survives_a_kill_of_the_server() {
    survives_a_kill("read", &["--size", "4M", "--files", "2"]);
}

#[test]
fn many_files_survive_a_kill_of_the_server() {
    survives_a_kill("files", &["--size", "1M-2M", "--files", "10000", "--in-flight", "4"]);
}

#[test]
fn small_files_survive_a_kill_of_the_server() {
    survives_a_kill("small", &["--files", "100000"]);
}

#[test]
fn random_reading_survives_a_kill_of_the_server() {
    survives_a_kill("random-read", &["--size", "2M"]);
}

#[test]
fn random_writing_survives_a_kill_of_the_server() {
    survives_a_kill("random-write", &["--size", "2M"]);
}

#[test]
fn mixed_work_survives_a_kill_of_the_server() {
    survives_a_kill("mixed", &["--size", "2M"]);
}

#[test]
fn names_survive_a_kill_of_the_server() {
    survives_a_kill("metadata", &["--files", "100000"]);
}

#[test]
fn writing_over_udp_survives_a_kill_of_the_server() {
    survives_a_kill_over("udp", "write", &["--size", "4M", "--files", "2"]);
}

#[test]
fn mixed_work_over_udp_survives_a_kill_of_the_server() {
    survives_a_kill_over("udp", "mixed", &["--size", "2M"]);
}

#[test]
fn names_over_udp_survive_a_kill_of_the_server() {
    survives_a_kill_over("udp", "metadata", &["--files", "100000"]);
}

#[test]
fn every_field_of_the_json_is_documented() {
    let home = home();
    let server = start(home.path(), "127.0.0.1:0");
    let (code, output, errors) = howdah(&[
        "bench",
        &url(server.address()),
        "-w",
        "mixed,write",
        "--size",
        "256K",
        "--operations",
        "50",
        "--keep",
        "--runs",
        "1",
        "--warm-up",
        "0",
        "--json",
        "-",
    ]);
    assert_eq!(code, Some(0), "{errors}");
    let (code, profile, errors) =
        howdah(&["bench", "memory:", "--profile", "dd-2010", "--size", "4M", "--json", "-"]);
    assert_eq!(code, Some(0), "{errors}");
    let record = home.path().join("calls.jsonl");
    fs::write(&record, RECORD).expect("written");
    let record = record.to_str().expect("text");
    let (code, played, errors) = howdah(&["bench", "memory:", "--replay", record, "--json", "-"]);
    assert_eq!(code, Some(0), "{errors}");
    let (mut seen, wanted) = (BTreeSet::new(), documented("bench"));
    for text in [&output, &profile, &played] {
        fields(&json(text), "", &wanted, &mut seen);
    }
    assert_eq!(seen, wanted, "left: in the output, right: in docs/bench.md");
    let (code, output, errors) = howdah(&["nfsstat", &url(server.address()), "--json"]);
    assert_eq!(code, Some(0), "{errors}");
    seen.clear();
    let wanted = documented("nfsstat");
    fields(&json(&output), "", &wanted, &mut seen);
    assert_eq!(seen, wanted, "left: in the output, right: in docs/bench.md");
}

/// The paths of all values, `[]` standing for every element. Null counts if nothing else stands there elsewhere, and what is documented
/// as a whole is not looked into.
fn fields(value: &Value, path: &str, wanted: &BTreeSet<String>, seen: &mut BTreeSet<String>) {
    match value {
        Value::Object(_) if wanted.contains(path) => drop(seen.insert(path.to_owned())),
        Value::Object(members) => {
            seen.remove(path);
            for (name, member) in members {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                fields(member, &path, wanted, seen);
            }
        }
        Value::Array(elements) if elements.is_empty() => {}
        Value::Array(elements) => {
            elements.iter().for_each(|each| fields(each, &format!("{path}[]"), wanted, seen));
        }
        Value::Null if seen.iter().any(|other| other.starts_with(&format!("{path}."))) => {}
        _ => {
            seen.insert(path.to_owned());
        }
    }
}

/// The paths in the first column of the table under this heading.
fn documented(command: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(DOCUMENT).expect("it is there");
    let heading = format!("## JSON of `howdah {command}`");
    let section = text.split_once(&heading).unwrap_or_else(|| panic!("no {heading}")).1;
    let section = section.split("\n## ").next().expect("it has an end");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(path, _)| path.to_owned()).collect()
}

#[test]
fn every_profile_is_documented_with_its_parameters() {
    let text = fs::read_to_string(DOCUMENT).expect("it is there");
    for profile in howdah_workload::WorkloadProfile::ALL {
        assert!(text.contains(&format!("| `{}` |", profile.name())), "{}", profile.name());
    }
}

/// The commands of the section "Try it", as printed, but for the place and the port of its server.
#[test]
fn the_examples_of_the_document_run() {
    let text = fs::read_to_string(DOCUMENT).expect("it is there");
    let section = text.split_once("## Try it").expect("a section").1;
    let block = section.split("```sh\n").nth(1).and_then(|rest| rest.split("```").next()).expect("examples");
    let examples: Vec<&str> = block.lines().filter(|line| line.starts_with("howdah ")).collect();
    for profile in howdah_workload::WorkloadProfile::ALL {
        let named = |line: &&str| line.contains(&format!("--profile {}", profile.name()));
        assert!(examples.iter().any(named), "one for {}", profile.name());
    }
    let home = home();
    let server = start(home.path(), "127.0.0.1:0");
    let directory = Path::new(HOWDAH).parent().expect("a directory").display();
    for example in examples {
        let mut command = Command::new("sh");
        let (code, output, errors) = run(command
            .args(["-c", &format!("PATH={directory}:$PATH; {example}")])
            .env("URL", url(server.address())));
        assert_eq!(code, Some(0), "{example}: {output}{errors}");
    }
}

#[test]
fn every_profile_runs_and_says_that_it_is_smaller() {
    for (profile, more) in [
        ("iozone-2008", ["--size", "2M"]),
        ("workq-2003", ["--scale", "2%"]),
        ("dd-2010", ["--size", "4M"]),
        ("files-2010", ["--scale", "0.001"]),
    ] {
        let (code, output, errors) = howdah(&["bench", "memory:", "--profile", profile, more[0], more[1]]);
        assert_eq!(code, Some(0), "{profile}: {errors}");
        assert!(output.contains("not as the profile: "), "{output}");
        assert!(
            output.contains("repeat: howdah bench memory: --profile") && output.contains("--seed "),
            "{output}"
        );
    }
}

/// What a measurement over NFSv4 with these arguments reports, and what it puts on the screen.
fn over_nfs4(version: &str, arguments: &[&str]) -> (Value, String) {
    let home = home();
    let server = start(home.path(), "127.0.0.1:0");
    let url = format!("{}&version={version}", url(server.address()));
    let figures = home.path().join("figures.json");
    let json_to = ["--runs", "1", "--warm-up", "0", "--json", figures.to_str().expect("text")];
    let (code, output, errors) = howdah(&[&["bench", &url], arguments, &json_to].concat());
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(fs::read_dir(home.path().join("empty")).expect("listed").count(), 0, "it cleared up");
    (json(&fs::read_to_string(figures).expect("written")), output)
}

#[test]
fn all_work_is_done_over_nfs4_and_says_so() {
    let all = "write,read,files,small,random-read,random-write,mixed,metadata";
    let little = ["--size", "64K", "--files", "3", "--operations", "20", "--verify"];
    for (version, protocol) in [("4.1", "NFSv4.1"), ("4.2", "NFSv4.2"), ("4", "NFSv4.2")] {
        let (report, output) = over_nfs4(version, &[&["-w", all], &little[..]].concat());
        assert_eq!(report["place"]["protocol"], *protocol);
        assert!(output.contains(&format!(", {protocol} over TCP\n")), "{output}");
        assert!(output.contains("note: over NFSv4 every call is a COMPOUND"), "{output}");
        assert!(sum(&report, "verified_bytes") > 0, "{output}");
        let mut counts =
            phases(&report).flat_map(|phase| phase["procedures"].as_array().expect("procedures"));
        let is_compound = |count: &Value| {
            (&count["program"], &count["version"], &count["procedure"])
                == (&"nfs".into(), &4.into(), &"compound".into())
        };
        assert!(counts.all(is_compound), "{report}");
    }
    let (report, output) = over_nfs4("4.2", &["--profile", "workq-2003", "--size", "1M"]);
    assert_eq!(report["place"]["transport"], "tcp");
    assert!(output.contains("not as the profile: over TCP, not UDP"), "{output}");
}

#[test]
fn an_interruption_leaves_nothing() {
    let home = home();
    let place = home.path().join("empty");
    open_to_all(&place);
    let place = place.to_str().expect("text");
    let mut bench = Bench::start(&[
        "bench",
        place,
        "-w",
        "write",
        "--time",
        "1h",
        "--size",
        "1M",
        "--progress",
        "always",
    ]);
    bench.progress(|line| line.contains("write"));
    bench.signal(Signal::INT);
    let (code, _, errors) = bench.end();
    assert_eq!(code, Some(1));
    assert!(errors.contains("interrupted") && errors.contains("removed"), "{errors}");
    assert_eq!(fs::read_dir(place).expect("listed").count(), 0);
}

#[test]
fn a_place_that_holds_something_is_left_alone() {
    let home = home();
    let data = home.path().join("data");
    let place = data.to_str().expect("text");
    let small = ["-w", "small", "--files", "2", "--runs", "1"];
    let (code, _, errors) = howdah(&[&["bench", place], &small[..]].concat());
    assert!(code == Some(1) && errors.contains("not empty") && errors.contains("\"file\""), "{errors}");
    let (code, _, errors) = howdah(&[&["bench", place, "--non-empty", "--keep"], &small[..]].concat());
    assert_eq!(code, Some(0), "{errors}");
    assert_eq!(fs::read_to_string(data.join("file")).expect("still there"), "hello");
    let kept = fs::read_dir(&data).expect("listed").filter_map(Result::ok);
    let kept: Vec<_> = kept.filter(|entry| entry.file_name() != "file").collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read_dir(kept[0].path()).expect("listed").count(), 2, "its files are kept");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_starts() {
    for (arguments, wanted) in [
        (&["bench", "memory:", "--record", "1000", "--transfer", "300"][..], "whole number of transfers"),
        (&["bench", "memory:", "--size", "many"][..], "a size is a number"),
        (&["bench", "memory:", "--profile", "x"][..], "iozone-2008"),
        (&["nfsstat", "/mnt"][..], "is no export of a server"),
        (&["nfsstat", "local", "--run", "dd-2010"][..], "--run needs an nfs:// URL"),
    ] {
        let (code, _, errors) = howdah(arguments);
        assert!(code == Some(2) && errors.contains(wanted), "{arguments:?}: {errors}");
    }
    let (code, output, errors) =
        howdah(&["bench", "memory:", "--size", "4M", "--json", "/nonexistent/figures"]);
    assert!(code == Some(1) && errors.contains("writing /nonexistent/figures"), "{errors}");
    assert_eq!(output, "", "nothing is measured for a file that cannot be written");
    let (code, output, errors) = howdah(&["bench", "memory:", "--size", "4M", "--json", "/tmp"]);
    assert!(code == Some(1) && output.is_empty() && errors.contains("writing /tmp"), "{errors}");
    let file = home();
    let file = file.path().join("data/file");
    let (code, _, errors) = howdah(&["bench", file.to_str().expect("text")]);
    assert!(code == Some(1) && errors.contains("not a directory"), "{errors}");
}

#[test]
fn nfsstat_shows_what_a_workload_called() {
    let home = home();
    let server = start(home.path(), "127.0.0.1:0");
    let url = url(server.address());
    let (code, output, errors) = howdah(&["nfsstat", &url, "--run", "iozone-2008", "--size", "2M"]);
    assert_eq!(code, Some(0), "{errors}");
    assert!(output.starts_with("Client rpc stats:\ncalls      retrans"), "{output}");
    assert!(output.contains("\nClient nfs v3:\nnull             getattr "), "{output}");
    assert!(output.contains("\nClient mount v3:\nnull             mnt "), "{output}");
    fs::write(home.path().join("empty/another"), "here").expect("written");
    let again = ["nfsstat", &url, "--run", "dd-2010", "--size", "2M"];
    let (code, _, errors) = howdah(&again);
    assert!(code == Some(1) && errors.contains("--non-empty"), "{errors}");
    let (code, _, errors) = howdah(&[&again[..], &["--non-empty"]].concat());
    assert_eq!(code, Some(0), "{errors}");
    let (code, output, _) = howdah(&["nfsstat", "local"]);
    assert!(
        code == Some(0) && (output.contains("is not there") || output.contains("Client rpc stats")),
        "{output}"
    );
}

#[test]
fn figures_are_written_with_the_users_umask() {
    let home = home();
    let (empty, file) = (home.path().join("empty"), home.path().join("figures.json"));
    open_to_all(&empty);
    let script = "umask 077; exec \"$0\" bench \"$1\" --json \"$2\" --workload write --size 1M";
    let (code, _, why) = run(Command::new("sh").args(["-c", script, HOWDAH]).arg(&empty).arg(&file));
    assert_eq!(code, Some(0), "{why}");
    let mode = fs::metadata(&file).expect("written").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
