//! One fuzzer: runs until it has had its time of a processor, or found something.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use xtask::clock::ProcessClock;

/// How often its time is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// One input may take so long, in seconds, on a machine that does other things too.
const INPUT_SECONDS: u32 = 300;
/// libFuzzer ends with this when it was interrupted.
const INTERRUPTED: i32 = 72;

/// A fuzzer, and where its files are.
pub struct Fuzzer {
    binary: PathBuf,
    /// What is in the repository.
    corpus: PathBuf,
    /// What reached something new, of this run and those before.
    found: PathBuf,
    /// Where a finding goes.
    artifacts: PathBuf,
    log: PathBuf,
}

/// What came of a run.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// What it had of a processor.
    pub processor: Duration,
    /// Inputs that were run.
    pub executions: u64,
    /// Places in the code that were reached.
    pub edges: u64,
    /// Inputs in its corpus, which reach all of them.
    pub inputs: u64,
    /// What was found, if something was, and where more is to be read.
    pub finding: Option<String>,
}

impl Fuzzer {
    /// That one: built in `binaries`, its corpus below `fuzz`, what it makes below `target`.
    pub fn of(name: &str, binaries: &Path, fuzz: &Path, target: &Path) -> Result<Self> {
        let made = |directory: PathBuf| {
            fs::create_dir_all(&directory).with_context(|| format!("making {}", directory.display()))?;
            anyhow::Ok(directory)
        };
        Ok(Self {
            binary: binaries.join(name),
            corpus: made(fuzz.join("corpus").join(name))?,
            found: made(target.join("found").join(name))?,
            artifacts: made(fuzz.join("artifacts").join(name))?,
            log: made(target.join("logs"))?.join(name),
        })
    }

    /// Runs it for so much time of a processor.
    pub fn run(&self, time: Duration) -> Result<Outcome> {
        let mut command = self.command()?;
        command.args([&self.found, &self.corpus]).args(["-print_final_stats=1", "-report_slow_units=600"]);
        command.arg(format!("-timeout={INPUT_SECONDS}"));
        command.arg(format!("-artifact_prefix={}/", self.artifacts.display()));
        let (processor, status) = watch(command.spawn().with_context(|| self.what())?, time)?;
        let log = fs::read(&self.log).with_context(|| format!("reading {}", self.log.display()))?;
        let mut outcome = Outcome { processor, ..outcome_of(&String::from_utf8_lossy(&log)) };
        if status.is_some() {
            outcome.finding = Some(format!("see {} and {}", self.log.display(), self.artifacts.display()));
        }
        Ok(outcome)
    }

    /// Adds to the corpus in the repository what reaches code that nothing there reaches, in few inputs: not what reaches it oftener.
    pub fn keep(&self) -> Result<()> {
        let status = self
            .command()?
            .args(["-set_cover_merge=1", "-use_counters=0"])
            .args([&self.corpus, &self.found])
            .status()?;
        ensure!(status.success(), "{status}; see {}", self.log.display());
        Ok(())
    }

    fn command(&self) -> Result<Command> {
        let log = File::create(&self.log).with_context(|| format!("making {}", self.log.display()))?;
        // It ends with the process that started it, however that ends.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]).arg(&self.binary);
        // It would change what is a finding.
        command.env_remove("ASAN_OPTIONS").stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        Ok(command)
    }

    fn what(&self) -> String {
        format!("starting {}", self.binary.display())
    }
}

/// Interrupts a process once it has had so much time of a processor. What it had of it, and how it ended, if it did by itself or
/// otherwise than one that was interrupted.
fn watch(mut child: Child, time: Duration) -> Result<(Duration, Option<ExitStatus>)> {
    let id = Pid::from_child(&child);
    let clock = ProcessClock::of(child.id())?;
    let mut had = Duration::ZERO;
    loop {
        if let Some(status) = child.try_wait().context("waiting for a fuzzer")? {
            return Ok((had, Some(status)));
        }
        had = clock.now().unwrap_or(had);
        if had >= time {
            break;
        }
        thread::sleep(LOOK);
    }
    // Who is started in the background of a script may have to ignore SIGINT, which does the same.
    kill_process(id, Signal::TERM).context("interrupting a fuzzer")?;
    let status = child.wait().context("waiting for a fuzzer")?;
    Ok((had, (status.code() != Some(INTERRUPTED)).then_some(status)))
}

/// What libFuzzer printed: lines such as `#1024 pulse cov: 489 ft: 799 corp: 60/2390b …`, and figures at its end.
fn outcome_of(log: &str) -> Outcome {
    let number = |text: &str| text.split(|other: char| !other.is_ascii_digit()).next()?.parse::<u64>().ok();
    let last = |mark: &str| {
        let line = log.lines().rfind(|line| line.starts_with('#') && line.contains(mark));
        line.and_then(|line| number(line.split(mark).nth(1)?.trim_start())).unwrap_or(0)
    };
    let executions = log.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    Outcome {
        executions: executions.and_then(|text| number(text.trim_start())).unwrap_or(0),
        edges: last(" cov: "),
        inputs: last(" corp: "),
        ..Outcome::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stand-in for a fuzzer.
    fn fuzzer(script: &str) -> (Fuzzer, tempfile::TempDir) {
        let place = tempfile::tempdir().expect("a directory");
        let (binaries, fuzz, target) = (place.path(), place.path().join("fuzz"), place.path().join("target"));
        let fuzzer = Fuzzer::of("it", binaries, &fuzz, &target).expect("directories");
        let text = place.path().join("text");
        fs::write(&text, format!("#!/bin/sh\n{script}\n")).expect("a script");
        // By another process: a file that is open for writing, if only by a child that another test has just begun, does not run.
        let made = Command::new("install").args([&text, &fuzzer.binary]).status().expect("coreutils");
        assert!(made.success());
        (fuzzer, place)
    }

    #[test]
    fn one_that_finds_nothing_is_interrupted_once_it_had_its_time() {
        let script = "echo '#7 pulse  cov: 489 ft: 799 corp: 60/2390b lim: 96' >&2
            trap 'echo stat::number_of_executed_units: 1234 >&2; exit 72' TERM
            while :; do :; done";
        let (fuzzer, _place) = fuzzer(script);
        let time = Duration::from_millis(200);
        let outcome = fuzzer.run(time).expect("it runs");
        assert!(outcome.processor >= time, "{outcome:?}");
        let wanted =
            Outcome { processor: outcome.processor, executions: 1234, edges: 489, inputs: 60, finding: None };
        assert_eq!(outcome, wanted);
    }

    #[test]
    fn one_that_ends_by_itself_has_found_something() {
        let (fuzzer, _place) = fuzzer("exit 77");
        let finding = fuzzer.run(Duration::from_secs(60)).expect("it runs").finding;
        assert!(finding.is_some_and(|finding| finding.contains("artifacts/it")));
    }
}
