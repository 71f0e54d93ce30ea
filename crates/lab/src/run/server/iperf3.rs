//! `iperf3 -s`: what the network by itself carries.

use anyhow::Result;

use super::{ServedExport, Server, ServingPrograms};
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Place, Scene};

/// What it says when it is ready, and again after each client.
const READY: &str = "Server listening";

/// iperf3 as the server: one for each client, since it takes one at a time.
pub struct Iperf3Server;

/// The port of the first client's server; the others follow.
const FIRST_PORT: u16 = 5201;

/// The port of this client's server: by its place among the clients.
pub fn port(cell: &Cell, client: &str) -> u16 {
    let before = cell.spec.clients.keys().take_while(|name| *name != client).count();
    FIRST_PORT + u16::try_from(before).unwrap_or(0)
}

impl Server for Iperf3Server {
    fn commands(&self, cell: &Cell, _: &Place) -> Vec<CommandRecord> {
        let of = |client: &String| {
            let port = port(cell, client).to_string();
            let mut command = ["iperf3", "-s", "--forceflush", "-p"].map(str::to_owned).to_vec();
            command.push(port.clone());
            command.extend(cell.spec.server.options.iter().cloned());
            CommandRecord { host: cell.spec.server.host.clone(), name: format!("server-{port}"), command }
        };
        cell.spec.clients.keys().map(of).collect()
    }

    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn ServedExport>> {
        let commands = self.commands(scene.cell, scene.place);
        let start = |command: &CommandRecord| {
            scene.start_until(&command.host, &command.name, &command.command, READY)
        };
        Ok(Box::new(ServingPrograms(commands.iter().map(start).collect::<Result<_>>()?)))
    }
}
