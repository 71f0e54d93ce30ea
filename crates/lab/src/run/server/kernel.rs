//! The Linux kernel's server, in a guest behind the server's host.

use std::net::IpAddr;

use anyhow::{Result, bail, ensure};

use super::{Served, Server};
use crate::guest::{Placing, Tap};
use crate::plan::{Cell, ExportKind};
use crate::record::CommandRecord;
use crate::run::guest::{Guest, boot_command, placing};
use crate::run::{Place, Scene};

/// Its number among the guests of a cell; the clients' come after it.
const NUMBER: u8 = 0;
/// Its memory in MiB: its file system is in it. Only what is used is taken from the machine.
const MEMORY: u32 = 3072;
/// Programs that it takes, besides what every guest does.
const NEEDED: [&str; 4] = ["rpc.nfsd", "rpc.mountd", "exportfs", "rpcbind"];
/// Starts it; the script is one of every guest's.
const SERVE: &str = ". \"$WORK/scripts/nfsd.sh\"\n";
/// From memory; nothing there is durable.
const MEMORY_EXPORT: &str = "FILE_SYSTEM=tmpfs\nTMPFS_SIZE=2G\n";
/// From an ext4; what it answers is durable, as the protocol demands.
const EXT4_EXPORT: &str = "FILE_SYSTEM=ext4\nDURABILITY=sync\n";

/// The Linux kernel as the server.
pub struct Kernel;

impl Server for Kernel {
    fn commands(&self, cell: &Cell, place: &Place) -> Vec<CommandRecord> {
        let placing = here(cell, place);
        let serve = ["sh", "-eu", "scripts/nfsd.sh"].map(str::to_owned).to_vec();
        let serve = CommandRecord { host: placing.host.clone(), name: "server".to_owned(), command: serve };
        vec![boot_command(&placing, "server"), serve]
    }

    fn url(&self, _: IpAddr) -> String {
        format!("nfs://{}/mnt/s?nfsport=2049&mountport=20048", Tap::new(NUMBER).guest())
    }

    fn check(&self, cell: &Cell) -> Result<()> {
        let spec = &cell.spec.server;
        ensure!(
            spec.export != ExportKind::Disk,
            "export: \"disk\" is not possible; the kernel's server exports memory or ext4"
        );
        if let Some(option) = spec.options.first() {
            bail!("options: \"{option}\" is not possible; the kernel's server takes none");
        }
        Ok(())
    }

    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn Served>> {
        for command in self.commands(scene.cell, scene.place) {
            scene.record(&command.host, &command.name, &command.command);
        }
        let mut guest = Guest::boot(scene, &here(scene.cell, scene.place), "server", &NEEDED)?;
        let export = match scene.cell.spec.server.export {
            ExportKind::Ext4 => EXT4_EXPORT,
            ExportKind::Memory | ExportKind::Disk => MEMORY_EXPORT,
        };
        guest.run(scene, &format!("{export}{SERVE}"))?;
        Ok(Box::new(Serving(guest)))
    }
}

fn here(cell: &Cell, place: &Place) -> Placing {
    let disk = (cell.spec.server.export == ExportKind::Ext4).then(|| place.image());
    Placing { disk, ..placing(cell, place, &cell.spec.server.host, "server", NUMBER, MEMORY) }
}

struct Serving(Guest);

impl Served for Serving {
    fn processes(&self) -> Vec<u32> {
        vec![self.0.process()]
    }

    fn check(&mut self) -> Result<()> {
        self.0.check()
    }
}
