//! `howdah lab`, one file per subcommand.

mod check;
mod describe;
mod dry_run;
mod inside;
mod list;
mod path;
mod paths;
mod report;
mod run;
mod shell;
mod watch;

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
