//! `howdah serve`, of this very program.

use std::path::PathBuf;

use anyhow::Result;

use super::{Served, Server, ServingPrograms};
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Place, Scene};

/// The last line of the screen that it shows when it is ready.
const READY: &str = "Stop: ";

/// Where it writes what it sees of its connections, if the plan asks for verdicts.
pub fn samples(place: &Place) -> PathBuf {
    place.logs.join("samples.jsonl")
}

/// This program as the server.
pub struct Howdah;

impl Server for Howdah {
    fn commands(&self, cell: &Cell, place: &Place) -> Vec<CommandRecord> {
        let state = place.temporary.join("state").display().to_string();
        let mut command = vec![place.howdah(), "serve".to_owned(), "--state".to_owned(), state];
        // Root of the client's host may write, and the server talks to nothing outside the cell.
        command.extend(["--rpcbind", "off", "--squash", "none", "--log", "info"].map(str::to_owned));
        command.extend(cell.spec.server.options.iter().cloned());
        if cell.spec.verdicts.is_some() {
            command.extend(["--samples".to_owned(), samples(place).display().to_string()]);
        }
        command.push(place.export.display().to_string());
        vec![CommandRecord { host: cell.spec.server.host.clone(), name: "server".to_owned(), command }]
    }

    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn Served>> {
        let [command] = &self.commands(scene.cell, scene.place)[..] else {
            unreachable!("it is one command")
        };
        let running = scene.start_until(&command.host, &command.name, &command.command, READY)?;
        Ok(Box::new(ServingPrograms(vec![running])))
    }
}
