//! Looks at a network at an interval, from a thread of its own.

use std::sync::Arc;
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use howdah_net::SocketList;
use parking_lot::{Condvar, Mutex};

use super::{connection, link};
use crate::network::LabNetwork;
use crate::record::SeriesLine;

/// Lines that are kept at most: ten minutes of ten looks a second at thirty connections and elements. What comes later is
/// not looked at.
const MOST_LINES: usize = 200_000;

/// Looks until it is ended.
#[derive(Debug)]
pub struct Sampler<'scope> {
    over: Arc<Over>,
    thread: ScopedJoinHandle<'scope, Result<Vec<SeriesLine>>>,
}

#[derive(Debug, Default)]
struct Over {
    is: Mutex<bool>,
    changed: Condvar,
}

impl<'scope> Sampler<'scope> {
    /// Begins to look; `at` of its lines counts from now.
    pub fn start<'env>(
        scope: &'scope thread::Scope<'scope, 'env>,
        network: &'scope LabNetwork,
        every: Duration,
    ) -> Result<Self> {
        let over = Arc::new(Over::default());
        let mut looker = Looker { network, lists: lists(network)?, began: Instant::now() };
        let until = Arc::clone(&over);
        let look = move || looker.look_until(&until, every);
        let thread = thread::Builder::new().name("sampler".to_owned()).spawn_scoped(scope, look);
        Ok(Self { over, thread: thread.context("starting a thread")? })
    }

    /// Ends it: what it saw.
    pub fn end(self) -> Result<Vec<SeriesLine>> {
        *self.over.is.lock() = true;
        self.over.changed.notify_all();
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Over {
    /// Waits until then; true: it is over.
    fn by(&self, then: Instant) -> bool {
        let mut is = self.is.lock();
        while !*is && !self.changed.wait_until(&mut is, then).timed_out() {}
        *is
    }
}

/// A list of sockets of each host.
fn lists(network: &LabNetwork) -> Result<Vec<(String, SocketList)>> {
    let open = |(name, host): (&String, &crate::network::LabHost)| {
        let list = host.run_in(SocketList::open)?.context("asking for sockets")?;
        Ok((name.clone(), list))
    };
    network.hosts().iter().map(open).collect()
}

struct Looker<'a> {
    network: &'a LabNetwork,
    lists: Vec<(String, SocketList)>,
    began: Instant,
}

impl Looker<'_> {
    fn look_until(&mut self, over: &Over, every: Duration) -> Result<Vec<SeriesLine>> {
        let mut lines = Vec::new();
        let mut next = self.began;
        while lines.len() < MOST_LINES {
            self.look(&mut lines)?;
            // What took too long is left out, not caught up with.
            next = (next + every).max(Instant::now());
            if over.by(next) {
                break;
            }
        }
        Ok(lines)
    }

    fn look(&mut self, lines: &mut Vec<SeriesLine>) -> Result<()> {
        for (host, list) in &mut self.lists {
            let at = self.began.elapsed().as_secs_f64();
            let sockets = list.tcp().with_context(|| format!("listing the sockets of {host}"))?;
            let outside = sockets.into_iter().filter(|socket| !socket.remote.ip().is_loopback());
            lines.extend(outside.map(|socket| SeriesLine::Connection(connection::sample(at, host, socket))));
        }
        let at = self.began.elapsed().as_secs_f64();
        lines.extend(link::samples(at, self.network).map(SeriesLine::Link));
        Ok(())
    }
}
