//! How clients find our port by themselves: the rpcbind of this machine if it runs, else we answer on its port ourselves, where
//! we may.

use std::net::SocketAddr;

use howdah_server::registration::{Keeper, OtherLocks, Registration, RegistrationError, register};
use howdah_server::{Sockets, UdpSettings};

use howdah_config::{Rpcbind, ServerConfig};

/// The port where clients look for rpcbind (RFC 1833 2.1).
pub const PORTMAPPER_PORT: u16 = 111;

/// How clients find us.
#[derive(Debug, Default)]
pub struct Portmapper {
    registration: Option<Registration>,
    keeper: Option<Keeper>,
    own: bool,
    /// Why NFSv3 clients can lock nothing here, if they cannot.
    other_locks: Option<OtherLocks>,
}

impl Portmapper {
    /// Registers these sockets, or adds the portmapper's port to them. That neither works is no failure: clients can be given
    /// the port.
    pub fn find(config: &ServerConfig, sockets: &mut Sockets) -> Self {
        let found = Self::look(config, sockets);
        match &found.other_locks {
            Some(other) => tracing::warn!(
                "locks of NFSv3 clients are refused: {other}. To serve them, unmount NFSv3 mounts of this host that are without nolock, stop rpc-statd, and restart howdah"
            ),
            None if !found.is_found(sockets) => tracing::info!(
                "NFSv3 clients must mount with nolock: they look up the lock service on port 111, which does not list this server"
            ),
            None => {}
        }
        if config.quotas && !found.is_found(sockets) {
            tracing::warn!(
                "clients cannot ask for quotas: they look up that service on port 111, which does not list this server; start rpcbind, or let howdah answer there (rpcbind = \"auto\", as root)"
            );
        }
        found
    }

    /// Whether clients that ask on port 111 find this server.
    fn is_found(&self, sockets: &Sockets) -> bool {
        let is_here = || sockets.tcp.iter().any(|socket| socket.address().port() == PORTMAPPER_PORT);
        self.is_registered() || self.own || is_here()
    }

    fn look(config: &ServerConfig, sockets: &mut Sockets) -> Self {
        if config.rpcbind == Rpcbind::Off {
            return Self::default();
        }
        match register(&sockets.addresses(), config.quotas) {
            Ok(registration) => {
                tracing::info!(rows = registration.rows().len(), "registered with rpcbind");
                let other_locks = registration.other_locks().cloned();
                if let Some(port) = registration.other_quotas() {
                    tracing::warn!(
                        "clients ask another program of this host for quotas (rpc.rquotad, port {port}): to answer them with the exports of this server, stop that program and restart howdah"
                    );
                }
                Self { registration: Some(registration), other_locks, ..Self::default() }
            }
            Err(RegistrationError::Unreachable(_)) => {
                Self { own: answer_ourselves(sockets, config.udp), ..Self::default() }
            }
            Err(error) => {
                tracing::warn!(%error, "not registered with rpcbind; NFSv3 clients must pass the port");
                Self::default()
            }
        }
    }

    /// Looks after the registration from here on: an rpcbind that restarts gets it again. Starts a thread.
    pub fn keep(&mut self) {
        if let Some(registration) = self.registration.take().filter(|held| !held.rows().is_empty()) {
            match registration.keep() {
                Ok(keeper) => self.keeper = Some(keeper),
                Err(error) => {
                    tracing::warn!(%error, "the registration with rpcbind is not watched; if it is lost, NFSv3 clients must pass the port")
                }
            }
        }
    }

    /// The program from which clients get the port, once it is kept; none: people must.
    pub fn answered_by(&self) -> Option<&'static str> {
        match (self.own, &self.keeper) {
            (true, _) => Some("howdah"),
            (_, Some(_)) => Some("rpcbind"),
            (false, None) => None,
        }
    }

    /// Whether NFSv3 clients can lock files here: a lock manager or status monitor of this host has no other place.
    pub fn has_locks(&self) -> bool {
        self.other_locks.is_none()
    }

    /// Whether rpcbind has the registration. Keeping it needs more calls from a port below 1024.
    pub fn is_registered(&self) -> bool {
        self.registration.is_some()
    }

    /// Takes the registration back.
    pub fn take_back(self) {
        let kept = self.keeper.map(Keeper::take_back);
        if let Some(Err(error)) = kept.or_else(|| self.registration.map(Registration::take_back)) {
            tracing::warn!(%error, "could not unregister from rpcbind; the entry remains");
        }
    }
}

/// Listens on the portmapper's port too, at the addresses that are served; whether that worked at all of them.
fn answer_ourselves(sockets: &mut Sockets, udp: bool) -> bool {
    let at = |address: SocketAddr| SocketAddr::new(address.ip(), PORTMAPPER_PORT);
    let mut served: Vec<SocketAddr> = sockets.tcp.iter().map(|socket| at(socket.address())).collect();
    served.sort();
    served.dedup();
    match Sockets::bind_with(&served, udp.then_some(&UdpSettings::ONE)) {
        Ok(own) => {
            sockets.tcp.extend(own.tcp);
            sockets.udp.extend(own.udp);
            true
        }
        Err(error) => {
            tracing::debug!(%error, "not answering as portmapper");
            false
        }
    }
}
