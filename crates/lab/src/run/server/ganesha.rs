//! NFS-Ganesha, from the distribution's package.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::{ServedExport, Server};
use crate::guest::{Ganesha as Settings, missing};
use crate::plan::{Cell, ExportKind};
use crate::record::CommandRecord;
use crate::run::{Place, Running, Scene};

/// Programs that it takes.
const NEEDED: [&str; 4] = [Settings::PROGRAM, "rpcbind", "unshare", "mount"];
/// Where it answers NFS, and where MOUNT.
const PORTS: (u16, u16) = (2049, 20_048);

/// Where its export is, for it alone: the name that clients ask for.
const EXPORT: &str = "/run/export";
/// What it wants around it: a `/run` and a `/var/lib/nfs` of its own, an rpcbind to register with (which goes to the
/// background once it can be asked), and a root that it can write nothing in, should it go wrong. All of that is in
/// namespaces that end with it.
const AROUND: &str = "\
export PATH=\"$PATH:/usr/sbin:/sbin\"
export=$1
shift
mount -t tmpfs howdah /run
mkdir -p /run/rpcbind /run/ganesha
chown _rpc /run/rpcbind || :
[ ! -d /var/lib/nfs ] || mount -t tmpfs howdah /var/lib/nfs
[ ! -d /var/lib/nfs ] || mkdir -p /var/lib/nfs/ganesha
mkdir /run/export
mount --bind \"$export\" /run/export
rpcbind
mount -o remount,bind,ro /
exec \"$@\"";

/// Ganesha as the server.
pub struct GaneshaServer;

impl Server for GaneshaServer {
    fn commands(&self, cell: &Cell, place: &Place) -> Vec<CommandRecord> {
        let around =
            ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-eu", "-c"];
        let mut command: Vec<String> = around.map(str::to_owned).to_vec();
        let export = place.export.display().to_string();
        command.extend([AROUND.to_owned(), "sh".to_owned(), export, Settings::PROGRAM.to_owned()]);
        command.extend(Settings::arguments(Path::new("STDOUT"), &configuration_file(place)));
        command.extend(cell.spec.server.options.iter().cloned());
        vec![CommandRecord { host: cell.spec.server.host.clone(), name: "server".to_owned(), command }]
    }

    fn check(&self, cell: &Cell) -> Result<()> {
        // It reaches files through the root of their file system.
        let is_possible = cell.spec.server.export != ExportKind::Disk;
        ensure!(is_possible, "export: \"disk\" is not possible; Ganesha exports memory or ext4 here");
        Ok(())
    }

    fn url(&self, address: IpAddr) -> String {
        let (nfs, mount) = PORTS;
        format!("nfs://{address}{EXPORT}?nfsport={nfs}&mountport={mount}")
    }

    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn ServedExport>> {
        if let Some(missing) = missing(&NEEDED) {
            bail!("{missing}");
        }
        let settings = Settings {
            export: EXPORT.into(),
            storage: "VFS".to_owned(),
            nfs_port: PORTS.0,
            mount_port: PORTS.1,
        };
        let path = configuration_file(scene.place);
        fs::write(&path, settings.configuration()).with_context(|| format!("writing {}", path.display()))?;
        let [command] = &self.commands(scene.cell, scene.place)[..] else {
            unreachable!("it is one command")
        };
        let running = scene.start_until(&command.host, &command.name, &command.command, Settings::SERVES)?;
        let process = child_of(running.id()).unwrap_or(running.id());
        Ok(Box::new(Serving { running, process }))
    }
}

fn configuration_file(place: &Place) -> PathBuf {
    place.temporary.join("ganesha.conf")
}

/// The process that `unshare` started, and that became Ganesha.
fn child_of(process: u32) -> Option<u32> {
    let children = fs::read_to_string(format!("/proc/{process}/task/{process}/children")).ok()?;
    children.split_whitespace().next()?.parse().ok()
}

struct Serving {
    running: Running,
    process: u32,
}

impl ServedExport for Serving {
    fn processes(&self) -> Vec<u32> {
        vec![self.process]
    }

    fn check(&mut self) -> Result<()> {
        self.running.check()
    }

    fn end(&mut self) {
        self.running.end();
    }
}
