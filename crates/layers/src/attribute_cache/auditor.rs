//! Directories that we changed are listed and compared after a rest: two changes within one tick of a server's clock leave no gap.

use std::ops::ControlFlow;
use std::sync::{Arc, Weak};
use std::thread;

use howdah_threads::each_at_once;
use howdah_vfs::{Detail, Entry};

use super::AttributeCache;
use super::alone::AloneWatch;
use super::listing::LISTED_MAX;

/// So many directories are listed at a time.
const AT_ONCE_MAX: usize = 16;

impl AttributeCache {
    /// Lists the directories that we changed and that are at rest now, to be compared with what is known.
    pub fn audit(&self) {
        let due = self.alone().map(|watch| watch.take_due()).unwrap_or_default();
        each_at_once(&due, AT_ONCE_MAX, |(caller, directory)| {
            let time = (self.stopwatch)();
            if self.known.lock().attributes(directory, time).is_none() {
                // It was removed, or nothing is believed of it.
                return;
            }
            let mut room = LISTED_MAX;
            let mut sink = |_: Entry<'_>| {
                room = room.saturating_sub(1);
                if room == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            };
            if let Err(error) = self.list(caller, directory, Detail::Nodes, &mut sink) {
                tracing::debug!(%error, "a directory could not be compared");
            }
        });
    }
}

/// The thread that does so. It ends when this is dropped.
pub struct Auditor {
    watch: Arc<AloneWatch>,
}

impl Auditor {
    /// Starts it for a cache that believes to be alone. `on_stranger` is run when that turns out to be wrong.
    pub fn start(cache: &Arc<AttributeCache>, on_stranger: impl FnOnce() + Send + 'static) -> Option<Self> {
        let (watch, cache) = (Arc::clone(cache.alone()?), Arc::downgrade(cache));
        let its = Arc::clone(&watch);
        let run = move || {
            while its.wait_for_due() {
                let Some(cache) = Weak::upgrade(&cache) else { return };
                cache.audit();
            }
            if its.broken().is_some() {
                on_stranger();
            }
        };
        if let Err(error) = thread::Builder::new().name("audit".to_owned()).spawn(run) {
            tracing::warn!(%error, "starting a thread: directories are not compared");
        }
        Some(Self { watch })
    }
}

impl Drop for Auditor {
    fn drop(&mut self) {
        self.watch.end();
    }
}
