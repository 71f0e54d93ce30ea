//! A router with NAT between a client of QUIC and its server: the client's datagrams come from an address that changes.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// How often it looks whether it is to end.
const LOOK: Duration = Duration::from_millis(50);
const LONGEST: usize = 65_536;

/// It runs until it is dropped.
pub struct Nat {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    server: SocketAddr,
    /// Faces the client.
    inner: UdpSocket,
    /// Faces the server.
    outer: Mutex<Arc<UdpSocket>>,
    client: Mutex<Option<SocketAddr>>,
    over: AtomicBool,
}

impl Nat {
    /// In front of a server, which sees the client at this address at first.
    pub fn new(server: SocketAddr, at: IpAddr) -> Self {
        let inner = socket("127.0.0.1".parse().expect("an address"));
        let address = inner.local_addr().expect("bound");
        let (outer, client, over) =
            (Mutex::new(Arc::new(socket(at))), Mutex::default(), AtomicBool::new(false));
        let shared = Arc::new(Shared { server, inner, outer, client, over });
        let nat = Self { address, shared: Arc::clone(&shared) };
        thread::spawn(move || shared.carry_to_server());
        nat.listen();
        nat
    }

    /// Where the client finds it.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The server sees the client at this address from now on.
    pub fn move_to(&self, at: IpAddr) {
        *lock(&self.shared.outer) = Arc::new(socket(at));
        self.listen();
    }

    fn listen(&self) {
        let (shared, outer) = (Arc::clone(&self.shared), Arc::clone(&lock(&self.shared.outer)));
        thread::spawn(move || shared.carry_to_client(&outer));
    }
}

impl Drop for Nat {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
    }
}

impl Shared {
    fn carry_to_server(&self) {
        self.receive(&self.inner, |datagram, client| {
            *lock(&self.client) = Some(client);
            let outer = Arc::clone(&lock(&self.outer));
            // What does not go is lost, as any datagram may be.
            let _ = outer.send_to(datagram, self.server);
        });
    }

    /// What still comes to a former address goes nowhere.
    fn carry_to_client(&self, outer: &Arc<UdpSocket>) {
        self.receive(outer, |datagram, _| {
            if Arc::ptr_eq(outer, &lock(&self.outer))
                && let Some(client) = *lock(&self.client)
            {
                let _ = self.inner.send_to(datagram, client);
            }
        });
    }

    fn receive(&self, socket: &UdpSocket, mut take: impl FnMut(&[u8], SocketAddr)) {
        let mut buffer = vec![0; LONGEST];
        while !self.over.load(Ordering::SeqCst) {
            match socket.recv_from(&mut buffer) {
                Ok((length, from)) => take(&buffer[..length], from),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                // Nobody was there for an earlier one.
                Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

fn socket(at: IpAddr) -> UdpSocket {
    let socket = UdpSocket::bind((at, 0)).expect("a free port");
    socket.set_read_timeout(Some(LOOK)).expect("a timeout");
    socket
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
