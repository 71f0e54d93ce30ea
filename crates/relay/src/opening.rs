//! Makes the far connection of a near one, on a thread that may wait; the near one is not read meanwhile.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use howdah_client::channel::is_tls;
use howdah_net::{Connection, RelayEnd, Stream};
use howdah_threads::{AtEnd, Threads};
use howdah_wire::mount;

use crate::far::Far;
use crate::limits::{OPENING_MAX, OPENING_PATIENCE};
use crate::pair::RelayedPair;
use crate::places::Admitted;
use crate::registry::Registry;
use crate::sizing::RelaySizing;
use crate::worker::Carrier;

/// How long it is waited before the far server is tried again, at first and at most.
const AGAIN: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(2)];
/// Ports below this are those of a host's superuser.
const RESERVED: u16 = 1024;

/// Makes far connections, and hands the pairs to workers.
pub struct Opening {
    threads: Threads,
    opener: Arc<Opener>,
}

struct Opener {
    far: Arc<Far>,
    registry: Arc<Registry>,
    sizing: Arc<RelaySizing>,
    workers: Arc<[Carrier]>,
    patience: Duration,
    /// Connections fail, which was said.
    is_away: AtomicBool,
    is_stopping: Arc<AtomicBool>,
}

impl Opening {
    /// To that server.
    pub fn new(
        far: Arc<Far>,
        registry: Arc<Registry>,
        sizing: Arc<RelaySizing>,
        workers: Arc<[Carrier]>,
        patience: Option<Duration>,
        is_stopping: Arc<AtomicBool>,
    ) -> Self {
        let patience = patience.unwrap_or(OPENING_PATIENCE);
        let is_away = AtomicBool::new(false);
        let opener = Arc::new(Opener { far, registry, sizing, workers, patience, is_away, is_stopping });
        Self { threads: Threads::new("relay-open", OPENING_MAX, AtEnd::DropJobs), opener }
    }

    /// Makes the far connection for this one, whose first call is for that program.
    pub fn begin(&self, near: Stream, program: Option<u32>, place: Admitted) {
        let opener = Arc::clone(&self.opener);
        self.threads.run(move || opener.open(near, program, place));
    }
}

impl Opener {
    fn open(&self, near: Stream, program: Option<u32>, place: Admitted) {
        let client = near.peer().ends.client;
        match self.connect(program, client.port() < RESERVED) {
            Ok(_) if self.is_stopping.load(Ordering::SeqCst) => near.reset(),
            Ok(far) => {
                if self.is_away.swap(false, Ordering::Relaxed) {
                    tracing::info!(server = %far.peer(), "the far server is reachable again");
                }
                self.begin(near, far, program, place);
            }
            Err(error) => {
                self.registry.totals.failed.fetch_add(1, Ordering::Relaxed);
                if !self.is_away.swap(true, Ordering::Relaxed) {
                    let server = self.far.url();
                    tracing::warn!(%client, %server, %error, "cannot connect to the far server: its clients are disconnected, and retry");
                }
                near.reset();
            }
        }
    }

    fn begin(&self, near: Stream, far: Connection, program: Option<u32>, place: Admitted) {
        let number = self.registry.next_number();
        tracing::debug!(client = %near.peer().ends.client, server = %far.peer(), ?program, "a connection");
        let pair = Arc::new(RelayedPair::new(number, near, far, program, place));
        self.sizing.on_open(&pair);
        self.registry.add(&pair);
        let workers = self.workers.len() as u64;
        self.workers[(number % workers) as usize].give(pair);
    }

    /// Tries until the far server answers, or the patience is over.
    fn connect(&self, program: Option<u32>, reserved_port: bool) -> io::Result<Connection> {
        let (deadline, mut wait) = (Instant::now() + self.patience, AGAIN[0]);
        // MOUNT moves little.
        let window = || self.sizing.first_window().filter(|_| program != Some(mount::PROGRAM));
        loop {
            match self.far.open(program, reserved_port, window()) {
                Ok(connection) => return Ok(connection),
                Err(error)
                    if is_tls(&error)
                        || Instant::now() + wait >= deadline
                        || self.is_stopping.load(Ordering::SeqCst) =>
                {
                    return Err(error);
                }
                Err(error) => tracing::debug!(%error, "the far server is tried again"),
            }
            thread::park_timeout(wait);
            wait = (wait * 2).min(AGAIN[1]);
        }
    }
}
