//! What every kind of server does.

use std::net::IpAddr;

use anyhow::{Result, bail};

use crate::plan::{Cell, HeadLoss};
use crate::record::CommandRecord;
use crate::run::{Place, Running, Scene};

/// A server that is ready. Dropped, it is gone.
pub trait ServedExport: Send {
    /// The processes whose time counts as the server's.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Whether it still serves.
    fn check(&mut self) -> Result<()> {
        Ok(())
    }

    /// Kills what serves on this host: the server alone, or the whole host.
    fn lose(&mut self, host: &str, loss: HeadLoss) -> Result<()> {
        let _ = loss;
        bail!("this server cannot lose host {host}")
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
    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn ServedExport>>;
}

/// Programs that serve together.
pub struct ServingPrograms(pub Vec<Running>);

impl ServedExport for ServingPrograms {
    fn processes(&self) -> Vec<u32> {
        self.0.iter().map(Running::id).collect()
    }

    fn check(&mut self) -> Result<()> {
        self.0.iter_mut().try_for_each(Running::check)
    }

    fn end(&mut self) {
        self.0.iter_mut().for_each(Running::end);
    }
}
