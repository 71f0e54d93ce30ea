//! A server on a host with several interfaces, and what it has carried on each.

use std::net::SocketAddr;
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use howdah_lab::network::{HostSpec, LabHost, LabNetwork, Topology, WireSpec};
use howdah_needs::{Lack, skipped};
use howdah_server::exports::{ClientRule, Export, Exports, Squash};
use howdah_server::{Server, Settings, Sockets, UdpSettings, UdpTraffic};
use howdah_vfs::memory::MemoryFileSystem;

use crate::LIMIT;

/// Three clients, each on a wire of its own to the server.
pub const CLIENTS: [&str; 3] = ["one", "two", "three"];
/// Their wires.
pub const WIRES: [&str; 3] = ["path0", "path1", "path2"];

/// The network, unless this user may not make one.
pub fn network() -> Option<LabNetwork> {
    if !rustix::process::geteuid().is_root() {
        skipped(Lack::Root, "making network namespaces takes root");
        return None;
    }
    let hosts = CLIENTS.iter().chain(&["server"]).map(|name| ((*name).to_owned(), HostSpec::default()));
    let wires = CLIENTS.iter().zip(WIRES).map(|(client, wire)| {
        let between = [(*client).to_owned(), "server".to_owned()];
        (wire.to_owned(), WireSpec { between, ..WireSpec::default() })
    });
    let topology = Topology { hosts: hosts.collect(), wires: wires.collect() };
    Some(LabNetwork::build(&topology).expect("a network"))
}

/// A server of an empty file system on a host.
pub struct Served {
    pub server: Server,
    pub port: u16,
}

impl Served {
    /// At every address of the host.
    pub fn start(host: &LabHost, udp: UdpSettings) -> Self {
        let any = if std::path::Path::new("/proc/net/if_inet6").exists() { "[::]:0" } else { "0.0.0.0:0" };
        let rule = ClientRule { squash: Squash::None, ..ClientRule::default() };
        let export = Export::new("/", 1, Arc::new(MemoryFileSystem::new()), vec![rule]);
        let exports = Exports::new(vec![export], [7; 16]).expect("one export");
        let settings = Settings { workers: 8, ..Settings::default() };
        let start = || {
            let sockets =
                Sockets::bind_with(&[any.parse().expect("an address")], Some(&udp)).expect("a port");
            Server::start(&settings, sockets, exports).expect("a server")
        };
        let server = host.run_in(start).expect("a thread");
        let port = server.addresses()[0].1.port();
        Self { server, port }
    }

    /// The wire form of the root's handle.
    pub fn root(&self) -> Vec<u8> {
        let exports = self.server.service().exports();
        let export = exports.iter().next().expect("one export");
        exports.seal(export, export.root()).as_wire().0.to_vec()
    }

    /// Its address on a wire.
    pub fn at(&self, network: &LabNetwork, wire: &str) -> SocketAddr {
        SocketAddr::new(network.address("server", wire), self.port)
    }

    /// What was carried on an interface, or by none's sockets.
    pub fn on(&self, interface: Option<&str>) -> Option<UdpTraffic> {
        self.server.udp_traffic().into_iter().find(|traffic| traffic.interface.as_deref() == interface)
    }

    /// Datagrams received on an interface, or by none's sockets.
    pub fn received(&self, interface: Option<&str>) -> u64 {
        self.on(interface).map_or(0, |traffic| traffic.received.datagrams)
    }

    /// Waits until an interface has so many sockets.
    pub fn await_sockets(&self, interface: &str, count: usize) {
        await_that(&format!("{count} sockets of {interface}"), || {
            self.on(Some(interface)).map_or(0, |traffic| traffic.sockets) == count
        });
    }
}

/// Waits until something holds.
pub fn await_that(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < deadline, "not in {LIMIT:?}: {what}");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Runs ip(8) on a host; what it says if it fails.
pub fn try_ip(host: &LabHost, arguments: &str) -> Result<(), String> {
    let mut command: Command = host.command("ip");
    let output = command.args(arguments.split(' ')).output().expect("ip, of the package iproute2");
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}

/// The same, where it must not fail.
pub fn ip(host: &LabHost, arguments: &str) {
    try_ip(host, arguments).unwrap_or_else(|said| panic!("ip {arguments}: {said}"));
}
