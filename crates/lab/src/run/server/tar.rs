//! `tar` behind a socket of TCP: the fastest that a tree gets through one connection. It neither compares nor resumes.

use std::net::{IpAddr, SocketAddr};

use anyhow::{Context, Result, bail, ensure};

use super::{ServedExport, Server, ServingPrograms};
use crate::guest::missing;
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Place, Scene};

/// What it says when it is ready.
const READY: &str = "listening on";

/// Its port.
const PORT: u16 = 8730;

/// Where it listens, as socat writes it.
pub fn tar_address(address: IpAddr) -> String {
    format!("TCP:{}", SocketAddr::new(address, PORT))
}

/// tar as the server: it takes or gives one stream.
pub struct Tar;

impl Server for Tar {
    fn commands(&self, cell: &Cell, place: &Place) -> Vec<CommandRecord> {
        let gives = cell.spec.clients.values().any(|client| client.workload.as_deref() == Some("read"));
        let export = place.export.display();
        let way = if gives { "-c copied" } else { "-x" };
        let command = [
            "socat",
            "-d",
            "-d",
            "-lf",
            "/dev/stdout",
            &format!("TCP6-LISTEN:{PORT},ipv6only=0,reuseaddr,fork"),
            &format!("EXEC:tar -C {export} {way}"),
        ];
        vec![CommandRecord {
            host: cell.spec.server.host.clone(),
            name: "server".to_owned(),
            command: command.map(str::to_owned).to_vec(),
        }]
    }

    fn check(&self, cell: &Cell) -> Result<()> {
        ensure!(cell.spec.relay.is_none(), "a relay carries NFS");
        ensure!(cell.spec.server.options.is_empty(), "kind = \"tar\" takes no options");
        Ok(())
    }

    fn url(&self, address: IpAddr) -> String {
        tar_address(address)
    }

    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn ServedExport>> {
        if let Some(missing) = missing(&["tar", "socat"]) {
            bail!("{missing}");
        }
        let commands = self.commands(scene.cell, scene.place);
        let command = commands.first().context("it is one command")?;
        let running = scene.start_until(&command.host, &command.name, &command.command, READY)?;
        Ok(Box::new(ServingPrograms(vec![running])))
    }
}
