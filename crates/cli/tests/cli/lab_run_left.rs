//! `howdah lab run`: nothing of it is left but its results, however it ends. Where no sandbox can be made, it says so and is
//! skipped.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use howdah_needs::{Lack, skipped};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tempfile::TempDir;

use crate::laboratory::{LIMIT, Laboratory, end_of, ended};

/// A cell over a wire, with a server and a client. `limit` is for the machine on which it takes longest.
const PLAN: &str = r#"name = "one-cell"
title = "One cell"
asks = "What is left of it."
seed = 7
[cell]
limit = "60s"
path = { rtt = "2ms", rate = "100Mbit" }
clients.main = { kind = "howdah", workload = "write", options = [SIZE] }
sample.every = "20ms"
"#;

/// A laboratory, and a place for plan and results that is not where its temporary files are.
struct Run {
    laboratory: Laboratory,
    place: TempDir,
}

impl Run {
    /// None where it cannot work.
    fn new(test: &str, options: &str) -> Option<Self> {
        let laboratory = Laboratory::new(test);
        if let Some(reason) = laboratory.why_not() {
            skipped(Lack::Namespaces, reason);
            return None;
        }
        let place = tempfile::tempdir().expect("a directory");
        fs::write(place.path().join("plan.toml"), PLAN.replace("SIZE", options)).expect("written");
        Some(Self { laboratory, place })
    }

    fn command(&self) -> Command {
        let at = |name: &str| self.place.path().join(name).display().to_string();
        self.laboratory.lab(&["run", &at("plan.toml"), "--to", &at("results")])
    }

    /// Until its client is at work, so that there is everything that can be left.
    fn start(&self) -> Child {
        let mut command = self.command();
        // A terminal's ^C goes to a whole group.
        command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let child = command.spawn().expect("starting howdah");
        let start = Instant::now();
        while !self.laboratory.processes().iter().any(|process| process.contains(" bench ")) {
            assert!(start.elapsed() < LIMIT, "only these: {:?}", self.laboratory.processes());
            thread::sleep(Duration::from_millis(10));
        }
        child
    }

    fn results(&self) -> Vec<String> {
        let entries = fs::read_dir(self.place.path().join("results")).expect("results").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }
}

fn send(child: &Child, signal: Signal) {
    killpg(Pid::from_raw(child.id() as i32), signal).expect("a signal");
}

/// Longer than the test: it ends when it is made to.
const LONG: &str = r#""--size", "1M", "--time", "50s""#;

#[test]
fn after_success() {
    let Some(run) = Run::new("run-success", r#""--size", "1M""#) else { return };
    let output = end_of(&mut run.command());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(run.results().contains(&"report.html".to_owned()), "{:?}", run.results());
    run.laboratory.assert_nothing_left();
}

#[test]
fn after_a_cell_that_failed() {
    let Some(run) = Run::new("run-failure", r#""--size", "1M""#) else { return };
    // No host has this address: the server fails once it is started.
    let plan = run.place.path().join("plan.toml");
    let text =
        fs::read_to_string(&plan).expect("the plan") + "server.options = ['--listen', '203.0.113.1']\n";
    fs::write(&plan, text).expect("written");
    let output = end_of(&mut run.command());
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    run.laboratory.assert_nothing_left();
}

#[test]
fn after_control_c() {
    let Some(run) = Run::new("run-control-c", LONG) else { return };
    let mut child = run.start();
    send(&child, Signal::SIGINT);
    assert_eq!(ended(&mut child).code(), Some(1));
    run.laboratory.assert_nothing_left();
}

#[test]
fn after_it_was_killed_and_another_one_began() {
    let Some(run) = Run::new("run-killed", LONG) else { return };
    let mut child = run.start();
    kill_alone(&child);
    ended(&mut child);
    run.laboratory.wait_for_its_end();
    let left = run.laboratory.runs();
    assert!(left.iter().all(|directory| is_sandbox(directory)) && left.len() == 1, "{left:?}");
    assert!(run.laboratory.output(&["--quiet", "--", "true"]).status.success());
    run.laboratory.assert_nothing_left();
}

/// The outermost process, as somebody does who looks for its id: its group hears nothing.
fn kill_alone(child: &Child) {
    nix::sys::signal::kill(Pid::from_raw(child.id() as i32), Signal::SIGKILL).expect("a signal");
}

fn is_sandbox(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name.to_string_lossy().parse::<u32>().is_ok())
}
