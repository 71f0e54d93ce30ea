//! The errands of `cargo xtask` that need howdah's own crates. They are built only when one of them is asked for.

mod bench;
mod trust;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    Bench(bench::Arguments),
    /// Try to break what howdah promises
    Trust(trust::Arguments),
}

fn main() -> anyhow::Result<ExitCode> {
    match Arguments::parse().errand {
        Errand::Bench(arguments) => bench::run(arguments).map(|()| ExitCode::SUCCESS),
        Errand::Trust(arguments) => trust::run(&arguments),
    }
}
