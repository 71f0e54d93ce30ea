//! What every kind of client does, and what several of them need.

use anyhow::{Context, Result};

use crate::plan::{Cell, ClientSpec};
use crate::record::CommandRecord;
use crate::run::word::one_of;
use crate::run::{Measured, Place, Scene, relay, server, server::authority};

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

/// A client as the plan has it.
pub fn spec<'c>(cell: &'c Cell, name: &str) -> Result<&'c ClientSpec> {
    cell.spec.clients.get(name).with_context(|| format!("no client {name}"))
}

/// The URL of the export as this client is to reach it, with its options.
pub fn url(cell: &Cell, place: &Place, name: &str) -> Result<String> {
    let address = place.server_address(cell, name)?;
    let url = server(cell.spec.server.kind)?.url(address);
    let url = match &cell.spec.relay {
        Some(spec) => relay::url(spec, address, &url),
        None => url,
    };
    let client = spec(cell, name)?;
    let trusts = cell.spec.server.tls.then(|| format!("tlsca={}", authority(place).display()));
    let options = client.version_option().into_iter().chain([client.url.clone()]).chain(trusts);
    Ok(options.filter(|option| !option.is_empty()).fold(url, |url, option| {
        let join = if url.contains('?') { "&" } else { "?" };
        format!("{url}{join}{option}")
    }))
}

/// The words that a client of one stream has for what it does.
pub const STREAM: [&str; 2] = ["write", "read"];

/// Refuses a workload that is none of these; none at all is the usual one.
pub fn workload_is_one_of(cell: &Cell, name: &str, possible: &[&str]) -> Result<()> {
    spec(cell, name)?.workload.iter().try_for_each(|word| one_of("workload", word, possible))
}

/// Runs what `commands` says, which is one command, and gives what it said.
pub fn run_one(client: &dyn Client, scene: &Scene<'_>) -> Result<String> {
    let commands = client.commands(scene.cell, scene.place)?;
    let command = commands.first().context("a client has a command")?;
    Ok(scene.run(&command.host, &command.name, &command.command)?.output)
}
