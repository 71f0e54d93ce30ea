//! Where on a server NFS and MOUNT may be.

use std::net::SocketAddr;
use std::time::Duration;

use howdah_vfs::Caller;
use howdah_wire::{mount, nfs3};

use super::portmap::{PortQuestion, Portmapper};
use crate::channel::Transport;

/// The port of NFS where nobody says another one.
pub(crate) const NFS_PORT: u16 = 2049;

/// A port, and how messages travel to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Address and port.
    pub address: SocketAddr,
    /// TCP or UDP.
    pub transport: Transport,
}

/// What is known of a server before it is asked.
#[derive(Debug, Clone)]
pub struct Search {
    /// The server, with the port of its portmapper.
    pub portmapper: SocketAddr,
    /// The port of all its programs, if that was said.
    pub port: Option<u16>,
    /// The port of NFS, if that was said.
    pub nfs_port: Option<u16>,
    /// The port of MOUNT, if that was said.
    pub mount_port: Option<u16>,
    /// How NFS messages are to travel; MOUNT's too, if they can.
    pub transport: Transport,
    /// Who asks.
    pub caller: Caller,
    /// How long one answer may take.
    pub patience: Duration,
}

/// Where NFS is, and where MOUNT may be, the likeliest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Places {
    /// NFS.
    pub nfs: SocketAddr,
    /// MOUNT.
    pub mount: Vec<Place>,
}

impl Search {
    /// Finds the ports. A given port is used as it is. MOUNT is tried on a given port of NFS before the portmapper is asked, since
    /// another server of the same host may have registered its MOUNT there. Without a given port the portmapper is asked. If there
    /// is none, all programs are expected on NFS's default port.
    pub fn run(&self) -> Places {
        let nfs_port = self.nfs_port.or(self.port);
        // A server need not have MOUNT on the port of NFS, so that one is not asked over a second transport.
        let shared =
            || self.nfs_port.map(|port| vec![Place { address: self.at(port), transport: self.transport }]);
        let said = self.mount_port.or(self.port).map(|port| self.both(port)).or_else(shared);
        // Where MOUNT is not on the port said, `Places::mount` runs out and `elsewhere` is asked.
        if let (Some(nfs_port), Some(mount)) = (nfs_port, said.clone()) {
            return Places { nfs: self.at(nfs_port), mount };
        }
        let portmapper = self.portmapper();
        let asked = portmapper.as_ref().map(|known| {
            let nfs = nfs_port.is_none().then(|| known.ask(nfs3::PROGRAM, nfs3::VERSION, self.transport));
            (nfs, said.is_none().then(|| self.ask_for_mount(known)))
        });
        let (nfs, mount) = asked.unwrap_or_default();
        let nfs = nfs_port.or_else(|| nfs.and_then(answered)).unwrap_or(NFS_PORT);
        let mut mount = said.unwrap_or_else(|| mount.map(|asked| self.registered(asked)).unwrap_or_default());
        if mount.is_empty() {
            mount = self.both(nfs);
        }
        Places { nfs: self.at(nfs), mount }
    }

    /// Where MOUNT is according to the portmapper. It is asked if MOUNT is not on the port given for all programs or for NFS.
    pub fn elsewhere(&self) -> Vec<Place> {
        if self.mount_port.is_some() || self.port.or(self.nfs_port).is_none() {
            return Vec::new();
        }
        self.portmapper().map(|known| self.registered(self.ask_for_mount(&known))).unwrap_or_default()
    }

    fn portmapper(&self) -> Option<Portmapper> {
        let opened = Portmapper::open(self.portmapper, self.caller.clone(), self.patience);
        opened.inspect_err(|error| tracing::debug!(%error, "no portmapper")).ok()
    }

    fn ask_for_mount(&self, portmapper: &Portmapper) -> [(Transport, PortQuestion); 2] {
        let ask = |transport| (transport, portmapper.ask(mount::PROGRAM, mount::VERSION_3, transport));
        self.transports().map(ask)
    }

    fn registered(&self, asked: [(Transport, PortQuestion); 2]) -> Vec<Place> {
        let place = |(transport, question)| Some(Place { address: self.at(answered(question)?), transport });
        asked.into_iter().filter_map(place).collect()
    }

    fn both(&self, port: u16) -> Vec<Place> {
        let address = self.at(port);
        self.transports().map(|transport| Place { address, transport }).to_vec()
    }

    /// That of NFS first: where datagrams are asked for, streams may be blocked.
    fn transports(&self) -> [Transport; 2] {
        if self.transport == Transport::Quic {
            return [Transport::Quic; 2];
        }
        let [first, second] = Transport::REGISTERED;
        if self.transport == first { [first, second] } else { [second, first] }
    }

    fn at(&self, port: u16) -> SocketAddr {
        let mut address = self.portmapper;
        address.set_port(port);
        address
    }
}

fn answered(question: PortQuestion) -> Option<u16> {
    question.port().inspect_err(|error| tracing::debug!(%error, "the portmapper does not say")).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_is_asked_at_the_port_of_nfs_that_was_said() {
        let search = Search {
            portmapper: SocketAddr::from(([127, 0, 0, 1], 111)),
            port: None,
            nfs_port: Some(30_061),
            mount_port: None,
            transport: Transport::Tcp,
            caller: Caller::ROOT,
            patience: Duration::from_secs(1),
        };
        let nfs = SocketAddr::from(([127, 0, 0, 1], 30_061));
        let place = Place { address: nfs, transport: Transport::Tcp };
        assert_eq!(search.run(), Places { nfs, mount: vec![place] });
    }
}
