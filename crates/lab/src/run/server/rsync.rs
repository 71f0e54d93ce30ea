//! `rsync --daemon`: what people copy trees with.

use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::{ServedExport, Server, ServingPrograms};
use crate::guest::missing;
use crate::plan::Cell;
use crate::record::CommandRecord;
use crate::run::{Place, Scene};

/// What it says when it is ready.
const READY: &str = "listening on port";

/// Its port, and what its export is called.
const PORT: u16 = 873;
const MODULE: &str = "export";

/// The URL of what it exports.
pub fn rsync_url(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("rsync://{address}:{PORT}/{MODULE}"),
        IpAddr::V6(address) => format!("rsync://[{address}]:{PORT}/{MODULE}"),
    }
}

/// An rsync daemon as the server.
pub struct Rsync;

impl Server for Rsync {
    fn commands(&self, cell: &Cell, place: &Place) -> Vec<CommandRecord> {
        let configuration = configuration_file(place).display().to_string();
        let words = ["rsync", "--daemon", "--no-detach", "--log-file=/dev/stdout", "--config"];
        let mut command = words.map(str::to_owned).to_vec();
        command.push(configuration);
        command.extend(cell.spec.server.options.iter().cloned());
        vec![CommandRecord { host: cell.spec.server.host.clone(), name: "server".to_owned(), command }]
    }

    fn check(&self, cell: &Cell) -> Result<()> {
        ensure!(cell.spec.relay.is_none(), "a relay carries NFS");
        Ok(())
    }

    fn url(&self, address: IpAddr) -> String {
        rsync_url(address)
    }

    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn ServedExport>> {
        if let Some(missing) = missing(&["rsync"]) {
            bail!("{missing}");
        }
        let path = configuration_file(scene.place);
        let export = scene.place.export.display();
        // It runs as the user who runs the laboratory, in a network of the laboratory's own.
        let text = format!(
            "use chroot = no\nport = {PORT}\n[{MODULE}]\npath = {export}\nread only = no\nuid = 0\ngid = 0\n"
        );
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        let [command] = &self.commands(scene.cell, scene.place)[..] else {
            unreachable!("it is one command")
        };
        let running = scene.start_until(&command.host, &command.name, &command.command, READY)?;
        Ok(Box::new(ServingPrograms(vec![running])))
    }
}

fn configuration_file(place: &Place) -> PathBuf {
    place.temporary.join("rsyncd.conf")
}
