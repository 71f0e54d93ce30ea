//! `faults`: what may go wrong around a server, one after the other, under a client that never stops: what it is answered, how long it
//! waits, and how soon after the end it is served again, by the same server.

mod askers;
mod crowd;
mod fault;
mod names;
mod newcomer;
mod path;
mod process;
mod pulse;
mod scene;
mod storage;
mod trial;

use std::time::Duration;

use anyhow::Result;
use howdah_lab::guest::find_command;

use super::campaign::{Context, Verdict};
use super::disk::{BTRFS, EXT4, Kind, lacking};
use fault::Fault;
use scene::Scene;
use trial::{HEAD, trial};

/// How many seconds each fault lasts, in the full form and in the short one.
const FULL: u64 = 30;
const QUICK: u64 = 1;

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    if let Some(why) = lacking() {
        return Ok(Verdict::skipped(why));
    }
    let mut verdict = Verdict { table: vec![HEAD.to_owned()], ..Verdict::default() };
    let on_ext4 = [storage::FAULTS, process::FAULTS, path::FAULTS, names::FAULTS];
    let mut count = all(context, EXT4, &on_ext4, &mut verdict)?;
    count += all(context, BTRFS, &[storage::QUOTA], &mut verdict)?;
    if count > 0 {
        verdict.figures = format!("{count} faults, each as documented, no block lost");
    }
    Ok(verdict)
}

/// Those that there can be on such a disk, one after the other; how many there were.
fn all(context: &Context, kind: Kind, faults: &[&[Fault]], verdict: &mut Verdict) -> Result<usize> {
    let faults = || faults.iter().copied().flatten();
    let (make, package) = (kind.make.0[0], kind.make.1);
    if find_command(make).is_none() {
        let names: Vec<&str> = faults().map(|fault| fault.name).collect();
        verdict.skipped.push(format!("{}: {make} is not installed (package {package})", names.join(", ")));
        return Ok(0);
    }
    let scene = Scene::set(context, kind)?;
    let mut count = 0;
    for fault in faults() {
        if let Some((command, package)) = fault.needs.filter(|(command, _)| find_command(command).is_none()) {
            verdict.skipped.push(format!("{}: {command} is not installed (package {package})", fault.name));
            continue;
        }
        println!("   {} ...", fault.name);
        count += 1;
        let lasts = Duration::from_secs(context.times(FULL, QUICK));
        match trial(&scene, fault, lasts) {
            Ok(line) => verdict.table.push(line),
            Err(wrong) => verdict.broken.push(format!("{}: {wrong:#}", fault.name)),
        }
    }
    Ok(count)
}
