//! The relay as a whole: its threads, from start to stop.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use howdah_net::Listener;
use parking_lot::Mutex;

use crate::door::{self, Door};
use crate::far::Far;
use crate::limits::CONNECTIONS_MAX;
use crate::opening::Opening;
use crate::registry::Registry;
use crate::report::{RelayReport, report};
use crate::sizing::{RelaySizing, Remembered, TICK};
use crate::worker::Carrier;

/// Threads that carry: one moves some 3 GB/s.
const WORKERS_MAX: usize = 8;
/// How many ticks lie between two looks of the door at clients that say nothing.
const DOOR_TICK: u32 = 20;

/// How a relay behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelaySettings {
    /// Connections that are relayed at the same time, at most.
    pub connections_max: usize,
    /// How long a client waits while the far server cannot be reached; `None`: [`crate::limits::OPENING_PATIENCE`].
    pub patience: Option<Duration>,
}

impl Default for RelaySettings {
    fn default() -> Self {
        Self { connections_max: CONNECTIONS_MAX, patience: None }
    }
}

/// A relay that runs.
pub struct Relay {
    far: Arc<Far>,
    registry: Arc<Registry>,
    sizing: Arc<RelaySizing>,
    workers: Arc<[Carrier]>,
    addresses: Vec<SocketAddr>,
    is_stopping: Arc<AtomicBool>,
    door: Arc<Mutex<Door>>,
    looking: Option<JoinHandle<()>>,
}

impl Relay {
    /// Passes on to that server what clients say to these listeners.
    ///
    /// # Errors
    /// The system gives no descriptors or no thread.
    pub fn start(far: Far, listeners: Vec<Listener>, settings: &RelaySettings) -> io::Result<Self> {
        let (far, registry) = (Arc::new(far), Arc::new(Registry::new(settings.connections_max)));
        let sizing = Arc::new(RelaySizing::new()?);
        let workers = thread::available_parallelism().map_or(1, usize::from).min(WORKERS_MAX);
        let workers =
            (0..workers).map(|_| Carrier::start(Arc::clone(&registry))).collect::<io::Result<Arc<[_]>>>()?;
        let is_stopping = Arc::new(AtomicBool::new(false));
        let opening = Opening::new(
            Arc::clone(&far),
            Arc::clone(&registry),
            Arc::clone(&sizing),
            Arc::clone(&workers),
            settings.patience,
            Arc::clone(&is_stopping),
        );
        let addresses = door::addresses(&listeners);
        let door = Door::open(listeners, Arc::clone(&registry), opening, Arc::clone(&is_stopping))?;
        let door = Arc::new(Mutex::new(door));
        let looks = look(&registry, &sizing, &door, &is_stopping);
        let looking = thread::Builder::new().name("relay-sizes".to_owned()).spawn(looks)?;
        Ok(Self { far, registry, sizing, workers, addresses, is_stopping, door, looking: Some(looking) })
    }

    /// Where clients connect.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// The far server.
    pub fn far(&self) -> &Far {
        &self.far
    }

    /// What it is doing.
    pub fn report(&self) -> RelayReport {
        report(&self.far, &self.registry, self.sizing.explain())
    }

    /// What gives the report after it was handed to another thread.
    pub fn reporter(&self) -> impl Fn() -> RelayReport + Send + Sync + 'static {
        let (far, registry, sizing) =
            (Arc::clone(&self.far), Arc::clone(&self.registry), Arc::clone(&self.sizing));
        move || report(&far, &registry, sizing.explain())
    }
}

/// Looks at the connections until the relay stops.
fn look(
    registry: &Arc<Registry>,
    sizing: &Arc<RelaySizing>,
    door: &Arc<Mutex<Door>>,
    is_stopping: &Arc<AtomicBool>,
) -> impl FnOnce() + Send + 'static {
    let (registry, sizing) = (Arc::clone(registry), Arc::clone(sizing));
    let (door, is_stopping) = (Arc::clone(door), Arc::clone(is_stopping));
    move || {
        let (mut memory, mut turns) = (Remembered::default(), 0_u32);
        while !is_stopping.load(Ordering::SeqCst) {
            sizing.turn(&registry, &mut memory);
            turns = turns.wrapping_add(1);
            if turns.is_multiple_of(DOOR_TICK) {
                door.lock().tick();
            }
            thread::park_timeout(TICK);
        }
    }
}

impl Drop for Relay {
    /// Ends: nothing is accepted any more, and all connections are closed.
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::SeqCst);
        self.door.lock().close();
        self.workers.iter().for_each(Carrier::stop);
        if let Some(looking) = self.looking.take() {
            looking.thread().unpark();
            let _ = looking.join();
        }
    }
}
