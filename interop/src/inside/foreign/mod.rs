//! A server that nobody here wrote: started, driven by our client, ended.

mod connect;
mod data;
mod ganesha;
mod judge;
mod linux_kernel;
mod serving;

use std::fs::File;
use std::io::Write;

use anyhow::{Context, Result};

use super::End;
use super::isolation::Network;
use crate::job::Job;
use crate::scenario::{Drive, ServerKind};
use ganesha::Ganesha;
use linux_kernel::LinuxKernel;
use serving::{Place, Serving};

/// Runs the scenario.
pub fn run(job: &Job, network: &Network, kind: ServerKind, drive: Drive) -> Result<End> {
    let mut server: Box<dyn Serving> = match kind {
        ServerKind::LinuxKernel(file_system) => Box::new(LinuxKernel::start(job, network, file_system)?),
        ServerKind::Ganesha(storage) => Box::new(Ganesha::start(job, network, storage)?),
    };
    let driven = drive_all(job, &server.place(), drive);
    // That the server died is the better explanation of what the client saw.
    server.must_run().context("after our client was there")?;
    driven?;
    server.end()?;
    Ok(End::Done)
}

/// Drives the server over each number of lanes in turn.
fn drive_all(job: &Job, place: &Place, drive: Drive) -> Result<()> {
    let mut log = File::create(job.log("job.txt")).context("making a log")?;
    for &lanes in drive.lanes {
        let over = format!("over {lanes} {}", if lanes == 1 { "lane" } else { "lanes" });
        writeln!(log, "{over}").context("writing a log")?;
        let fs = connect::connect(place, drive.transport, lanes)?;
        let judged = judge::judge(&mut log, &fs, place.abilities, drive.differences);
        let judged = judged.with_context(|| format!("the suite {over}"))?;
        let bytes = job.size("SIZE").context("the scenario names no SIZE")?;
        let carried = data::carry(&fs, job.seed, bytes).with_context(|| format!("data {over}"))?;
        writeln!(log, "note: {over}: {judged}, {carried}").context("writing a log")?;
    }
    Ok(())
}
