//! What all requests of one mount share.

use std::sync::Arc;
use std::time::Duration;

use howdah_threads::Threads;
use howdah_vfs::{Attributes, Caller, Consistency, FileKind, FileSystem};

use crate::belief::{Belief, FOR_EVER};
use crate::flight::Unanswered;
use crate::lately_told::LatelyTold;
use crate::locks::KernelLocks;
use crate::nodes::{KernelNode, Nodes};
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
    /// Whether it believes all for ever.
    pub belief: Belief,
    /// What it is to forget when another client changes it, where the server says so before.
    pub lately: Option<LatelyTold>,
    pub locks: Arc<KernelLocks>,
    /// Threads that set attributes while programs go on. None of them waits for another.
    pub setters: Threads,
    /// Whether every write is durable before it is answered.
    pub synchronous: bool,
    /// Whether programs see and set POSIX ACLs.
    pub shows_acls: bool,
}

/// A name that the kernel is going to be told of.
pub struct ToldName {
    /// Whether it may believe it for ever.
    pub is_kept: bool,
    /// Where it is to be noted: in a directory of this number.
    place: Option<(u64, Vec<u8>)>,
}

impl Shared {
    /// The kernel is going to be told of a name.
    pub fn named(&self, directory: u64, name: &[u8]) -> ToldName {
        let is_kept = self.belief.keeps(directory, name);
        let place = self.lately.as_ref().filter(|_| !is_kept).map(|_| (directory, name.to_vec()));
        ToldName { is_kept, place }
    }

    /// A reply gives the kernel a name and the node that it leads to.
    pub fn note_told(&self, named: ToldName, attributes: &Attributes) {
        if let (Some(lately), Some((directory, name))) = (&self.lately, named.place)
            && attributes.kind != FileKind::Directory
        {
            lately.note(directory, name);
        }
    }

    /// How long the kernel believes attributes. Of a file it asks each time it needs them: OPEN cannot tell it that a file is longer
    /// than it believes, and a look into the caches takes microseconds. What changes without the kernel is not believed for ever.
    pub fn believed(&self, node: &KernelNode, attributes: &Attributes) -> Duration {
        let is_file = attributes.kind == FileKind::Regular;
        match self.belief.holds() {
            true if is_file && node.content.lock().is_settled() => FOR_EVER,
            true if !is_file && !self.silly.is_any_left() => FOR_EVER,
            _ if is_file => Duration::ZERO,
            _ => self.attributes,
        }
    }

    /// How long the kernel believes a name of a node. `is_kept`: as [`Belief::keeps`] said when the kernel asked.
    pub fn name_believed(&self, node: &KernelNode, is_kept: bool) -> Duration {
        // A name of ours goes away when the file is closed.
        let is_silly = || node.content.lock().silly.is_some();
        if is_kept && self.belief.holds() && !is_silly() { FOR_EVER } else { self.names }
    }

    /// Whom a request acts as.
    pub fn caller(&self, asker: Requester) -> Caller {
        self.callers.caller(asker)
    }
}
