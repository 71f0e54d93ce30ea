//! The scenarios of `interop/`, as the user that we are.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;

use super::newer_guest;
use super::processes::{Show, run_and_look};
use super::step::{Context, Report};
use crate::release;
use crate::workspace::Workspace;

/// Scenarios that run at once beyond one for each CPU.
const BESIDE: usize = 1;

/// Runs all scenarios.
pub fn run(context: &Context) -> Result<Report> {
    let workspace = &context.workspace;
    let mut command = Command::new(workspace.binary("howdah-interop"));
    if let Some(directory) = newer_guest::directory(context) {
        command.arg("--newer-guest").arg(directory);
    }
    let mut report = Report::default();
    match image(workspace) {
        Ok(image) => _ = command.arg("--image").arg(image),
        Err(error) => report.add(Report::failed(format!("making a container image: {error:#}"))),
    }
    let scenarios = run_scenarios(
        &mut command,
        &workspace.binary("howdah"),
        &workspace.target.join("interop"),
        context.quick,
    )?;
    report.add(scenarios);
    Ok(report)
}

/// A container image of the binary under test.
fn image(workspace: &Workspace) -> Result<PathBuf> {
    let to = image_file(workspace);
    release::image_for_tests(&workspace.binary("howdah"), &to)?;
    Ok(to)
}

/// Where it is, once it is made.
pub fn image_file(workspace: &Workspace) -> PathBuf {
    workspace.target.join("howdah.oci.tar")
}

/// Runs the scenarios with a command that starts `howdah-interop`, and counts.
pub fn run_scenarios(command: &mut Command, binary: &Path, work: &Path, quick: bool) -> Result<Report> {
    command.arg("--binary").arg(binary).arg("--work").arg(work);
    // Guests and disks leave CPUs idle while they start and wait.
    let jobs = std::thread::available_parallelism().map_or(1, usize::from) + BESIDE;
    command.arg("--jobs").arg(jobs.to_string());
    if quick {
        command.arg("--quick");
    }
    let mut report = Report::default();
    let status = run_and_look(command, |line| report.count_scenario(line))?;
    if !status.success() && report.failed == 0 {
        report.add(Report::failed(format!("howdah-interop ended with {status}")));
    }
    Ok(report)
}

impl Report {
    /// Counts a scenario's line: `PASS  name …`.
    pub fn count_scenario(&mut self, line: &str) -> Show {
        match line.split_whitespace().next() {
            Some("PASS") => self.passed += 1,
            Some("FAIL") => {
                self.failed += 1;
                self.remarks.push(line.to_owned());
            }
            Some("SKIP") => {
                self.skipped += 1;
                self.remarks.push(line.to_owned());
            }
            _ => {}
        }
        Show::Always
    }
}
