//! Where faults happen: a client and a server on hosts of their own, a wire between them, and below the server's directory a disk of
//! our own.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, TcpStream, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use howdah_lab::guest::find_command;
use howdah_lab::network::{LabHost, LabNetwork, Topology, WireCounters, WireSpec};
use howdah_link::{Counters, PathSpec};
use howdah_vfs::FileSystem;
use rustix::fs::{Advice, fadvise};

use super::names::start_rpcbind;
use super::newcomer::PAUSE;
use super::trial::GIVE_UP;
use crate::trust::campaign::Context;
use crate::trust::crew::client;
use crate::trust::disk::{BTRFS, Disk, Kind, run};
use crate::trust::server::{Offer, Server, Site};

/// The hosts, and the wire between them.
pub const CLIENT: &str = "client";
const SERVER: &str = "server";
pub const WIRE: &str = "path0";
/// What a wire counts besides the path: what it took from its sender, and what the receiver was given.
const ENDS: [&str; 2] = ["taken", "delivered"];
/// Addresses that the client's host has besides: who calls from there is another client.
pub const CROWD: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 3);
pub const STRANGER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 4);
/// The least that can be set.
const MEMORY_BUDGET: &str = "16M";
/// A file that nobody changes.
pub const COLD: &str = "cold";
pub const COLD_SIZE: usize = 1 << 20;

/// Where a fault happens.
pub struct Scene {
    /// The server, which goes first.
    pub server: Server,
    held: Mutex<Held>,
    network: LabNetwork,
    /// The disk.
    pub disk: Disk,
    seed: u64,
}

/// What faults hold.
#[derive(Default)]
pub struct Held {
    /// The one that knows the server's port, if there is one here.
    pub rpcbind: Option<Child>,
    /// Who takes no replies.
    pub crowd: Vec<TcpStream>,
    /// Who is asked for names, and says nothing.
    pub resolver: Option<UdpSocket>,
    /// The file system on the disk is frozen, or about to be.
    is_frozen: bool,
    /// Bytes that the server had said when the fault began.
    heard: usize,
}

impl Scene {
    /// Sets it on a disk with this file system.
    pub fn set(context: &Context, kind: Kind) -> Result<Self> {
        let place = context.directory.join(kind.name);
        let disk = Disk::make(&place, kind).context("a disk of our own")?;
        let network = context.sandbox.network(&Topology::pair(WireSpec::default()))?;
        for address in [CROWD, STRANGER] {
            let mut add = network.host(CLIENT).command("ip");
            run(add.args(["address", "add", &format!("{address}/24"), "dev", WIRE]))?;
        }
        let export = disk.mounted().join("export");
        if kind.name == BTRFS.name {
            run(Command::new("btrfs").args(["subvolume", "create"]).arg(&export))?;
        }
        let is_registered = find_command("rpcbind").is_some();
        let rpcbind = is_registered.then(|| start_rpcbind(network.host(SERVER))).transpose()?;
        let hosts = [CLIENT, SERVER].map(|name| network.host(name).namespace().clone());
        let site = Site { address: network.address(SERVER, WIRE), hosts: Some(hosts) };
        let offer = Offer {
            export,
            clients: vec![CLIENT.to_owned(), CROWD.to_string(), STRANGER.to_string()],
            is_registered,
            flags: ["--memory-budget", MEMORY_BUDGET].map(str::to_owned).to_vec(),
            site,
            ..Offer::below(&place)
        };
        let server = Server::start_with(&context.binary, offer)?;
        let held = Mutex::new(Held { rpcbind, ..Held::default() });
        let scene = Self { server, held, network, disk, seed: context.seed };
        std::fs::write(scene.cold(), cold_bytes()).context("making a file that nobody changes")?;
        run(Command::new("sync").arg("-f").arg(scene.cold()))?;
        Ok(scene)
    }

    /// The file that nobody changes.
    pub fn cold(&self) -> PathBuf {
        self.server.export().join(COLD)
    }

    /// Where the export is mounted from.
    pub fn url(&self) -> String {
        self.server.url("", "&lanes=1")
    }

    /// The client's host.
    pub fn client(&self) -> &LabHost {
        self.network.host(CLIENT)
    }

    /// The server's host, and its address.
    pub fn server_host(&self) -> (&LabHost, IpAddr) {
        (self.network.host(SERVER), self.network.address(SERVER, WIRE))
    }

    /// Mounts on the client's host.
    pub fn mount(&self, url: &str) -> Result<Arc<dyn FileSystem>> {
        self.network.host(CLIENT).run_in(|| client(url))?
    }

    /// The server's process.
    pub fn process(&self) -> Result<String> {
        Ok(self.server.process().context("the server was killed")?.to_string())
    }

    /// What the server has said so far is none of the next fault's.
    pub fn listen(&self) -> Result<()> {
        self.held().heard = self.server.said()?.len();
        Ok(())
    }

    /// Waits until the server has said this.
    pub fn wait_until_said(&self, what: &str) -> Result<()> {
        let (began, heard) = (Instant::now(), self.held().heard);
        while !self.server.said()?.get(heard..).is_some_and(|said| said.contains(what)) {
            ensure!(began.elapsed() < GIVE_UP, "the server did not say {what:?}");
            thread::sleep(PAUSE);
        }
        Ok(())
    }

    /// Neither the kernel nor the disk's host remembers what it has read or written of a file: it comes from the disk next.
    pub fn forget(&self, path: &Path) -> Result<()> {
        for path in [path, self.disk.file()] {
            let file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
            fadvise(&file, 0, None, Advice::DontNeed).context("forgetting what was read")?;
        }
        Ok(())
    }

    /// Nothing is written to the disk's file system until it thaws.
    pub fn freeze(&self) -> Result<()> {
        self.held().is_frozen = true;
        run(Command::new("fsfreeze").arg("-f").arg(self.disk.mounted()))
    }

    /// It is as before.
    pub fn thaw(&self) -> Result<()> {
        run(Command::new("fsfreeze").arg("-u").arg(self.disk.mounted()))?;
        self.held().is_frozen = false;
        Ok(())
    }

    /// What is held.
    pub fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The wire is like this from here on, both ways: a path, as TOML has it.
    pub fn set_path(&self, path: &str) -> Result<()> {
        let path: PathSpec = toml::from_str(path).context("a path")?;
        self.network.wire(WIRE).change(&path, self.seed);
        Ok(())
    }

    /// What the path did to packets since it was set, both ways: each of its elements, and not the wire's own ends.
    pub fn deeds(&self) -> Vec<(String, Counters)> {
        let WireCounters { there, back } = self.network.wire(WIRE).counters();
        let elements = there.elements.into_iter().chain(back.elements);
        let elements = elements.filter(|element| !ENDS.contains(&element.name.as_str()));
        elements.map(|element| (element.name, element.counters)).collect()
    }
}

/// What the file holds that nobody changes.
pub fn cold_bytes() -> Vec<u8> {
    (0..COLD_SIZE as u64 / 8)
        .flat_map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes())
        .collect()
}

impl Drop for Scene {
    fn drop(&mut self) {
        if self.held().is_frozen {
            // What cannot be thawed is not frozen.
            let _ = self.thaw();
        }
        if let Some(mut rpcbind) = self.held().rpcbind.take() {
            // If it has ended already there is nothing to end.
            let _ = rpcbind.kill();
            let _ = rpcbind.wait();
        }
    }
}
