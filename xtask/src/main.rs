//! Errands of this workspace, run as `cargo xtask ERRAND`: the table of them, and nothing else.

mod fuzz;
mod heavy;
mod release;
mod rustc;
mod sanitize;
mod test;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use heavy::{Build, become_errand};

/// Errands of this workspace
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    errand: Errand,
}

#[derive(Debug, Subcommand)]
enum Errand {
    /// Measure the server, or count its system calls
    #[command(disable_help_flag = true, after_help = "More: cargo xtask bench --help")]
    Bench(heavy::Arguments),
    /// Run the fuzzers, each for so much time of a processor
    Fuzz(fuzz::Arguments),
    /// Make the binary, checksum and bill of materials that are given to others
    Release(release::Arguments),
    /// Run the tests of files with `unsafe` in them under AddressSanitizer
    Sanitize(sanitize::Arguments),
    /// Run every test, real clients included
    Test(test::Arguments),
    /// Try to break what howdah promises
    #[command(disable_help_flag = true, after_help = "More: cargo xtask trust --help")]
    Trust(heavy::Arguments),
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().errand {
        Errand::Bench(arguments) => match become_errand("bench", Build::Optimized, &arguments)? {},
        Errand::Fuzz(arguments) => fuzz::run(&arguments),
        Errand::Release(arguments) => release::run(&arguments).map(|()| ExitCode::SUCCESS),
        Errand::Sanitize(arguments) => sanitize::run(&arguments),
        Errand::Test(arguments) => test::run(&arguments),
        Errand::Trust(arguments) => match become_errand("trust", Build::AsThis, &arguments)? {},
    }
}
