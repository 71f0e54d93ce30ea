//! What cargo builds and tests.

use std::process::Command;

use anyhow::Result;

use super::processes::{Show, is_watched, run_and_look};
use super::step::{Context, Report};
use super::test_output::TestOutput;

/// Builds the binaries that interop runs.
pub fn build(context: &Context) -> Result<Report> {
    let status = run_and_look(
        cargo(context, "build").args(["--release", "-p", "howdah", "-p", "howdah-interop"]),
        |_| Show::Always,
    )?;
    if !status.success() {
        return Ok(Report::failed("cargo build --release failed"));
    }
    Ok(Report { passed: 1, ..Report::default() })
}

/// Runs all tests of the workspace, and counts.
pub fn run(context: &Context) -> Result<Report> {
    let built = run_and_look(cargo(context, "test").args(["--workspace", "--no-run"]), |_| Show::Always)?;
    if !built.success() {
        return Ok(Report::failed("building the tests failed"));
    }
    let mut output = TestOutput::default();
    let status = run_and_look(
        Command::new(context.workspace.cargo())
            // What tests say that passed is shown too: some say that they were skipped, and why.
            .args(["test", "--workspace", "--no-fail-fast", "--", "--show-output"])
            .current_dir(&context.workspace.root),
        |line| output.read(line),
    )?;
    let mut report = output.report;
    if !status.success() && report.failed == 0 {
        report.add(Report::failed(format!("cargo test ended with {status}")));
    }
    Ok(report)
}

/// Something that compiles; what, only a person who watches is told.
fn cargo(context: &Context, subcommand: &str) -> Command {
    let mut command = Command::new(context.workspace.cargo());
    command.arg(subcommand).current_dir(&context.workspace.root);
    if !is_watched() {
        command.arg("--quiet");
    }
    command
}
