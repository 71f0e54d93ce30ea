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
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use howdah_client::Remote;
use howdah_client::channel::ProcedureReport;
use howdah_vfs::FileSystem;

use super::isolation::Network;
use super::{End, LOOK, environment, host_tools, verify};
use crate::job::{Job, SKIPPED};
use crate::scenario::{Drive, ServerKind};
use ganesha::Ganesha;
use linux_kernel::LinuxKernel;
use serving::{NFS_PORT, Place, Serving};

/// Runs the scenario.
pub fn run(job: &Job, network: &Network, kind: ServerKind, drive: Drive) -> Result<End> {
    let mut server = start(job, network, kind, drive.version != "3")?;
    let driven = drive_all(job, &server.place(), drive);
    // That the server died is the better explanation of what the client saw.
    server.must_run().context("after our client was there")?;
    driven?;
    server.end()?;
    Ok(End::Done)
}

/// Runs a job on the host that mounts the server's export over NFSv4.2.
pub fn mount(job: &Job, network: &Network, kind: ServerKind, script: &str) -> Result<End> {
    let mut server = start(job, network, kind, true)?;
    let Place { address, export, .. } = server.place();
    let values = environment::of_mount(job, network, format!("nfs://{address}:{NFS_PORT}{export}"));
    let mut peer = host_tools::start(job, script, &values)?;
    let status = loop {
        if let Some(status) = peer.ended()? {
            break status;
        }
        server.must_run()?;
        thread::sleep(LOOK);
    };
    match status.code().unwrap_or(-1) {
        0 => {}
        SKIPPED => return Ok(End::Skipped),
        code => bail!("{}", verify::why_job_failed(job, code)),
    }
    server.end()?;
    Ok(End::Done)
}

fn start(job: &Job, network: &Network, kind: ServerKind, nfs4: bool) -> Result<Box<dyn Serving>> {
    Ok(match kind {
        ServerKind::LinuxKernel(file_system) => {
            Box::new(LinuxKernel::start(job, network, file_system, nfs4)?)
        }
        ServerKind::Ganesha(storage) => Box::new(Ganesha::start(job, network, storage)?),
    })
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
