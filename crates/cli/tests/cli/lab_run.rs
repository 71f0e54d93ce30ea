//! `howdah lab run`: a whole small plan, from its text to the report, and what becomes of it when cells fail or claims do not
//! hold. Where no sandbox can be made, it says so and is skipped.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

use howdah_lab::record::{Outcome, ResultDirectory, SeriesLine};
use rustix::process::{Pid, Signal, kill_process};

use crate::lab::{HOWDAH, Ran, end_of, is_no_sandbox, rows as counted, run};

/// Two cells of half a second. `limit` is for the machine on which it takes longest.
const PLAN: &str = r#"name = "small"
title = "A small plan"
asks = "Whether plans run."
seed = 7
[cell]
limit = "60s"
path = { rtt = "2ms", rate = "100Mbit" }
clients.main = { kind = "howdah", workload = "write", options = ["--size", "2M"] }
sample.every = "20ms"
[[factor]]
name = "rtt"
key = "cell.path.rtt"
values = ["2ms", "4ms"]
[[claim]]
says = "It is not faster than the line."
figure = "throughput"
at_most = 1.0
of = "line rate"
"#;

fn printed(output: &Output) -> String {
    format!(
        "{}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

#[test]
fn a_plan_runs_to_its_report_and_is_not_run_twice() {
    let home = tempfile::tempdir().expect("a directory");
    let Some(Ran { output, results, .. }) = run(home.path(), PLAN, &[]) else { return };
    assert!(output.status.success(), "{}", printed(&output));
    let rows = counted(&results);
    assert_eq!(rows.iter().map(|row| row.cell).collect::<Vec<_>>(), [1, 2]);
    for row in &rows {
        assert_eq!(row.outcome, Outcome::Ok, "{}", printed(&output));
        assert_eq!(row.figures["bytes"].value, f64::from(2 << 20));
        assert!(row.figures["throughput"].value < row.line_rate_bytes_per_second.expect("a rate"));
        assert!(row.other_load.is_some_and(|load| (0.0..=1.0).contains(&load.share)), "{:?}", row.other_load);
        assert!(row.figures.contains_key("server.processor") && row.latencies.contains_key("main"));
        assert_eq!(
            row.commands.iter().map(|command| command.name.as_str()).collect::<Vec<_>>(),
            ["server", "main"]
        );
        assert!(
            row.link.iter().any(|count| count.direction == "there" && count.counters.left.bytes > 2 << 20)
        );
        let series = results.series(row.series.as_ref().expect("sampled")).expect("a series");
        let ends = |host: &str| {
            series.iter().any(|line| matches!(line, SeriesLine::Connection(sample) if sample.host == host))
        };
        assert!(ends("client") && ends("server"), "both ends are looked at");
        assert!(series.iter().any(|line| matches!(line, SeriesLine::Link(_))));
    }
    assert_ne!(rows[0].seed, rows[1].seed);
    assert!(results.report_path().is_file());
    let said = printed(&output);
    assert!(said.contains("held: It is not faster than the line."), "{said}");

    let again = run(home.path(), PLAN, &[]).expect("a sandbox was made before");
    assert!(again.output.status.success(), "{}", printed(&again.output));
    assert_eq!(counted(&again.results), rows, "what is done is not done again");

    let short = run(home.path(), PLAN, &["--quick"]).expect("a sandbox was made before");
    assert_eq!(short.output.status.code(), Some(1), "{}", printed(&short.output));
    assert!(
        printed(&short.output).contains("has results of the plan's whole form"),
        "{}",
        printed(&short.output)
    );
}

#[test]
fn a_cell_that_fails_is_kept_and_the_others_run() {
    let home = tempfile::tempdir().expect("a directory");
    let broken =
        "[[factor]]\nname = \"server\"\nkey = \"cell.server.kind\"\nvalues = [\"none\", \"howdah\"]\n";
    let (head, tail) = PLAN.split_once("[[factor]]").expect("a factor");
    let claim = tail.split_once("[[claim]]").expect("a claim").1;
    let plan = format!("{head}{broken}[[claim]]{claim}");
    let Some(Ran { output, results, .. }) = run(home.path(), &plan, &[]) else { return };
    assert_eq!(output.status.code(), Some(3), "{}", printed(&output));
    let rows = counted(&results);
    let Outcome::Failed(why) = &rows[0].outcome else { panic!("{:?}", rows[0].outcome) };
    assert!(why.starts_with("client main: ") && why.contains("cannot connect to 10.77.0.1:2049"), "{why}");
    assert!(
        rows[0].commands.iter().any(|command| command.name == "main"),
        "what ran is recorded all the same"
    );
    assert_eq!(rows[1].outcome, Outcome::Ok, "{}", printed(&output));
    assert!(results.report_path().is_file());
}

#[test]
fn a_claim_that_does_not_hold_is_an_exit_code() {
    let home = tempfile::tempdir().expect("a directory");
    let text = PLAN.replace("at_most = 1.0", "at_least = 2.0");
    let Some(Ran { output, .. }) = run(home.path(), &text, &["--cell", "1"]) else { return };
    assert_eq!(output.status.code(), Some(4), "{}", printed(&output));
    assert!(printed(&output).contains("DID NOT HOLD: It is not faster"), "{}", printed(&output));
}

#[test]
fn an_interrupted_run_keeps_what_it_measured_and_goes_on() {
    let home = tempfile::tempdir().expect("a directory");
    let (plan, to) = (home.path().join("small.toml"), home.path().join("results"));
    // The second cell lasts until it is interrupted.
    let levels = "[[factor]]\nname = \"time\"\n[[factor.level]]\nlabel = \"short\"\n[[factor.level]]\nlabel = \"long\"\n\
                  set.cell.clients.main.options = [\"--size\", \"1M\", \"--time\", \"50s\"]\n";
    let (head, tail) = PLAN.split_once("[[factor]]").expect("a factor");
    let claim = tail.split_once("[[claim]]").expect("a claim").1;
    fs::write(&plan, format!("{head}{levels}[[claim]]{claim}")).expect("written");
    let mut command = Command::new(HOWDAH);
    command.args(["lab", "run"]).arg(&plan).arg("--to").arg(&to).stderr(Stdio::piped()).stdout(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let errors = BufReader::new(child.stderr.take().expect("piped"));
    let mut said = Vec::new();
    for line in errors.lines().map_while(Result::ok) {
        if line.starts_with("[1/2]") {
            let id = Pid::from_raw(i32::try_from(child.id()).expect("an id")).expect("not 0");
            kill_process(id, Signal::INT).expect("it lives");
        }
        said.push(line);
    }
    let status = child.wait().expect("it ends");
    let said = said.join("\n");
    if is_no_sandbox(&said, &to) {
        return;
    }
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("interrupted; the results so far are in"), "{said}");
    let results = ResultDirectory::open(&to).expect("there");
    assert_eq!(counted(&results).iter().map(|row| row.cell).collect::<Vec<_>>(), [1], "{said}");
    assert!(results.report_path().is_file());
}

#[test]
fn what_is_wrong_is_said_before_anything_is_made() {
    let home = tempfile::tempdir().expect("a directory");
    let plan = home.path().join("wrong.toml");
    fs::write(&plan, PLAN.replace("workload =", "wrokload =")).expect("written");
    let typo = home.path().join("typo.toml");
    fs::write(&typo, PLAN.replace("\"write\"", "\"wrtie\"")).expect("written");
    for (arguments, says) in [
        (vec![plan.to_str().expect("text")], "wrong.toml:8: "),
        (vec!["no-such-plan"], "howdah lab list"),
        (vec!["buffers-2008", "--only", "rtt=1ms"], "it has: "),
        (vec!["buffers-2008", "--cell", "1000"], "no cell"),
        (
            vec![typo.to_str().expect("text"), "--dry-run"],
            "cell.clients.main.workload: --workload cannot be \"wrtie\"",
        ),
        (vec![typo.to_str().expect("text")], "typo.toml: cell 1: "),
    ] {
        let (_, output) = end_of(Command::new(HOWDAH).args(["lab", "run"]).args(&arguments));
        assert_eq!(output.status.code(), Some(2), "{}", printed(&output));
        assert!(printed(&output).contains(says), "{}", printed(&output));
    }
}

#[test]
fn a_dry_run_shows_commands_that_need_nothing() {
    let (_, output) =
        end_of(Command::new(HOWDAH).args(["lab", "run", "buffers-2008", "--quick", "--dry-run"]));
    assert!(output.status.success(), "{}", printed(&output));
    let said = printed(&output);
    assert!(said.contains("howdah serve") && said.contains("nfs://10.77.0.1/"), "{said}");
}

/// A record of calls is played over any path: a plan's client names it.
#[test]
fn a_record_is_played_over_a_path() {
    let home = tempfile::tempdir().expect("a directory");
    let record = home.path().join("calls.jsonl");
    let header = r#"{"howdah_capture":1,"howdah":"0","started":"2026-11-22T00:00:00Z","names":"hashed","seconds_most":1,"calls_most":9,"bytes_most":9}"#;
    let read = |number: u64| {
        let (at, offset) = (number as f64 / 1e3, number * 65_536);
        format!(
            r#"{{"at":{at},"took":0.0001,"procedure":"READ","node":"f","kind":"file","size":1048576,"offset":{offset},"count":65536,"done":65536}}"#
        )
    };
    let lines: Vec<String> = [header.to_owned()].into_iter().chain((0..16).map(read)).collect();
    fs::write(&record, lines.join("\n") + "\n").expect("written");
    let played = format!(r#"options = ["--replay", "{}"] }}"#, record.display());
    let plan = PLAN
        .replace(r#"workload = "write", options = ["--size", "2M"] }"#, &played)
        .replace(r#"values = ["2ms", "4ms"]"#, r#"values = ["40ms"]"#);
    let Some(Ran { output, results, .. }) = run(home.path(), &plan, &[]) else { return };
    let rows = counted(&results);
    let [row] = &rows[..] else { panic!("{}", printed(&output)) };
    assert_eq!(row.outcome, Outcome::Ok, "{}", printed(&output));
    let figure = |name: &str| row.figures.get(name).map(|figure| figure.value);
    assert_eq!(
        (figure("bytes"), figure("calls")),
        (Some(f64::from(1 << 20)), Some(16.0)),
        "{}",
        printed(&output)
    );
    assert!(figure("p50").is_some_and(|seconds| seconds > 0.039), "the path is in it: {:?}", figure("p50"));
}
