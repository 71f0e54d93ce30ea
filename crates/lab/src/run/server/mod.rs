//! Servers: a file for each kind.

mod ganesha;
mod howdah;
mod iperf3;
mod kernel;
mod none;

use std::net::IpAddr;

use anyhow::Result;

use super::{Place, Scene};
use crate::plan::{Cell, ServerKind};
use crate::record::CommandRecord;

pub(super) use howdah::samples;
pub(super) use iperf3::port as iperf3_port;

/// A server that is ready. Dropped, it is gone.
pub trait Served: Send {
    /// The processes whose time counts as the server's.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Whether it still serves.
    fn check(&mut self) -> Result<()> {
        Ok(())
    }

    /// Ends it in order.
    fn end(&mut self) {}
}

/// A kind of server. What is known before anything runs is asked without a scene: for a list of commands.
pub trait Server {
    /// What it runs.
    fn commands(&self, cell: &Cell, place: &Place) -> Vec<CommandRecord>;

    /// Refuses what it would refuse when it starts, as far as that is known before.
    fn check(&self, cell: &Cell) -> Result<()> {
        let _ = cell;
        Ok(())
    }

    /// The URL of what it exports, without options of the plan's.
    fn url(&self, address: IpAddr) -> String {
        format!("nfs://{address}/?nfsport=2049&mountport=2049")
    }

    /// Starts it, and waits until it is ready.
    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn Served>>;
}

/// The server of a kind.
pub fn server(kind: ServerKind) -> Result<Box<dyn Server>> {
    Ok(match kind {
        ServerKind::Howdah => Box::new(howdah::Howdah),
        ServerKind::Iperf3 => Box::new(iperf3::Iperf3),
        ServerKind::None => Box::new(none::Nobody),
        ServerKind::Ganesha => Box::new(ganesha::Ganesha),
        ServerKind::Kernel => Box::new(kernel::Kernel),
    })
}
