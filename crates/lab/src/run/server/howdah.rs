//! `howdah serve`, of this very program.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::{ServedExport, Server, ServingPrograms};
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Place, Scene};

/// The last line of the screen that it shows when it is ready.
const READY: &str = "Stop: ";

/// Where it writes what it sees of its connections, if the plan asks for verdicts.
pub fn samples(place: &Place) -> PathBuf {
    place.logs.join("samples.jsonl")
}

/// The authority's certificate, which clients are to trust.
pub fn authority(place: &Place) -> PathBuf {
    certificates(place).join("ca.pem")
}

fn certificates(place: &Place) -> PathBuf {
    place.temporary.join("certificates")
}

/// Makes a certificate for each address of the server's host.
fn certificate(cell: &Cell, place: &Place) -> CommandRecord {
    let host = &cell.spec.server.host;
    let its = place.addresses.iter().filter(|((of, _), _)| of == host);
    let names = its.fold("server".to_owned(), |names, (_, address)| format!("{names},{address}"));
    let directory = certificates(place).display().to_string();
    let mut command = vec![place.howdah()];
    command.extend(["certificate", "--quiet", &directory, "--server", &names].map(str::to_owned));
    CommandRecord { host: host.clone(), name: "certificate".to_owned(), command }
}

/// This program as the server.
pub struct HowdahServer;

impl Server for HowdahServer {
    fn commands(&self, cell: &Cell, place: &Place) -> Vec<CommandRecord> {
        let state = place.temporary.join("state").display().to_string();
        let mut command = vec![place.howdah(), "serve".to_owned(), "--state".to_owned(), state];
        // Root of the client's host may write, and the server talks to nothing outside the cell.
        command.extend(["--rpcbind", "off", "--squash", "none", "--log", "info"].map(str::to_owned));
        let mut commands = Vec::new();
        if cell.spec.server.tls {
            commands.push(certificate(cell, place));
            let file = |kind: &str| certificates(place).join(format!("server.{kind}")).display().to_string();
            command.extend([
                "--tls-certificate".to_owned(),
                file("pem"),
                "--tls-key".to_owned(),
                file("key"),
            ]);
        }
        command.extend(cell.spec.server.options.iter().cloned());
        if cell.spec.verdicts.is_some() {
            command.extend(["--samples".to_owned(), samples(place).display().to_string()]);
        }
        command.push(place.export.display().to_string());
        commands.push(CommandRecord {
            host: cell.spec.server.host.clone(),
            name: "server".to_owned(),
            command,
        });
        commands
    }

    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn ServedExport>> {
        let commands = self.commands(scene.cell, scene.place);
        let (command, before) = commands.split_last().context("a server has a command")?;
        for command in before {
            scene.run(&command.host, &command.name, &command.command)?;
        }
        let running = scene.start_until(&command.host, &command.name, &command.command, READY)?;
        Ok(Box::new(ServingPrograms(vec![running])))
    }
}
