//! `howdah lab run` for a test: a plan's text, run to its end within a time, and whether this machine can at all.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use howdah_lab::record::{ResultDirectory, Row, latest};
use howdah_needs::{Lack, skipped};
use rustix::process::{Pid, Signal, kill_process};

/// The program under test.
pub const HOWDAH: &str = env!("CARGO_BIN_EXE_howdah");

/// Longer than the plans of tests may take, by their limits and the time that a guest has to boot.
const LIMIT: Duration = Duration::from_secs(400);

/// What it says where there can be no sandbox.
const NO_SANDBOX: [&str; 2] = ["namespaces", "/dev/net/tun"];

/// A run that ended.
pub struct Ran {
    /// Its process, after which its sandbox was called.
    pub process: u32,
    /// What it said.
    pub output: Output,
    /// What it measured.
    pub results: ResultDirectory,
}

/// Runs a plan into `home/results`; none, and it says so, where there can be no sandbox.
pub fn run(home: &Path, plan: &str, flags: &[&str]) -> Option<Ran> {
    let file = home.join("plan.toml");
    fs::write(&file, plan).expect("written");
    let to = home.join("results");
    let mut command = Command::new(HOWDAH);
    command.args(["lab", "run"]).arg(&file).arg("--to").arg(&to).args(flags);
    let (process, output) = end_of(&mut command);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if is_no_sandbox(&said, &to) {
        return None;
    }
    let results = ResultDirectory::open(&to).unwrap_or_else(|error| panic!("{error:#}\n{said}"));
    Some(Ran { process, output, results })
}

/// The rows that count: on a busy machine cells are measured twice.
pub fn rows(results: &ResultDirectory) -> Vec<Row> {
    let rows = results.rows().expect("rows");
    latest(&rows).into_iter().cloned().collect()
}

/// Whether that is why there are no results; then the test that asks is skipped.
pub fn is_no_sandbox(said: &str, results: &Path) -> bool {
    let missing = NO_SANDBOX.iter().any(|missing| said.contains(missing)) && !results.exists();
    if missing {
        skipped(Lack::Namespaces, said);
    }
    missing
}

/// Runs a command to its end: its process, and what it said. One that hangs is killed, so that the test fails.
pub fn end_of(command: &mut Command) -> (u32, Output) {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = child.expect("it starts");
    let process = Pid::from_child(&child);
    let (id, (tell, ended)) = (child.id(), channel());
    thread::spawn(move || tell.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(LIMIT) else {
        let _ = kill_process(process, Signal::KILL);
        panic!("it has not ended after {LIMIT:?}");
    };
    (id, output.expect("it runs"))
}
