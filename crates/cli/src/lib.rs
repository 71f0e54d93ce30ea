//! All of the `howdah` binary: arguments, then configuration, then one call into the floors below. A library for its own `main`, and for
//! the fuzzer that reads configurations by it.

mod arguments;
mod asking;
mod benching;
mod capturing;
mod commands;
mod configuration;
mod copying;
mod mounting;
mod passing;
mod places;
mod report;

mod running;
mod serving;
mod topping;

use std::process::ExitCode;

use clap::Parser;

use arguments::Howdah;
use commands::Failure;

pub use configuration::{ServerConfig, load_text};

/// Does what was typed.
pub fn run() -> ExitCode {
    let outcome = commands::run(&Howdah::parse_from(arguments::typed(std::env::args_os())).command);
    running::save_paths();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure @ (Failure::Told | Failure::Ended(_))) => failure.code(),
        Err(failure) => {
            report::complain(&failure);
            failure.code()
        }
    }
}
