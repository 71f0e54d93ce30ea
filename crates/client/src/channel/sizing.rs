//! The sizes of one connection, as its path needs them: see `howdah-tune`.

use std::io;
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use howdah_net::{Connection, is_local};
use howdah_tune::budget::{Budget, HostMemory};
use howdah_tune::host::Host;
use howdah_tune::{Change, Gauges, Settings, Tuner};

use super::link::Link;

/// Sizes the connections of one lane, one after the other.
pub(super) struct Sizing {
    settings: Option<Settings>,
    /// Which connection of the channel is sized, and by what: each has a tuner of its own, which knows of no other.
    tuner: Option<(u64, Tuner<()>)>,
    started: Instant,
    due: Duration,
}

impl Sizing {
    /// For one of so many lanes, which share what memory there is.
    pub(super) fn new(lanes: usize) -> Self {
        let settings = match this_host() {
            Ok((host, memory)) => {
                let budget = Budget::fixed(Budget::of(memory).total() / lanes.max(1) as u64);
                Some(Settings { budget, ..Settings::automatic(host.clone(), *memory) })
            }
            Err(error) => {
                tracing::debug!(%error, "asking what this host lets connections have");
                None
            }
        };
        Self { settings, tuner: None, started: Instant::now(), due: Duration::ZERO }
    }

    /// Sizes the lane's connection, if it is a new one.
    pub(super) fn open(&mut self, link: &Link) {
        if self.tuner.as_ref().is_some_and(|(sized, _)| *sized == link.number) {
            return;
        }
        let Some(settings) = self.settings.clone() else { return };
        let (_, tuner) = self.tuner.insert((link.number, Tuner::new(settings)));
        let connection = &link.connection;
        let is_local = is_local(connection.local().ip(), connection.peer().ip());
        apply(connection, &tuner.on_open((), is_local));
        self.due = Duration::ZERO;
    }

    /// Looks at it, if it is time to.
    pub(super) fn look(&mut self, link: &Link) {
        let connection = &link.connection;
        let now = self.started.elapsed();
        let Some((_, tuner)) = self.tuner.as_mut().filter(|_| now >= self.due) else { return };
        match howdah_net::sample(connection.as_fd(), now, &Gauges::default()) {
            Ok(sample) => {
                let changes = tuner.on_sample((), sample);
                self.due = now + tuner.get(()).map_or(Duration::ZERO, |connection| connection.interval());
                apply(connection, &changes);
            }
            Err(error) => tracing::debug!(%error, "looking at a connection"),
        }
    }
}

fn apply(connection: &Connection, changes: &[Change]) {
    for &change in changes {
        tracing::debug!(peer = %connection.peer(), ?change, "sizing");
        if let Err(error) = howdah_net::apply(connection.as_fd(), change) {
            tracing::debug!(peer = %connection.peer(), ?change, %error, "sizing");
        }
    }
}

/// What this host lets connections have: asked once.
fn this_host() -> io::Result<&'static (Host, HostMemory)> {
    static HOST: OnceLock<(Host, HostMemory)> = OnceLock::new();
    match HOST.get() {
        Some(host) => Ok(host),
        None => {
            let host = (howdah_net::probe_host()?, howdah_net::memory_limits());
            Ok(HOST.get_or_init(|| host))
        }
    }
}
