//! A thread that carries the connections that were given to it. None is shared: the thread that wakes for one side has both.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use howdah_net::{Poller, Ready, Token, Waker};
use parking_lot::Mutex;

use crate::driven::{DriveOutcome, Driven, of_token};
use crate::pair::RelayedPair;
use crate::registry::Registry;
use crate::tools::Tools;

/// The waker's; no pair has a number so high.
const WAKER: Token = Token(u64::MAX);

/// The thread, for those who give it connections.
#[derive(Debug)]
pub struct Carrier {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    poller: Poller,
    waker: Waker,
    given: Mutex<Vec<Arc<RelayedPair>>>,
    is_stopping: AtomicBool,
}

impl Carrier {
    /// Starts it.
    ///
    /// # Errors
    /// The system gives no descriptors or no thread.
    pub fn start(registry: Arc<Registry>) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            poller: Poller::new()?,
            waker: Waker::new()?,
            given: Mutex::default(),
            is_stopping: AtomicBool::new(false),
        });
        shared.poller.add_waker(&shared.waker, WAKER)?;
        let (its, name) = (Arc::clone(&shared), "relay-carry".to_owned());
        let thread = thread::Builder::new().name(name).spawn(move || {
            Carrying { shared: its, registry, driven: HashMap::new(), tools: Tools::default() }.run();
        })?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// From now on it carries this.
    pub fn give(&self, pair: Arc<RelayedPair>) {
        self.shared.given.lock().push(pair);
        self.shared.waker.wake();
    }

    /// Closes all that it carries, and ends.
    pub fn stop(&self) {
        self.shared.is_stopping.store(true, Ordering::SeqCst);
        self.shared.waker.wake();
        if let Some(thread) = self.thread.lock().take() {
            let _ = thread.join();
        }
    }
}

/// What the thread has.
struct Carrying {
    shared: Arc<Shared>,
    registry: Arc<Registry>,
    driven: HashMap<u64, Driven>,
    tools: Tools,
}

impl Carrying {
    fn run(mut self) {
        let shared = Arc::clone(&self.shared);
        while !shared.is_stopping.load(Ordering::SeqCst) {
            match shared.poller.wait() {
                Ok(Some(ready)) if ready.token == WAKER => self.take_given(),
                Ok(Some(ready)) => self.on_ready(&ready),
                Ok(None) => {}
                Err(error) => return tracing::error!(%error, "waiting for connections"),
            }
        }
        self.take_given();
        for (number, driven) in std::mem::take(&mut self.driven) {
            driven.pair.cut();
            self.registry.end(number);
        }
    }

    fn take_given(&mut self) {
        let given = std::mem::take(&mut *self.shared.given.lock());
        for pair in given {
            match Driven::begin(Arc::clone(&pair), &self.shared.poller) {
                Ok(driven) => drop(self.driven.insert(pair.number, driven)),
                Err(error) => {
                    tracing::warn!(client = %pair.near.peer().ends.client, %error, "waiting for a connection");
                    pair.cut();
                    self.registry.end(pair.number);
                }
            }
        }
    }

    fn on_ready(&mut self, ready: &Ready) {
        let (number, side) = of_token(ready.token);
        // Of one that ended in this round nothing is known any more.
        let Some(driven) = self.driven.get_mut(&number) else { return };
        let step = driven.drive(side, ready, &self.shared.poller, &mut self.tools);
        let (client, far) = (driven.pair.near.peer().ends.client, driven.pair.far.peer());
        match step {
            DriveOutcome::GoesOn => return,
            DriveOutcome::Ended => {
                driven.pair.let_go();
                tracing::debug!(%client, server = %far, "a connection ended");
            }
            DriveOutcome::Broken(error) => {
                tracing::debug!(%client, server = %far, ?side, %error, "a connection broke");
                driven.pair.cut();
            }
        }
        self.driven.remove(&number);
        self.registry.end(number);
    }
}
