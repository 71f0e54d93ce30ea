//! Several howdahs on one cluster file system, and a guest that works through whichever has the address. A script on the host starts
//! them, and kills them when the guest asks.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::command::Running;
use super::guest::Guest;
use super::isolation::Network;
use super::{End, environment, host_tools, verify};
use crate::job::{Job, SKIPPED};

/// A cluster that does not serve after this long has not started.
const START: Duration = Duration::from_secs(300);
/// The log of the script, and its last words if it fails.
const LOG: &str = "heads.txt";

/// Runs the job's cluster and its guest to the end.
pub fn run(job: &Job, network: &Network, options: &str, cluster: &str) -> Result<End> {
    let values = environment::of_heads(job, network, options);
    job.write_environment(&values)?;
    let mut script = host_tools::start_with_log(job, cluster, &values, LOG)?;
    let give_up = Instant::now() + START;
    while !job.work.join("ready").exists() {
        must_run(job, &mut script)?;
        ensure!(
            Instant::now() < give_up,
            "the cluster does not serve {START:?} after its start; see log/{LOG}"
        );
        thread::sleep(super::LOOK);
    }
    let mut guest = Guest::boot(job, network)?;
    let code = loop {
        if let Some(code) = guest.ended()? {
            break code;
        }
        must_run(job, &mut script)?;
        thread::sleep(super::LOOK);
    };
    match code {
        0 => verify::files(job).map(|()| End::Done),
        SKIPPED => Ok(End::Skipped),
        code => bail!("{}", verify::why_job_failed(job, code)),
    }
}

fn must_run(job: &Job, script: &mut Running) -> Result<()> {
    let Some(status) = script.ended()? else { return Ok(()) };
    let text = fs::read(job.log(LOG)).with_context(|| format!("reading log/{LOG}"))?;
    let text = String::from_utf8_lossy(&text);
    bail!(
        "the script of the heads ended with {status}: {}",
        text.lines().last().unwrap_or("(it said nothing)")
    )
}
