//! The two ways in which a server copies by itself, and those that it refused.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use howdah_vfs::FsError;

/// How a server copies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerWay {
    /// The copy shares the storage of its source.
    Clone,
    /// The server reads and writes.
    Copy,
}

/// After so many files in a row whose handles the server does not know, it is taken for another server than that of the source. A file that
/// is removed meanwhile looks the same.
const STRANGE_MAX: u32 = 8;

/// The ways that a server refused.
#[derive(Debug, Default)]
pub(super) struct ServerRefusals {
    clone: WayRefusals,
    copy: WayRefusals,
}

/// How often it refused one way.
#[derive(Debug, Default)]
struct WayRefusals {
    is_refused: AtomicBool,
    /// Since the last copy: how often since it did not know a handle.
    strange: AtomicU32,
}

impl ServerRefusals {
    fn of(&self, way: ServerWay) -> &WayRefusals {
        match way {
            ServerWay::Clone => &self.clone,
            ServerWay::Copy => &self.copy,
        }
    }

    /// Whether this way was refused, for all that is copied.
    pub(super) fn has(&self, way: ServerWay) -> bool {
        self.of(way).is_refused.load(Ordering::Relaxed)
    }

    /// The server refused to copy what this is of.
    pub(super) fn refuse(&self, way: ServerWay) {
        self.of(way).is_refused.store(true, Ordering::Relaxed);
    }

    /// The server refused to copy one of many files. What holds for one file only is found out for each.
    pub(super) fn note(&self, way: ServerWay, refusal: FsError) {
        let is_for_all = match refusal {
            FsError::NotSupported | FsError::CrossDevice => true,
            FsError::Stale | FsError::BadHandle => {
                self.of(way).strange.fetch_add(1, Ordering::Relaxed) + 1 >= STRANGE_MAX
            }
            _ => false,
        };
        if is_for_all {
            self.refuse(way);
        }
    }

    /// The server copied one of many files.
    pub(super) fn copied(&self, way: ServerWay) {
        self.of(way).strange.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_gone_costs_itself_and_a_strange_server_few_calls() {
        let (refusals, way) = (ServerRefusals::default(), ServerWay::Clone);
        for _ in 0..20 {
            (1..STRANGE_MAX).for_each(|_| refusals.note(way, FsError::Stale));
            refusals.note(way, FsError::Invalid);
            assert!(!refusals.has(way));
            refusals.copied(way);
        }
        (0..STRANGE_MAX).for_each(|_| refusals.note(way, FsError::BadHandle));
        assert!(refusals.has(way) && !refusals.has(ServerWay::Copy));
        refusals.note(ServerWay::Copy, FsError::NotSupported);
        assert!(refusals.has(ServerWay::Copy));
    }
}
