//! What the procedures of portmap know: which programs are served, and where.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use crate::locks::{RwLock, RwLockReadGuard};
use howdah_wire::portmap::Protocol;
use howdah_wire::rpcbind::Network;

use super::places::{self, Wanted};
use crate::Transport;
use crate::programs::Served;

/// Where a server listens.
pub type Listeners = Vec<(Transport, SocketAddr)>;

/// The state behind the procedures.
pub struct Portmap {
    listeners: Arc<RwLock<Listeners>>,
    /// Every program and version that is served.
    pub(super) served: Vec<Served>,
}

impl Portmap {
    /// Answers where these programs and versions are served.
    pub fn new(listeners: Arc<RwLock<Listeners>>, served: Vec<Served>) -> Self {
        Self { listeners, served }
    }

    /// The port on which a client that reached this server at `asked` reaches a program over this network.
    pub fn port(&self, program: u32, wanted: Wanted, network: Network, asked: IpAddr) -> Option<u16> {
        let fits = |served: &Served| {
            served.program == program
                && (wanted == Wanted::Any || wanted == Wanted::Version(served.version))
                && (served.takes_datagrams || network.protocol() != Protocol::UDP)
        };
        let is_served = self.served.iter().any(fits);
        is_served.then(|| places::port(&self.listeners(), program, network, asked)).flatten()
    }

    /// Where this server listens.
    pub fn listeners(&self) -> RwLockReadGuard<'_, Listeners> {
        self.listeners.read()
    }
}
