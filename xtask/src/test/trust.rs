//! The campaigns of `cargo xtask trust` in their short form.

use std::process::Command;

use anyhow::Result;

use super::lab::is_lacking;
use super::processes::run_and_look;
use super::step::{Context, Report};

/// Runs them against the binary that tests use; where there can be no sandbox it says why.
pub fn run(context: &Context) -> Result<Report> {
    let mut command = Command::new(context.workspace.binary("howdah-errands"));
    command.args(["trust", "--quick", "--binary"]).arg(context.workspace.binary("howdah"));
    if let Some(why) = super::lab::refusal(&context.workspace.binary("howdah"))? {
        let remark = format!("campaigns: {why}");
        return Ok(if is_lacking(&why) { Report::skipped(remark) } else { Report::failed(remark) });
    }
    let mut report = Report::default();
    let status = run_and_look(&mut command, |line| report.count_scenario(line))?;
    if !status.success() && report.failed == 0 {
        report.add(Report::failed(format!("howdah-errands trust ended with {status}")));
    }
    Ok(report)
}
