//! A server that nobody here wrote: started, driven by our client, ended.

mod connect;
mod data;
mod ganesha;
mod judge;
mod linux_kernel;
mod serving;

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use howdah_client::Remote;
use howdah_client::channel::ProcedureReport;
use howdah_vfs::FileSystem;

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
        ServerKind::LinuxKernel(file_system) => {
            Box::new(LinuxKernel::start(job, network, file_system, drive.version != "3")?)
        }
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
        let client = connect::connect(place, drive, lanes).context(over.clone())?;
        let done = drive_one(job, place, drive, &client, &mut log);
        writeln!(log, "{over}: {:#?}", client.channel().report()).context("writing a log")?;
        writeln!(log, "note: {over}: {}", done.context(over.clone())?).context("writing a log")?;
    }
    Ok(())
}

/// The conformance suite, then data; says what that was.
fn drive_one(
    job: &Job,
    place: &Place,
    drive: Drive,
    client: &Arc<dyn Remote>,
    log: &mut impl Write,
) -> Result<String> {
    let fs: Arc<dyn FileSystem> = Arc::clone(client) as _;
    let start = Instant::now();
    let judged = judge::judge(log, &fs, place.abilities.clone(), drive.differences).context("the suite")?;
    let suite = start.elapsed();
    let bytes = job.size("SIZE").context("the scenario names no SIZE")?;
    let carried = data::carry(&*fs, job.seed, bytes).context("data")?;
    let data = start.elapsed() - suite;
    let procedures = client.channel().report().procedures;
    let [calls, again] = [|row: &ProcedureReport| row.calls, |row: &ProcedureReport| row.retransmissions]
        .map(|count| procedures.iter().map(count).sum::<u64>());
    Ok(format!(
        "{judged}, in {suite:.1?}; {carried}, in {data:.1?}; {again} of {calls} calls were sent again"
    ))
}
