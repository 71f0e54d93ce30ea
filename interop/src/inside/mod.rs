//! What happens inside the namespaces: the machine is closed off, the server starts, the peer works, the server is
//! disturbed, everything is compared; or a server of other people starts, and our client drives it. All processes
//! started here die with this one.

mod command;
mod container;
mod disturb;
mod environment;
mod errands;
mod foreign;
mod guest;
mod heads;
mod host_tools;
mod image;
mod isolation;
mod rpcbind;
mod server;
mod verify;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::ExitStatus;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::job::{Job, SKIPPED};
use crate::scenario::{Fixture, Peer, Rpcbind};
use crate::tree;
pub use container::contain;
use disturb::Disturber;
use errands::Errands;
use guest::Guest;
use isolation::Network;
use server::Server;

/// How often the loop looks at the peer and the server. Short against everything a job does.
const LOOK: Duration = Duration::from_millis(10);

/// How a job ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Well.
    Done,
    /// The job says it cannot run here.
    Skipped,
}

/// Runs the job's server and peer to the end.
pub fn run(job: &Job) -> Result<End> {
    job.lay_out()?;
    prepare(job)?;
    let network = if job.scenario.isolated() { isolation::enter(job)? } else { Network::loopback() };
    match job.scenario.peer {
        Peer::Server { kind, drive } => foreign::run(job, &network, kind, drive),
        Peer::Mounted { kind, job: script, .. } => foreign::mount(job, &network, kind, script),
        Peer::Heads { options, cluster, .. } => heads::run(job, &network, options, cluster),
        Peer::Guest { .. } | Peer::Host { .. } => serve(job, &network),
    }
}

/// Serves what the peer, a client, wants.
fn serve(job: &Job, network: &Network) -> Result<End> {
    let rpcbind = match job.scenario.rpcbind {
        Rpcbind::System => Some(rpcbind::start(job)?),
        Rpcbind::Absent => None,
    };
    let mut server = Server::start(job, network)?;
    let values = environment::of(job, network, &server);
    job.write_environment(&values)?;
    let mut peer = match job.scenario.peer {
        Peer::Host { job: script, .. } => PeerProcess::Host(host_tools::start(job, script, &values)?),
        Peer::Guest { second: Some(options), .. } => {
            job.write_second_environment(&environment::of_second(job, network, &server, options))?;
            PeerProcess::Guests(vec![Guest::boot(job, network)?, Guest::boot_second(job, network)?])
        }
        _ => PeerProcess::Guests(vec![Guest::boot(job, network)?]),
    };
    let mut disturber = Disturber::new(job);
    let mut errands = Errands::new(job);
    let code = loop {
        if let Some(code) = peer.ended()? {
            break code;
        }
        disturber.step(&mut server)?;
        errands.step()?;
        server.must_run()?;
        thread::sleep(LOOK);
    };
    if code == SKIPPED {
        return Ok(End::Skipped);
    }
    if code != 0 {
        bail!("{}", verify::why_job_failed(job, code));
    }
    disturber.must_have_happened()?;
    server.end()?;
    verify::files(job)?;
    drop(rpcbind);
    Ok(End::Done)
}

enum PeerProcess {
    Guests(Vec<Guest>),
    Host(command::Running),
}

impl PeerProcess {
    fn ended(&mut self) -> Result<Option<i32>> {
        match self {
            Self::Guests(guests) => {
                let codes = guests.iter_mut().map(Guest::ended).collect::<Result<Vec<_>>>()?;
                let failed = codes.iter().flatten().find(|code| **code != 0);
                // One that failed lets the other wait for ever.
                Ok(failed.copied().or(codes.iter().all(Option::is_some).then_some(0)))
            }
            Self::Host(process) => Ok(process.ended()?.map(|status: ExitStatus| status.code().unwrap_or(-1))),
        }
    }
}

fn prepare(job: &Job) -> Result<()> {
    let everyone = fs::Permissions::from_mode(0o777);
    fs::set_permissions(job.export(), everyone).context("opening the export to every user")?;
    match job.scenario.fixture {
        Fixture::Empty => Ok(()),
        Fixture::Tree => {
            tree::make(&job.work, job.seed, job.size("FILES").context("the scenario names no FILES")?)
        }
        Fixture::ManyEntries => {
            let many = job.export().join("many");
            fs::create_dir(&many).with_context(|| format!("making {}", many.display()))?;
            for number in 0..job.size("ENTRIES").context("the scenario names no ENTRIES")? {
                let path = many.join(format!("entry-{number}"));
                fs::write(&path, []).with_context(|| format!("making {}", path.display()))?;
            }
            Ok(())
        }
    }
}
