//! `cargo xtask fuzz`: each fuzzer for so much time of a processor, and what came of it.
#![allow(clippy::print_stdout, reason = "its output is for a person")]

mod fuzzer;

use std::collections::VecDeque;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Duration;
use std::{fs, thread};

use anyhow::{Context, Result, ensure};

use crate::rustc;
use crate::workspace::Workspace;
use fuzzer::{Fuzzer, Outcome};

/// What is built here is built apart: another compiler, other flags.
const TARGET: &str = "fuzz";

/// Run the fuzzers, each for so much time of a processor
///
/// They are built with AddressSanitizer and report the code that they reach. What reaches something new is kept in the target
/// directory, so that the next run goes on from there. A finding ends its fuzzer, and makes the command fail. Takes a nightly
/// Rust, and cargo-fuzz.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example: cargo xtask fuzz rpc_headers handles --minutes 30")]
pub struct Arguments {
    /// Only these; without any, all (fuzz/fuzz_targets)
    #[arg(value_name = "FUZZER")]
    fuzzers: Vec<String>,
    /// So long each, in minutes of a processor
    #[arg(long, value_name = "N", default_value_t = 1.0, value_parser = minutes)]
    minutes: f64,
    /// So many at once; all processors, if it is not said
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Afterwards add to fuzz/corpus what reaches code that nothing there reaches
    #[arg(long)]
    keep: bool,
}

/// Does it.
pub fn run(arguments: &Arguments) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    let names = chosen(&arguments.fuzzers, &workspace.root.join("fuzz/fuzz_targets"))?;
    let target = workspace.target.join(TARGET);
    let host = rustc::nightly_host(&workspace)?;
    build(&workspace, &target, &host)?;
    let binaries = target.join(&host).join("release");
    let time = Duration::from_secs_f64(arguments.minutes * 60.0);
    let jobs = arguments.jobs.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get);
    println!("{} fuzzers, {jobs} at once, {} min of a processor each\n", names.len(), arguments.minutes);
    println!("{:<18} {:>7} {:>12} {:>7} {:>7}", "fuzzer", "cpu s", "executions", "edges", "inputs");
    let (waiting, failed) = (Mutex::new(VecDeque::from(names)), Mutex::new(Vec::new()));
    let work = || -> Result<()> {
        let next = || waiting.lock().ok().and_then(|mut waiting| waiting.pop_front());
        while let Some(name) = next() {
            let fuzzer = Fuzzer::of(&name, &binaries, &workspace.root.join("fuzz"), &target)?;
            let outcome = fuzzer.run(time)?;
            show(&name, &outcome);
            if outcome.finding.is_some() {
                failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(name);
            } else if arguments.keep {
                fuzzer.keep().with_context(|| format!("adding to the corpus of {name}"))?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("it does not panic"))
    })?;
    let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    if failed.is_empty() {
        println!("\nPASS  nothing was found");
        return Ok(ExitCode::SUCCESS);
    }
    println!("\nFAIL  {}", failed.join(", "));
    Ok(ExitCode::FAILURE)
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if minutes > 0.0 && minutes <= 10_000.0 => Ok(minutes),
        _ => Err("a number of minutes above 0, and 10,000 at most".into()),
    }
}

/// The fuzzers there are, or those that are named.
fn chosen(named: &[String], sources: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(sources).with_context(|| format!("reading {}", sources.display()))?;
    let name =
        |entry: std::io::Result<fs::DirEntry>| Some(entry.ok()?.path().file_stem()?.to_str()?.to_owned());
    let mut all: Vec<String> = entries.filter_map(name).collect();
    all.sort();
    for name in named {
        ensure!(all.contains(name), "no fuzzer is called {name:?}; there are {}", all.join(", "));
    }
    all.retain(|name| named.is_empty() || named.contains(name));
    Ok(all)
}

fn build(workspace: &Workspace, target: &Path, host: &str) -> Result<()> {
    println!("building the fuzzers, which takes minutes the first time");
    let status = rustc::nightly(workspace, &["cargo", "fuzz", "build", "--target", host])
        .env("CARGO_TARGET_DIR", target)
        .status()
        .context("starting cargo of the nightly Rust")?;
    ensure!(status.success(), "the fuzzers were not built; is cargo-fuzz there? (cargo install cargo-fuzz)");
    Ok(())
}

fn show(name: &str, outcome: &Outcome) {
    let Outcome { processor, executions, edges, inputs, finding } = outcome;
    println!("{name:<18} {:>7.0} {executions:>12} {edges:>7} {inputs:>7}", processor.as_secs_f64());
    if let Some(finding) = finding {
        println!("    FOUND  {finding}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_chosen_unless_named_and_what_is_not_there_is_refused() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/fuzz_targets");
        let all = chosen(&[], &sources).expect("some");
        assert!(all.len() > 10 && all.is_sorted(), "{all:?}");
        let twice = ["handles".into(), "frames".into(), "handles".into()];
        assert_eq!(chosen(&twice, &sources).expect("they are there"), ["frames", "handles"]);
        let error = chosen(&["handels".into()], &sources).expect_err("no such").to_string();
        assert!(error.contains("\"handels\"") && error.contains("handles"), "{error}");
    }
}
