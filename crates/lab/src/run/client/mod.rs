//! Clients: a file for each kind.

mod bench;
mod busy;
mod contract;
mod copy;
mod file;
mod fuse_mount;
mod howdah;
mod iperf3;
mod kernel;
mod libnfs;
mod local;
mod mounted;
mod names;
mod on_mount;
mod ping;
mod probe;
mod simulation;
mod streaming;
mod walk;

pub use contract::Client;

use anyhow::Result;

use crate::plan::ClientKind;

/// A client of a kind, with its name in the plan.
pub fn client(kind: ClientKind, name: &str) -> Result<Box<dyn Client>> {
    let name = name.to_owned();
    Ok(match kind {
        ClientKind::Howdah => Box::new(howdah::HowdahClient { name }),
        ClientKind::Iperf3 => Box::new(iperf3::Iperf3Client { name }),
        ClientKind::Copy => Box::new(copy::Copy { name, tool: copy::Tool::Howdah }),
        ClientKind::Rsync => Box::new(copy::Copy { name, tool: copy::Tool::Rsync }),
        ClientKind::Tar => Box::new(copy::Copy { name, tool: copy::Tool::Tar }),
        ClientKind::Libnfs => Box::new(libnfs::Libnfs { name }),
        ClientKind::Local => Box::new(local::Local { name }),
        ClientKind::Probe => Box::new(probe::Probe { name }),
        ClientKind::Ping => Box::new(ping::Ping { name }),
        ClientKind::Busy => Box::new(busy::Busy { name }),
        ClientKind::Kernel => Box::new(kernel::MountingKernel::new(name)),
        ClientKind::Mount => Box::new(fuse_mount::MountedByFuse::new(name)),
        ClientKind::Simulation => Box::new(simulation::SimulationClient { name }),
    })
}
