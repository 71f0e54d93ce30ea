//! Follows the host's interfaces: each that is up and has an address has UDP sockets of its own, made when it comes and
//! removed when it goes. Whatever they do not take, the wildcard does.

use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use howdah_net::{Heard, Interface, InterfaceEvents, UdpSocket, interfaces};

use super::PerInterface;
use crate::limits::INTERFACES_MAX;
use crate::shared::Shared;

/// Changes that come together are looked at once: an interface that comes up has its addresses a moment later. Also how
/// often all interfaces are read, at most, while others change them on and on.
const TOGETHER: Duration = Duration::from_millis(50);
/// How soon it is tried again to read interfaces that could not be read.
const AGAIN: Duration = Duration::from_secs(1);

/// Follows them.
pub struct Follower {
    shared: Arc<Shared>,
    wanted: PerInterface,
    events: Arc<InterfaceEvents>,
    /// What could not be had, so that it is said once.
    refused: BTreeSet<Interface>,
}

impl Follower {
    /// Begins, with the interfaces that there are.
    ///
    /// # Errors
    /// The kernel does not report interfaces.
    pub fn start(shared: Arc<Shared>, wanted: PerInterface) -> io::Result<Self> {
        // First the ear, then the look: what changes between the two is heard.
        let events = Arc::new(InterfaceEvents::new()?);
        let mut follower = Self { shared, wanted, events, refused: BTreeSet::new() };
        follower.look()?;
        Ok(follower)
    }

    /// Wakes it, so that it sees that the server stops.
    pub fn events(&self) -> Arc<InterfaceEvents> {
        Arc::clone(&self.events)
    }

    /// Follows until the server stops.
    pub fn run(mut self) {
        let mut is_late = false;
        while !self.shared.stopping.load(Ordering::SeqCst) {
            let looked = if is_late { self.look() } else { self.step() };
            if let Err(error) = &looked {
                if !is_late {
                    tracing::warn!(%error, "cannot follow interfaces; UDP sockets stay unchanged until it works");
                }
                // It takes a descriptor, of which there may be none for a while. Stopping the server wakes us.
                std::thread::park_timeout(AGAIN);
            }
            is_late = looked.is_err();
        }
    }

    fn step(&mut self) -> io::Result<()> {
        if self.events.wait(None)? != Heard::Change || self.events.rest(TOGETHER)? {
            return Ok(());
        }
        // What has come meanwhile is seen by this look, too.
        while self.events.wait(Some(Duration::ZERO))? == Heard::Change {}
        self.look()
    }

    /// Makes and removes sockets, so that they are those that the interfaces want now.
    fn look(&mut self) -> io::Result<()> {
        let mut now = interfaces()?;
        now.retain(|interface| interface.is_up && !interface.is_part);
        for port in self.shared.udp.all() {
            let Some(interface) = port.interface() else { continue };
            if !now.iter().any(|now| is_same(now, interface) && serves(now, port.socket().address())) {
                tracing::info!(
                    interface = interface.name,
                    "UDP: the interface is gone, its sockets are closed"
                );
                self.shared.udp.remove(&port);
            }
        }
        self.refused.retain(|refused| now.contains(refused));
        let mut served = self.served();
        for address in self.wanted.addresses.clone() {
            for interface in now.iter().filter(|interface| serves(interface, address)) {
                let is_known =
                    served.contains(&(address, interface.index)) || self.refused.contains(interface);
                let count = served.iter().filter(|(served, _)| *served == address).count();
                if !is_known && count < INTERFACES_MAX {
                    served.insert((address, interface.index));
                    self.open(address, interface);
                }
            }
        }
        Ok(())
    }

    /// What has sockets, by address and interface.
    fn served(&self) -> BTreeSet<(SocketAddr, u32)> {
        let all = self.shared.udp.all();
        all.iter().filter_map(|port| Some((port.socket().address(), port.interface()?.index))).collect()
    }

    fn open(&mut self, address: SocketAddr, interface: &Interface) {
        for _ in 0..self.wanted.sockets {
            let opened = UdpSocket::bind_beside(address, Some(&interface.name))
                .and_then(|socket| self.shared.add_udp(socket, Some(interface.clone())));
            if let Err(error) = opened {
                tracing::warn!(interface = interface.name, %error, "UDP: no socket of its own; the wildcard takes its datagrams");
                self.refused.insert(interface.clone());
                return;
            }
        }
        tracing::info!(interface = interface.name, %address, sockets = self.wanted.sockets, "UDP: sockets of its own");
    }
}

/// Whether it is the interface that it was, under the name that it had.
fn is_same(now: &Interface, then: &Interface) -> bool {
    now.index == then.index && now.name == then.name
}

/// Whether an interface can be reached at a wildcard: IPv6's takes IPv4 too.
fn serves(interface: &Interface, wildcard: SocketAddr) -> bool {
    interface.addresses.iter().any(|address| wildcard.is_ipv6() || matches!(address, IpAddr::V4(_)))
}
