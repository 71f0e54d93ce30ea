//! Servers: a file for each kind.

mod contract;
mod ganesha;
mod heads;
mod howdah;
mod iperf3;
mod kernel;
mod moosefs;
mod none;
mod rsync;
mod tar;

use anyhow::Result;

use crate::plan::ServerKind;

use contract::ServingPrograms;
pub use contract::{ServedExport, Server};
pub(super) use howdah::{authority, samples};
pub(super) use iperf3::port as iperf3_port;
pub(super) use rsync::rsync_url;
pub(super) use tar::tar_address;

/// The server of a kind.
pub fn server(kind: ServerKind) -> Result<Box<dyn Server>> {
    Ok(match kind {
        ServerKind::Howdah => Box::new(howdah::HowdahServer),
        ServerKind::Rsync => Box::new(rsync::Rsync),
        ServerKind::Tar => Box::new(tar::Tar),
        ServerKind::Iperf3 => Box::new(iperf3::Iperf3Server),
        ServerKind::Heads => Box::new(heads::Heads),
        ServerKind::None => Box::new(none::Nobody),
        ServerKind::Ganesha => Box::new(ganesha::GaneshaServer),
        ServerKind::Kernel => Box::new(kernel::ServingKernel),
    })
}
