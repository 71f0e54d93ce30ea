//! Errands of this workspace, run as `cargo xtask ERRAND`: the table of them, and nothing else.

mod bench;
mod clock;
mod fuzz;
mod release;
mod rustc;
mod sanitize;
mod test;
mod trust;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Errands of this workspace
#[derive(Debug, Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    errand: Errand,
}

#[derive(Debug, Subcommand)]
enum Errand {
    /// Measure the server, or count its system calls
    Bench(bench::Arguments),
    /// Run the fuzzers, each for so much time of a processor
    Fuzz(fuzz::Arguments),
    /// Make the binary, checksum and bill of materials that are given to others
    Release(release::Arguments),
    /// Run the tests of files with `unsafe` in them under AddressSanitizer
    Sanitize(sanitize::Arguments),
    /// Run every test, real clients included
    Test(test::Arguments),
    /// Try to break what howdah promises
    Trust(trust::Arguments),
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().errand {
        Errand::Bench(arguments) => bench::run(arguments).map(|()| ExitCode::SUCCESS),
        Errand::Fuzz(arguments) => fuzz::run(&arguments),
        Errand::Release(arguments) => release::run(&arguments).map(|()| ExitCode::SUCCESS),
        Errand::Sanitize(arguments) => sanitize::run(&arguments),
        Errand::Test(arguments) => test::run(&arguments),
        Errand::Trust(arguments) => trust::run(&arguments),
    }
}
