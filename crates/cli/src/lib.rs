//! All of the `howdah` binary: arguments, then configuration, then one call into the floors below. A library for its own `main`, and for
//! the fuzzer that reads configurations by it.

mod arguments;
mod asking;
mod benching;
mod capturing;
mod commands;
mod comparing;
mod configuration;
mod converting;
mod copying;
mod mounting;
mod passing;
mod places;
mod report;

mod running;
mod serving;
mod topping;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use arguments::{Howdah, Wrong};
use commands::Failure;

pub use configuration::{ServerConfig, load_text};

/// Does what was typed.
pub fn run() -> ExitCode {
    let words = arguments::typed(std::env::args_os());
    let typed = match Howdah::try_parse_from(&words) {
        Ok(typed) => typed,
        Err(error) => return refuse(error, &words),
    };
    let outcome = commands::run(&typed.command);
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

/// Says what is wrong with what was typed, or prints the help that was asked for.
fn refuse(error: clap::Error, words: &[OsString]) -> ExitCode {
    match arguments::wrong(error, words) {
        Wrong::Help(help) => help.exit(),
        Wrong::Usage(what) => {
            let who = if what.starts_with("howdah ") { "" } else { "howdah: " };
            report::complain(&format!("{who}{what}"));
            Failure::Usage(anyhow::Error::msg(what)).code()
        }
    }
}
