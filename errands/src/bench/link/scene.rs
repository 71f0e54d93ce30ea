//! Two hosts and a wire with a path, and sockets on them.

use std::io;
use std::net::{IpAddr, SocketAddr, UdpSocket};

use anyhow::{Context, anyhow};
use howdah_lab::network::{DirectionCounters, Network, Topology, WireSpec};
use howdah_link::Counters;
use socket2::SockRef;

/// The wire.
const WIRE: &str = "path0";
/// So much may wait at a socket: nothing is to be lost there.
const SOCKET_BUFFER: usize = 64 << 20;

/// A network, alive.
pub struct Scene {
    pub network: Network,
}

impl Scene {
    /// With the path that this text describes, as in a plan; punctual or not, or as wires like it are.
    pub fn new(path: &str, punctual: Option<bool>, seed: u64) -> anyhow::Result<Self> {
        let spec = toml::from_str(path).map_err(|error| anyhow!("path {path:?}: {error}"))?;
        let usual = WireSpec::new(spec, seed);
        let wire = WireSpec { punctual: punctual.unwrap_or(usual.punctual), ..usual };
        Ok(Self { network: Network::build(&Topology::pair(wire))? })
    }

    /// The address of a host.
    pub fn address(&self, host: &str) -> IpAddr {
        self.network.address(host, WIRE)
    }

    /// Does something on a host, which is told its address.
    pub fn on<T: Send>(
        &self,
        host: &str,
        what: impl FnOnce(IpAddr) -> io::Result<T> + Send,
    ) -> anyhow::Result<T> {
        let address = self.address(host);
        self.network.host(host).run_in(|| what(address))?.context("making a socket")
    }

    /// A socket on a host.
    pub fn socket(&self, host: &str) -> anyhow::Result<UdpSocket> {
        let socket = self.on(host, |address| UdpSocket::bind(SocketAddr::new(address, 0)))?;
        // As root of a user namespace only less may be had; then so much less.
        let _ = SockRef::from(&socket).set_recv_buffer_size(SOCKET_BUFFER);
        Ok(socket)
    }

    /// What became of packets from client to server.
    pub fn there(&self) -> DirectionCounters {
        self.network.wire(WIRE).counters().there
    }

    /// Packets that an interface of a host dropped because the forwarder did not take them soon enough.
    pub fn dropped_before(&self, host: &str) -> anyhow::Result<u64> {
        let text =
            self.network.host(host).run_in(|| std::fs::read_to_string("/proc/thread-self/net/dev"))??;
        let line = text.lines().find_map(|line| line.trim().strip_prefix(WIRE)?.strip_prefix(':'));
        // Eight figures of receiving, then bytes, packets, errors and drops of sending.
        let figure = line.and_then(|line| line.split_whitespace().nth(11)).context("no such interface")?;
        figure.parse().context("a count")
    }

    /// And back.
    pub fn back(&self) -> DirectionCounters {
        self.network.wire(WIRE).counters().back
    }
}

/// What an element counted.
pub fn element(direction: &DirectionCounters, name: &str) -> anyhow::Result<Counters> {
    let found = direction.elements.iter().find(|element| element.name == name);
    found.map(|element| element.counters).with_context(|| format!("no element {name}"))
}
