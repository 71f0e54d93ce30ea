//! The Linux kernel's server, in a guest behind the server's host.

use std::net::IpAddr;

use anyhow::{Context, Result, bail, ensure};

use super::{ServedExport, Server};
use crate::guest::{self, Placing, Tap, is_kerberos, is_version_4};
use crate::plan::{Cell, ClientKind, ClientSpec, ExportKind};
use crate::record::CommandRecord;
use crate::run::guest::{Guest, boot_command, placing};
use crate::run::{Place, Scene};

/// Its number among the guests of a cell; the clients' come after it.
const NUMBER: u8 = 0;
/// Its memory in MiB: its file system is in it. Only what is used is taken from the machine.
const MEMORY: u32 = 3072;
/// Programs that it takes, besides what every guest does.
const NEEDED: [&str; 4] = ["rpc.nfsd", "rpc.mountd", "exportfs", "rpcbind"];
/// The same, with Kerberos.
const KERBEROS: [&str; 3] = ["krb5kdc", "kadmin.local", "rpc.svcgssd"];
/// Version 4 too, for clients that mount it; the flavors, for those that ask for Kerberos.
const VERSION_4: &str = "NFS4=yes\n";
const FLAVORS: &str = "SECURITY=sys:krb5:krb5i:krb5p\n";
/// Starts it; the script is one of every guest's.
const SERVE: &str = ". \"$WORK/scripts/nfsd.sh\"\n";
/// From memory; nothing there is durable.
const MEMORY_EXPORT: &str = "FILE_SYSTEM=tmpfs\nTMPFS_SIZE=2G\n";
/// From an ext4; what it answers is durable, as the protocol demands.
const EXT4_EXPORT: &str = "FILE_SYSTEM=ext4\nDURABILITY=sync\n";

/// The Linux kernel as the server.
pub struct ServingKernel;

impl Server for ServingKernel {
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

    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn ServedExport>> {
        for command in self.commands(scene.cell, scene.place) {
            scene.record(&command.host, &command.name, &command.command);
        }
        let kerberos = asks(scene.cell, is_kerberos);
        let needed = if kerberos { [&NEEDED[..], &KERBEROS].concat() } else { NEEDED.to_vec() };
        let mut guest = Guest::boot(scene, &here(scene.cell, scene.place), "server", &needed)?;
        let export = match scene.cell.spec.server.export {
            ExportKind::Ext4 => EXT4_EXPORT,
            ExportKind::Memory | ExportKind::Disk => MEMORY_EXPORT,
        };
        let flavors = if kerberos { FLAVORS } else { "" };
        let versions = if asks(scene.cell, is_version_4) { VERSION_4 } else { "" };
        guest.run(scene, &format!("{export}{flavors}{versions}{SERVE}"))?;
        // The kernel must know who accepts tickets for it, and then has a place for him.
        if kerberos {
            guest
                .run(scene, &guest::kerberos("server", Tap::new(NUMBER).guest().into()))
                .context("Kerberos")?;
        }
        Ok(Box::new(Serving(guest)))
    }
}

/// Whether an option of a client's mount is such a one.
fn asks(cell: &Cell, such: impl Fn(&str) -> bool) -> bool {
    let kernels = cell.spec.clients.values().filter(|client| client.kind == ClientKind::Kernel);
    kernels.flat_map(ClientSpec::mount_options).any(|option| such(&option))
}

fn here(cell: &Cell, place: &Place) -> Placing {
    let disk = (cell.spec.server.export == ExportKind::Ext4).then(|| place.image());
    Placing { disk, ..placing(cell, place, &cell.spec.server.host, "server", NUMBER, MEMORY) }
}

struct Serving(Guest);

impl ServedExport for Serving {
    fn processes(&self) -> Vec<u32> {
        vec![self.0.process()]
    }

    fn check(&mut self) -> Result<()> {
        self.0.check()
    }
}
