//! What all requests of one mount share.

use std::sync::Arc;
use std::time::Duration;

use howdah_threads::Threads;
use howdah_vfs::{Attributes, Caller, Consistency, FileKind, FileSystem};

use crate::flight::Unanswered;
use crate::nodes::Nodes;
use crate::opens::{KernelFile, OpenDirectory, Opens};
use crate::silly_names::SillyNames;
use crate::traffic::Counters;
use crate::who::{Callers, Requester};

/// One mount.
pub struct Shared {
    pub file_system: Arc<dyn FileSystem>,
    pub consistency: Arc<dyn Consistency>,
    pub nodes: Nodes,
    pub files: Opens<KernelFile>,
    pub directories: Opens<OpenDirectory>,
    pub callers: Callers,
    pub flight: Arc<Unanswered>,
    pub silly: SillyNames,
    pub counters: Counters,
    /// How long the kernel believes attributes of all but files, and names.
    pub attributes: Duration,
    pub names: Duration,
    /// Threads that set attributes while programs go on. None of them waits for another.
    pub setters: Threads,
    /// Whether every write is durable before it is answered.
    pub synchronous: bool,
}

impl Shared {
    /// How long the kernel believes attributes. Of a file it asks each time it needs them: OPEN cannot tell it that a file is longer
    /// than it believes, and a look into the caches takes microseconds.
    pub fn believed(&self, attributes: &Attributes) -> Duration {
        if attributes.kind == FileKind::Regular { Duration::ZERO } else { self.attributes }
    }

    /// Whom a request acts as.
    pub fn caller(&self, asker: Requester) -> Caller {
        self.callers.caller(asker)
    }
}
