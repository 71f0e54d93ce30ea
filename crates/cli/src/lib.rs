//! All of the `howdah` binary: arguments, then configuration, then one call into the floors below.

mod admin;
mod arguments;
mod bench;
mod capture;
mod commands;
mod copy;
mod heads;
mod pass_through;
mod report;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use arguments::{Howdah, Wrong};
use commands::Failure;

/// Does what was typed.
pub fn run() -> ExitCode {
    let words = arguments::typed(std::env::args_os());
    let typed = match Howdah::try_parse_from(&words) {
        Ok(typed) => typed,
        Err(error) => return refuse(error, &words),
    };
    let outcome = commands::run(&typed.command);
    howdah_daemon::host::save_paths();
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
