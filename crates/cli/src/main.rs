//! The `howdah` binary: arguments, then configuration, then one call into the floors below.

mod arguments;
mod asking;
mod benching;
mod capturing;
mod commands;
mod configuration;
mod copying;

mod places;
mod report;

mod running;
mod serving;
mod topping;

use std::process::ExitCode;

use clap::Parser;

use arguments::Howdah;
use commands::Failure;

fn main() -> ExitCode {
    match commands::run(&Howdah::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure @ (Failure::Told | Failure::Ended(_))) => failure.code(),
        Err(failure) => {
            report::complain(&failure);
            failure.code()
        }
    }
}
