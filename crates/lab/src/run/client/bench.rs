//! `howdah bench` as a client: its command, and what its JSON says.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::contract::spec;
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Measured, Place, bench_json};

/// The command that works at a place, on a host.
pub fn command(cell: &Cell, place: &Place, name: &str, host: &str, at: &str) -> Result<CommandRecord> {
    let client = spec(cell, name)?;
    let json = json(place, name).display().to_string();
    let mut command = vec![place.howdah(), "bench".to_owned(), at.to_owned(), "--json".to_owned(), json];
    command.extend(["--progress", "never"].map(str::to_owned));
    if let Some(workload) = &client.workload {
        command.extend(["--workload".to_owned(), workload.clone()]);
    }
    // A cell is one run: its repetitions begin with nothing.
    let usual =
        [("--runs", "1".to_owned()), ("--warm-up", "0".to_owned()), ("--seed", place.seed.to_string())];
    for (flag, value) in usual {
        if !client.options.iter().any(|option| option == flag) {
            command.extend([flag.to_owned(), value]);
        }
    }
    command.extend(client.options.iter().cloned());
    Ok(CommandRecord { host: host.to_owned(), name: name.to_owned(), command })
}

/// What it measured, once it ended.
pub fn measured(place: &Place, name: &str) -> Result<Measured> {
    let path = json(place, name);
    let text = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    bench_json::measured(&text).with_context(|| format!("reading {}", path.display()))
}

fn json(place: &Place, name: &str) -> PathBuf {
    place.logs.join(format!("{name}.json"))
}
