//! `howdah completions`: from the same definitions as `--help`.

use clap::CommandFactory;

use crate::arguments::{CompletionsArguments, Howdah};
use crate::report;

/// Prints the script.
pub fn run(arguments: &CompletionsArguments) {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Howdah::command(), "howdah", &mut script);
    report::print_raw(&script);
}
