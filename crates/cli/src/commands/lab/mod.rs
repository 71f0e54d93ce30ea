//! `howdah lab`, one file per subcommand.

mod check;
mod describe;
mod dry_run;
mod list;
mod path;
mod paths;
mod report;
mod run;
mod shell;
mod watch;

use std::process::ExitCode;

use howdah_lab::sandbox::{self, Entered, Sandbox};

use super::Failure;
use crate::arguments::{LabArguments, LabCommand};

/// Does what was asked.
pub fn run(arguments: &LabArguments) -> Result<(), Failure> {
    match &arguments.command {
        LabCommand::Run(arguments) => run::run(arguments),
        LabCommand::List(arguments) => list::run(arguments),
        LabCommand::Report(arguments) => report::run(arguments),
        LabCommand::Shell(arguments) => shell::run(arguments),
        LabCommand::Paths(arguments) => paths::run(arguments),
    }
}

/// Does something in a sandbox. It is called by three processes in turn, so that nothing may come before it that is not to be
/// done by each of them.
fn inside(work: impl FnOnce(&Sandbox) -> Result<(), Failure>) -> Result<(), Failure> {
    match sandbox::enter()? {
        Entered::Inside(sandbox) => work(&sandbox),
        Entered::Done(code) if code == ExitCode::SUCCESS => Ok(()),
        // Whoever failed inside has said why.
        Entered::Done(code) => Err(Failure::Ended(code)),
    }
}
