//! Accepts near connections, and waits for their first words: the program of the first call says where on the far server it leads.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use howdah_net::{Interest, Listener, Poller, Ready, RelayEnd, Sent, Stream, Token, Waker};

use crate::first_words;
use crate::limits::FIRST_WORDS_PATIENCE;
use crate::opening::Opening;
use crate::places::Admitted;
use crate::registry::Registry;

const WAKER: Token = Token(u64::MAX);
/// How long nothing is accepted after it failed, for want of descriptors for instance.
const PAUSE: Duration = Duration::from_millis(100);

/// The thread that accepts.
pub struct Door {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    poller: Poller,
    waker: Waker,
    is_stopping: Arc<AtomicBool>,
}

/// What the thread has.
struct Accepting {
    shared: Arc<Shared>,
    listeners: Vec<Listener>,
    registry: Arc<Registry>,
    opening: Opening,
    /// Those that have said nothing yet.
    silent: HashMap<u64, Silent>,
    next: u64,
}

struct Silent {
    near: Stream,
    place: Admitted,
    since: Instant,
}

impl Door {
    /// Accepts from now on.
    ///
    /// # Errors
    /// The system gives no descriptors or no thread.
    pub fn open(
        listeners: Vec<Listener>,
        registry: Arc<Registry>,
        opening: Opening,
        is_stopping: Arc<AtomicBool>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared { poller: Poller::new()?, waker: Waker::new()?, is_stopping });
        shared.poller.add_waker(&shared.waker, WAKER)?;
        for (number, listener) in listeners.iter().enumerate() {
            shared.poller.add(listener, Token(number as u64), Interest::READABLE)?;
        }
        let next = listeners.len() as u64;
        let its = Arc::clone(&shared);
        let accepting = Accepting { shared: its, listeners, registry, opening, silent: HashMap::new(), next };
        let thread = thread::Builder::new().name("relay-accept".to_owned()).spawn(|| accepting.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Has those closed that say nothing.
    pub fn tick(&self) {
        self.shared.waker.wake();
    }

    /// Accepts no more. The stop must have been asked for.
    pub fn close(&mut self) {
        self.shared.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Accepting {
    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        while !shared.is_stopping.load(Ordering::SeqCst) {
            match shared.poller.wait() {
                Ok(Some(ready)) if ready.token == WAKER => forget_silent(&mut self.silent, Instant::now()),
                Ok(Some(ready)) if (ready.token.0 as usize) < self.listeners.len() => self.accept(&ready),
                Ok(Some(ready)) => self.listen_to(ready.token),
                Ok(None) => {}
                Err(error) => return tracing::error!(%error, "waiting for new connections"),
            }
        }
    }

    fn accept(&mut self, ready: &Ready) {
        let index = ready.token.0 as usize;
        loop {
            match self.listeners[index].accept() {
                Ok(Some(near)) => self.admit(near),
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(%error, "accepting a connection");
                    thread::park_timeout(PAUSE);
                    break;
                }
            }
        }
        if let Err(error) = self.shared.poller.arm(&self.listeners[index], ready.token, Interest::READABLE) {
            tracing::error!(%error, "waiting for new connections");
        }
    }

    fn admit(&mut self, near: Stream) {
        let client = near.peer().ends.client;
        let Some(place) = self.registry.admit(client.ip()) else {
            tracing::debug!(%client, "no place for another connection");
            return near.reset();
        };
        let token = Token(self.next);
        self.next += 1;
        let waits = (near.wake_at(first_words::LENGTH))
            .and_then(|()| self.shared.poller.add(&near, token, Interest::READABLE));
        match waits {
            Ok(()) => drop(self.silent.insert(token.0, Silent { near, place, since: Instant::now() })),
            Err(error) => tracing::warn!(%client, %error, "waiting for a connection"),
        }
    }

    /// A connection has said something, or ended.
    fn listen_to(&mut self, token: Token) {
        let Some(Silent { near, place, .. }) = self.silent.remove(&token.0) else { return };
        let (client, words) = (near.peer().ends.client, first_words_of(&near));
        // Another poller waits for it from now on.
        let _ = self.shared.poller.remove(&near);
        match words.and_then(|words| near.wake_at(1).map(|()| words)) {
            Ok(Some(words)) => self.opening.begin(near, first_words::program(&words), place),
            Ok(None) => tracing::debug!(%client, "ended before its first call"),
            Err(error) => tracing::debug!(%client, %error, "ended before its first call"),
        }
    }
}

/// The beginning of the first call; `None`: the client ended before.
fn first_words_of(near: &Stream) -> io::Result<Option<[u8; first_words::LENGTH]>> {
    let mut words = [0; first_words::LENGTH];
    Ok((near.peek(&mut words)? == Sent::Bytes(words.len())).then_some(words))
}

fn forget_silent(silent: &mut HashMap<u64, Silent>, now: Instant) {
    silent.retain(|_, waits| now.saturating_duration_since(waits.since) < FIRST_WORDS_PATIENCE);
}

/// Where clients can connect.
pub fn addresses(listeners: &[Listener]) -> Vec<SocketAddr> {
    listeners.iter().map(Listener::address).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;
    use crate::places::ConnectionPlaces;

    #[test]
    fn who_says_nothing_goes() {
        let listener = Listener::bind("127.0.0.1:0".parse().expect("an address")).expect("a free port");
        let _client = TcpStream::connect(listener.address()).expect("it listens");
        let near = loop {
            if let Some(near) = listener.accept().expect("open") {
                break near;
            }
        };
        let places = ConnectionPlaces::new(1);
        let place = places.admit(near.peer().ends.client.ip()).expect("a place");
        let since = Instant::now();
        let mut silent = HashMap::from([(1, Silent { near, place, since })]);
        forget_silent(&mut silent, since + FIRST_WORDS_PATIENCE - Duration::from_nanos(1));
        assert_eq!(silent.len(), 1);
        forget_silent(&mut silent, since + FIRST_WORDS_PATIENCE);
        assert!(silent.is_empty() && places.taken() == 0, "its place is free again");
    }
}
