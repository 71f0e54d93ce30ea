//! How full each export is. Its file system is asked every few seconds at most, on a thread beside the admin interface's
//! own: one that does not answer is left out, and keeps nobody waiting.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::locks::Mutex;
use howdah_vfs::Statistics;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, timeout_at};

use crate::shared::Shared;

/// An answer is good for so long.
const FRESH: Duration = Duration::from_secs(5);
/// An answer that is older is not shown any more.
const OLD: Duration = Duration::from_secs(60);
/// How long a file system has to answer, so that it is part of what is shown now.
const PATIENCE: Duration = Duration::from_millis(200);

/// What is known of each export, by its id.
#[derive(Debug, Default)]
pub struct Space {
    known: Mutex<HashMap<u32, Known>>,
}

#[derive(Debug, Default)]
struct Known {
    /// The last answer, and when it came.
    last: Option<(Duration, Statistics)>,
    is_asked: bool,
}

/// How full an export is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportSpace {
    /// The export's id.
    pub id: u32,
    /// What clients mount.
    pub name: String,
    /// Why it cannot be mounted now, if its directory is gone.
    pub gone: Option<String>,
    /// None if its file system did not answer of late.
    pub statistics: Option<Statistics>,
}

impl Space {
    /// All exports, as full as they are now.
    pub async fn look(self: &Arc<Self>, shared: &Shared) -> Vec<ExportSpace> {
        let exports = shared.service.exports();
        let now = shared.started.elapsed();
        self.known.lock().retain(|id, _| exports.find(*id).is_some());
        let asked: Vec<JoinHandle<()>> =
            exports.iter().filter_map(|export| self.ask(shared, export.id(), now)).collect();
        let deadline = Instant::now() + PATIENCE;
        for answer in asked {
            // A late answer is shown in the next reply.
            let _ = timeout_at(deadline, answer).await;
        }
        let known = self.known.lock();
        let last = |id| known.get(&id).and_then(|known| known.last);
        let spaces = exports.iter().map(|export| ExportSpace {
            id: export.id(),
            name: export.name().to_owned(),
            gone: export.gone().map(str::to_owned),
            statistics: last(export.id())
                .filter(|(at, _)| now.saturating_sub(*at) <= OLD)
                .map(|(_, space)| space),
        });
        spaces.collect()
    }

    /// Asks the file system of an export, unless it is being asked or answered a moment ago.
    fn ask(self: &Arc<Self>, shared: &Shared, id: u32, now: Duration) -> Option<JoinHandle<()>> {
        {
            let mut known = self.known.lock();
            let known = known.entry(id).or_default();
            if known.is_asked || known.last.is_some_and(|(at, _)| now.saturating_sub(at) < FRESH) {
                return None;
            }
            known.is_asked = true;
        }
        let (space, exports, started) = (Arc::clone(self), shared.service.exports(), shared.started);
        Some(spawn_blocking(move || {
            let statistics = exports.find(id).and_then(|export| export.statistics().ok());
            let mut known = space.known.lock();
            let known = known.entry(id).or_default();
            known.is_asked = false;
            if let Some(statistics) = statistics {
                known.last = Some((started.elapsed(), statistics));
            }
        }))
    }
}
