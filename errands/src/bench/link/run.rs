//! One section after the other, in a sandbox, so that nothing is left however it ends.
#![allow(clippy::print_stdout, reason = "the table is its purpose")]

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use howdah_lab::sandbox::{Entered, enter};

use super::super::arguments::Link;
use super::super::machine;
use super::elsewhere::Elsewhere;
use super::{delay, loss, rate, throughput};

/// Measures one thing, and prints it.
type Section = fn(&Link) -> anyhow::Result<()>;

/// Does it.
pub fn run(what: &Link) -> anyhow::Result<()> {
    match enter()? {
        Entered::Done(code) if code == ExitCode::SUCCESS => return Ok(()),
        Entered::Done(_) => bail!("it failed inside; the reason is above"),
        Entered::Inside(_) => {}
    }
    for (name, value) in machine::describe() {
        println!("{name}: {value}");
    }
    let elsewhere = Elsewhere::watch(Duration::from_secs(1))?;
    println!(
        "busy with other work: {:.2} cores; taken by the hypervisor: {:.2}",
        elsewhere.busy, elsewhere.stolen
    );
    let wanted = |name: &str| what.rows.is_empty() || what.rows.iter().any(|row| name.starts_with(row));
    let sections: [(&str, Section); 4] =
        [("throughput", throughput::run), ("delay", delay::run), ("rate", rate::run), ("loss", loss::run)];
    for (name, section) in sections {
        if wanted(name) {
            println!();
            section(what)?;
        }
    }
    Ok(())
}

/// Whether a goal is met, in a word.
pub fn met(yes: bool) -> &'static str {
    if yes { "met" } else { "NOT MET" }
}
