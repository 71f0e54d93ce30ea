//! `cargo xtask test`: everything that can be tested on this machine, and in plain words what could not.
#![allow(clippy::print_stdout, reason = "its output is for a person")]

mod all_tests;
mod arguments;
mod guest_registers;
mod interop;
mod lab;
mod newer_guest;
mod packages;
mod processes;
mod programs;
mod services;
mod step;
mod summary;
mod test_output;
mod trust;
mod unprivileged;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::Result;

use crate::workspace::Workspace;
pub use arguments::Arguments;
use step::{Context, Report, Step};

/// In this order: each may use what the ones before it made.
const STEPS: &[Step] = &[
    Step { name: "packages", about: "Debian packages that the steps below need", run: packages::install },
    Step {
        name: "build",
        about: "every binary and test program, in the profile of tests",
        run: programs::build,
    },
    Step { name: "tests", about: "units, properties, conformance, replayed corpora", run: all_tests::run },
    Step {
        name: "interop",
        about: "clients and servers of other people: Linux, Ganesha, libnfs",
        run: interop::run,
    },
    Step { name: "lab", about: "short experiments on emulated paths, to their reports", run: lab::run },
    Step { name: "trust", about: "short campaigns of kills, power cuts and faults", run: trust::run },
    Step {
        name: "unprivileged",
        about: "store tests and interop again, as an ordinary user",
        run: unprivileged::run,
    },
];

/// Runs the steps and says what ran.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let context = Context { workspace: Workspace::find()?, quick: arguments.quick };
    let mut reports = Vec::new();
    for step in STEPS.iter().filter(|step| arguments.chooses(step.name)) {
        println!("\n== {}: {}", step.name, step.about);
        let start = Instant::now();
        let report = (step.run)(&context).unwrap_or_else(|error| Report::failed(format!("{error:#}")));
        reports.push((step.name, start.elapsed(), report));
    }
    Ok(summary::print(&reports))
}
