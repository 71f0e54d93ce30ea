//! Runs scenarios one after the other, each in a process and a directory of its own, under its time limit.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tempfile::TempDir;

use crate::job::SKIPPED;
use crate::machine::{Machine, unshare_flags};
use crate::outcome::Outcome;
use crate::scenario::Scenario;

/// How often the parent looks at its child.
const LOOK: Duration = Duration::from_millis(20);

/// What holds for all scenarios of a run.
#[derive(Debug)]
pub struct Runner {
    /// The howdah under test.
    pub binary: PathBuf,
    /// Short sizes.
    pub quick: bool,
    /// Sizes other than the scenarios' own.
    pub set: Vec<(String, u64)>,
    /// Of every random choice.
    pub seed: u64,
    /// Where each scenario's directory is made.
    pub work: PathBuf,
    /// Where test suites of other people were built.
    pub suites: Option<PathBuf>,
    /// The container image under test.
    pub image: Option<PathBuf>,
    /// A guest kernel whose client speaks TLS, if it is not the system's.
    pub newer_guest: Option<PathBuf>,
    /// Keep the directories of passed scenarios too.
    pub keep: bool,
    /// What this machine can do.
    pub machine: Machine,
    /// Set by SIGINT and SIGTERM.
    pub interrupted: Arc<AtomicBool>,
}

impl Runner {
    /// Runs one scenario and says how it ended.
    pub fn run(&self, scenario: &Scenario) -> Result<Outcome> {
        if let Some(reason) = self.machine.why_not(scenario) {
            return Ok(Outcome::Skipped { reason });
        }
        if scenario.newer_guest && self.newer_guest.is_none() && !self.machine.has_tls_guest() {
            let reason = "no guest kernel of 6.5 or later with tlshd; --newer-guest names one".into();
            return Ok(Outcome::Skipped { reason });
        }
        if scenario.container && self.image.is_none() {
            let reason = "no container image; --image names one".into();
            return Ok(Outcome::Skipped { reason });
        }
        let directory = tempfile::Builder::new()
            .prefix(&format!("{}-", scenario.name))
            .tempdir_in(&self.work)
            .with_context(|| format!("making a directory in {}", self.work.display()))?;
        let outcome = self.run_in(scenario, directory.path());
        let outcome = outcome?.against(scenario.expected_failure);
        Ok(self.settle(outcome, directory))
    }

    fn run_in(&self, scenario: &Scenario, work: &Path) -> Result<Outcome> {
        let mut child = self.start(scenario, work)?;
        let give_up = Instant::now() + scenario.limit;
        let status = loop {
            if let Some(status) = child.try_wait().context("waiting for the scenario")? {
                break status;
            }
            if self.interrupted.load(Ordering::Relaxed) {
                end(&mut child)?;
                bail!("interrupted in scenario {}", scenario.name);
            }
            if Instant::now() > give_up {
                end(&mut child)?;
                return Ok(failed(format!("still not done after {:?}; {}", scenario.limit, last_line(work))));
            }
            thread::sleep(LOOK);
        };
        Ok(match status.code() {
            Some(0) => Outcome::Passed { notes: said(work, "note: ") },
            Some(SKIPPED) => Outcome::Skipped { reason: said(work, "skip: ").join("; ") },
            _ => failed(reason_of(work, &status.to_string())),
        })
    }

    /// Starts this program again, in namespaces of its own if the scenario wants them.
    fn start(&self, scenario: &Scenario, work: &Path) -> Result<Child> {
        let program = env::current_exe().context("asking for the path of this program")?;
        // The kernel kills it if we die first, and with it its process namespace.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", "--"]);
        if scenario.isolated() {
            command.arg("unshare").args(unshare_flags(self.machine.is_root())).arg("--");
        }
        command.arg(program);
        command.arg("inside").arg(scenario.name).arg("--work").arg(work).arg("--binary").arg(&self.binary);
        command.arg("--seed").arg(self.seed.to_string());
        if self.quick {
            command.arg("--quick");
        }
        for (name, number) in &self.set {
            command.arg("--set").arg(format!("{name}={number}"));
        }
        if let Some(suites) = &self.suites {
            command.arg("--suites").arg(suites);
        }
        if let Some(image) = &self.image {
            command.arg("--image").arg(image);
        }
        if let Some(directory) = &self.newer_guest {
            command.arg("--newer-guest").arg(directory);
        }
        let errors = fs::File::create(work.join("inside.txt")).context("making a log")?;
        let out = errors.try_clone().context("making a log")?;
        command
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(errors)
            .spawn()
            .context("starting the scenario's process")
    }

    /// Removes the scenario's directory, or keeps it and says where.
    fn settle(&self, outcome: Outcome, directory: TempDir) -> Outcome {
        match outcome {
            Outcome::Failed { reason, .. } => Outcome::Failed { reason, kept: Some(directory.keep()) },
            other => {
                if self.keep {
                    let _ = directory.keep();
                }
                other
            }
        }
    }
}

/// Kills the child, and with it its process namespace: nothing of the scenario is left.
fn end(child: &mut Child) -> Result<()> {
    child.kill().context("killing the scenario's process")?;
    child.wait().context("waiting for the scenario's process")?;
    Ok(())
}

fn failed(reason: String) -> Outcome {
    Outcome::Failed { reason, kept: None }
}

fn reason_of(work: &Path, status: &str) -> String {
    let text = fs::read_to_string(work.join("inside.txt")).unwrap_or_default();
    let text = text.trim();
    if text.is_empty() { format!("the scenario's process ended with {status}") } else { text.to_owned() }
}

fn said(work: &Path, prefix: &str) -> Vec<String> {
    let text = fs::read(work.join("log/job.txt")).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.lines().filter_map(|line| line.strip_prefix(prefix)).map(str::to_owned).collect()
}

fn last_line(work: &Path) -> String {
    let text = fs::read(work.join("log/job.txt")).unwrap_or_default();
    match String::from_utf8_lossy(&text).lines().last() {
        Some(line) => format!("the job's last line: {line}"),
        None => "the job said nothing".to_owned(),
    }
}
