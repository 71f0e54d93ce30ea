//! All UDP sockets that are served: they come and go with interfaces, while workers look them up by their tokens.

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::locks::{Mutex, RwLock};
use howdah_net::{Interface, Token, UdpSocket};

use super::traffic::Counts;
use super::{Port, UdpTraffic};
use crate::limits::INTERFACES_REMEMBERED;

/// Set in the tokens of UDP sockets, and in no others.
const UDP: u64 = 1 << 63;

/// The key of the counts: a bound address, and the name of an interface.
type Way = (SocketAddr, Option<String>);

/// The sockets.
#[derive(Debug, Default)]
pub struct Ports {
    open: RwLock<HashMap<Token, Arc<Port>>>,
    next: AtomicU64,
    /// What sockets carried that are closed now, the earliest first.
    closed: Mutex<Vec<(Way, Counts)>>,
}

impl Ports {
    /// Whether a token is one of ours.
    pub fn is_ours(token: Token) -> bool {
        token.0 & UDP != 0
    }

    /// The socket of this token, unless it is gone.
    pub fn get(&self, token: Token) -> Option<Arc<Port>> {
        self.open.read().get(&token).cloned()
    }

    /// All that are open.
    pub fn all(&self) -> Vec<Arc<Port>> {
        self.open.read().values().cloned().collect()
    }

    /// Takes a socket in.
    pub fn add(&self, socket: UdpSocket, interface: Option<Interface>) -> Arc<Port> {
        let token = Token(UDP | self.next.fetch_add(1, Ordering::Relaxed));
        let port = Arc::new(Port::new(socket, token, interface));
        self.open.write().insert(token, Arc::clone(&port));
        port
    }

    /// Lets one go: it is closed when the last call that came by it is answered. What it carried is remembered.
    pub fn remove(&self, port: &Port) {
        let mut closed = self.closed.lock();
        if self.open.write().remove(&port.token()).is_none() {
            return;
        }
        let way = way(port);
        match closed.iter_mut().find(|(known, _)| *known == way) {
            Some((_, counts)) => *counts += port.counts(),
            None => closed.push((way, port.counts())),
        }
        if closed.len() > INTERFACES_REMEMBERED {
            closed.remove(0);
        }
    }

    /// What was carried, by address and interface.
    pub fn traffic(&self) -> Vec<UdpTraffic> {
        let mut all: BTreeMap<Way, (usize, Counts)> = BTreeMap::new();
        // Both at once, so that a socket that is removed meanwhile is neither missed nor counted twice.
        let closed = self.closed.lock();
        for (way, counts) in closed.iter() {
            all.entry(way.clone()).or_default().1 += *counts;
        }
        for port in self.open.read().values() {
            let (sockets, counts) = all.entry(way(port)).or_default();
            *sockets += 1;
            *counts += port.counts();
        }
        all.into_iter()
            .map(|((address, interface), (sockets, counts))| traffic_of(address, interface, sockets, counts))
            .collect()
    }
}

fn way(port: &Port) -> Way {
    (port.socket().address(), port.interface().map(|interface| interface.name.clone()))
}

fn traffic_of(address: SocketAddr, interface: Option<String>, sockets: usize, counts: Counts) -> UdpTraffic {
    let Counts { received, sent, dropped, unsent } = counts;
    UdpTraffic { address, interface, sockets, received, sent, dropped, unsent }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn socket() -> UdpSocket {
        UdpSocket::bind("127.0.0.1:0".parse().expect("an address")).expect("a free port")
    }

    fn on(name: &str) -> Option<Interface> {
        let (name, addresses) = (name.to_owned(), Vec::new());
        Some(Interface { name, index: 1, is_up: true, is_part: false, addresses })
    }

    /// A socket that receives one datagram of this length.
    fn used(ports: &Ports, name: &str, length: usize) -> Arc<Port> {
        let port = ports.add(socket(), on(name));
        let client = std::net::UdpSocket::bind("127.0.0.1:0").expect("a free port");
        client.send_to(&vec![0; length], port.socket().address()).expect("sent");
        while port.receive(&mut [0; 100]).expect("received").is_none() {
            std::thread::yield_now();
        }
        port
    }

    #[test]
    fn what_a_closed_socket_carried_is_remembered() {
        let ports = Ports::default();
        let port = used(&ports, "eth0", 10);
        assert!(Ports::is_ours(port.token()) && ports.get(port.token()).is_some());
        ports.remove(&port);
        ports.remove(&port);
        assert!(ports.get(port.token()).is_none());
        let [one] = &ports.traffic()[..] else { panic!("one") };
        assert_eq!((one.sockets, one.received.datagrams, one.received.bytes), (0, 1, 10));
        assert_eq!(one.interface.as_deref(), Some("eth0"));
    }

    #[test]
    fn names_that_never_come_back_are_forgotten_some_day() {
        let ports = Ports::default();
        for number in 0..INTERFACES_REMEMBERED + 3 {
            let port = ports.add(socket(), on(&format!("veth{number}")));
            ports.remove(&port);
        }
        assert_eq!(ports.traffic().len(), INTERFACES_REMEMBERED);
    }
}
