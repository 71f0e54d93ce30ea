//! The `howdah` binary: arguments, then configuration, then one call into the floors below.

mod arguments;
mod commands;
mod configuration;

mod report;

mod running;
mod serving;

use std::process::ExitCode;

use clap::Parser;

use arguments::Howdah;

fn main() -> ExitCode {
    match commands::run(&Howdah::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report::complain(&failure);
            failure.code()
        }
    }
}
