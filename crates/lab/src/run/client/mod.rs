//! Clients: a file for each kind.

mod bench;
mod busy;
mod file;
mod howdah;
mod iperf3;
mod kernel;
mod libnfs;
mod local;
mod ping;
mod probe;
mod simulation;

use anyhow::{Context, Result};

use super::check::one_of;
use super::{Measured, Place, Scene, server};
use crate::plan::{Cell, ClientKind, ClientSpec};
use crate::record::CommandRecord;

/// A kind of client. One is made for each client of a cell.
pub trait Client: Send {
    /// What it runs, known before anything is: for a list of commands.
    fn commands(&self, cell: &Cell, place: &Place) -> Result<Vec<CommandRecord>>;

    /// Refuses what it would refuse once it works, as far as that is known before.
    fn check(&self, cell: &Cell, place: &Place) -> Result<()> {
        self.commands(cell, place).map(drop)
    }

    /// What must be ready before any client begins. The server is.
    fn prepare(&mut self, scene: &Scene<'_>) -> Result<()> {
        let _ = scene;
        Ok(())
    }

    /// Works, and says what it measured. All clients of a cell do so at the same time.
    fn work(&mut self, scene: &Scene<'_>) -> Result<Measured>;
}

/// A client of a kind, with its name in the plan.
pub fn client(kind: ClientKind, name: &str) -> Result<Box<dyn Client>> {
    let name = name.to_owned();
    Ok(match kind {
        ClientKind::Howdah => Box::new(howdah::Howdah { name }),
        ClientKind::Iperf3 => Box::new(iperf3::Iperf3 { name }),
        ClientKind::Libnfs => Box::new(libnfs::Libnfs { name }),
        ClientKind::Local => Box::new(local::Local { name }),
        ClientKind::Probe => Box::new(probe::Probe { name }),
        ClientKind::Ping => Box::new(ping::Ping { name }),
        ClientKind::Busy => Box::new(busy::Busy { name }),
        ClientKind::Kernel => Box::new(kernel::Kernel::new(name)),
        ClientKind::Simulation => Box::new(simulation::Simulation { name }),
    })
}

/// A client as the plan has it.
pub(super) fn spec<'c>(cell: &'c Cell, name: &str) -> Result<&'c ClientSpec> {
    cell.spec.clients.get(name).with_context(|| format!("no client {name}"))
}

/// The URL of the export as this client is to reach it, with its options.
pub(super) fn url(cell: &Cell, place: &Place, name: &str) -> Result<String> {
    let url = server(cell.spec.server.kind)?.url(place.server_address(cell, name)?);
    let options = &spec(cell, name)?.url;
    let join = if url.contains('?') { "&" } else { "?" };
    Ok(if options.is_empty() { url } else { format!("{url}{join}{options}") })
}

/// The words that a client of one stream has for what it does.
const STREAM: [&str; 2] = ["write", "read"];

/// Refuses a workload that is none of these; none at all is the usual one.
fn workload_is_one_of(cell: &Cell, name: &str, possible: &[&str]) -> Result<()> {
    spec(cell, name)?.workload.iter().try_for_each(|word| one_of("workload", word, possible))
}

/// Runs what `commands` says, which is one command, and gives what it said.
fn run_one(client: &dyn Client, scene: &Scene<'_>) -> Result<String> {
    let commands = client.commands(scene.cell, scene.place)?;
    let command = commands.first().context("a client has a command")?;
    Ok(scene.run(&command.host, &command.name, &command.command)?.output)
}
