//! `howdah serve` on several hosts, which serve one MooseFS as one.

use std::collections::BTreeMap;
use std::fs;
use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::moosefs::{self, MooseFs};
use super::{ServedExport, Server};
use crate::plan::{Cell, ExportKind, HeadLoss};
use crate::record::CommandRecord;
use crate::run::{Place, Running, Scene};

/// The last line of the screen that a head shows when it is ready.
const READY: &str = "Stop: ";

/// What clients call the export.
const EXPORT: &str = "/data";

/// Heads of a cluster as the server.
pub struct Heads;

impl Server for Heads {
    fn commands(&self, cell: &Cell, place: &Place) -> Vec<CommandRecord> {
        let head = |host: &String| {
            let configuration = configuration_file(place, host).display().to_string();
            let words = ["serve", "--config", &configuration, "--rpcbind", "off", "--log", "info"];
            let mut command = vec![place.howdah()];
            command.extend(words.map(str::to_owned));
            command.extend(cell.spec.server.options.iter().cloned());
            CommandRecord { host: host.clone(), name: format!("server-{host}"), command }
        };
        cell.spec.server.heads.iter().map(head).collect()
    }

    fn check(&self, cell: &Cell) -> Result<()> {
        let server = &cell.spec.server;
        ensure!(!server.heads.is_empty(), "heads: kind = \"heads\" needs their hosts");
        ensure!(
            server.export != ExportKind::Ext4,
            "export: \"ext4\" is not possible; MooseFS is on memory or disk"
        );
        ensure!(cell.spec.relay.is_none(), "kind = \"heads\" takes no relay");
        let is_of_head = |to: &Option<String>| to.as_ref().is_some_and(|to| server.heads.contains(to));
        let lost = cell.spec.clients.iter().find(|(_, client)| !is_of_head(&client.to));
        let heads = server.heads.join(", ");
        lost.map_or(Ok(()), |(name, _)| {
            Err(anyhow::anyhow!("client {name}: `to` must name one of the heads: {heads}"))
        })
    }

    fn url(&self, address: IpAddr) -> String {
        format!("nfs://{address}{EXPORT}?nfsport=2049&mountport=2049")
    }

    fn start(&self, scene: &Scene<'_>) -> Result<Box<dyn ServedExport>> {
        let hosts = &scene.cell.spec.server.heads;
        let moosefs = MooseFs::start(scene, hosts).context("MooseFS")?;
        let key = key_file(scene.place).display().to_string();
        let make_key = [scene.place.howdah(), "cluster-key".to_owned(), key];
        scene.run(&scene.cell.spec.server.host, "cluster-key", &make_key)?;
        let mut heads = BTreeMap::new();
        for command in self.commands(scene.cell, scene.place) {
            let path = configuration_file(scene.place, &command.host);
            let text = configuration(scene.place, &command.host, &addresses(scene));
            fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
            let running = scene.start_until(&command.host, &command.name, &command.command, READY)?;
            heads.insert(command.host, running);
        }
        let is_whole = scene.cell.spec.failover.is_none();
        Ok(Box::new(ServingHeads { heads, moosefs, is_whole }))
    }
}

/// A head's configuration: as `docs/manual/clusters.md` has it.
fn configuration(place: &Place, host: &str, addresses: &[String]) -> String {
    let (key, mount) = (key_file(place), moosefs::mount_point(place, host));
    let (key, mount) = (key.display(), mount.display());
    let state = place.temporary.join(format!("state-{host}"));
    format!(
        "state = \"{}\"\n[cluster]\nid = \"lab\"\nkey_file = \"{key}\"\nrecords = \"{mount}/heads\"\n\
         addresses = {addresses:?}\n\
         [[export]]\nname = \"{EXPORT}\"\npath = \"{mount}{EXPORT}\"\nsquash = \"none\"\n",
        state.display()
    )
}

/// The addresses of all heads: each may move to another head.
fn addresses(scene: &Scene<'_>) -> Vec<String> {
    let heads = scene.cell.spec.server.heads.iter();
    let hosts = heads.filter_map(|head| scene.network.hosts().get(head));
    let on_wires = hosts.flat_map(|host| host.addresses().values());
    on_wires.map(|addresses| addresses.v4.to_string()).collect()
}

fn configuration_file(place: &Place, host: &str) -> PathBuf {
    place.temporary.join(format!("{host}.toml"))
}

fn key_file(place: &Place) -> PathBuf {
    place.temporary.join("cluster.key")
}

/// Fields end in this order.
struct ServingHeads {
    heads: BTreeMap<String, Running>,
    moosefs: MooseFs,
    /// No head is to be lost: the CPU time of one that is gone is not known.
    is_whole: bool,
}

impl ServedExport for ServingHeads {
    fn processes(&self) -> Vec<u32> {
        if !self.is_whole {
            return Vec::new();
        }
        self.heads.values().map(Running::id).chain(self.moosefs.mounts_of_heads()).collect()
    }

    fn check(&mut self) -> Result<()> {
        self.heads.values_mut().try_for_each(Running::check)?;
        self.moosefs.check()
    }

    fn lose(&mut self, host: &str, loss: HeadLoss) -> Result<()> {
        let mut head = self.heads.remove(host).with_context(|| format!("no head on {host}"))?;
        head.kill();
        if loss == HeadLoss::Host {
            self.moosefs.lose_mount(host);
        }
        Ok(())
    }

    fn end(&mut self) {
        self.heads.values_mut().for_each(Running::end);
    }
}
