//! The log, where the server refuses what programs were answered, or where another client was there first.

use std::time::Duration;

use howdah_vfs::{FsError, Handle};

use super::change::{LoggedChange, LoggedKind, RefusedLater};
use super::log::Log;
use super::order::{ChangeNumber, NodeNumber};
use super::record::ChangeRecord;
use super::tree::{MadeNode, Whereabouts};

/// A directory in which a change was refused is careful for so long: the next changes in it wait for the server.
const CAREFUL: Duration = Duration::from_secs(60);
/// The most changes that were refused and are kept.
const REFUSED_MAX: usize = 10_000;
/// The most directories whose place is known for paths in reports.
const FOUND_MAX: usize = 1 << 16;
/// So deep are trees at most.
const DEPTH_MAX: usize = 4096;

impl Log {
    /// A directory was there already: others may use it.
    pub fn adopted(&mut self, number: ChangeNumber) {
        if let Some(node) = self.makes(number) {
            self.tree.disown_all(node);
        }
    }

    /// A node has another name than it was to have.
    pub fn is_elsewhere(&mut self, number: ChangeNumber) {
        self.elsewhere.insert(number);
    }

    /// A node was made under another name, since another host has made one of its name.
    pub fn conflicted(&mut self, number: ChangeNumber, name: &[u8]) {
        let Some(LoggedKind::Make { node, directory, .. }) =
            self.changes.get(&number).map(|change| change.kind.clone())
        else {
            return;
        };
        let was = self.path_of(node);
        if let Some(known) = self.tree.get_mut(node) {
            known.place = Some((directory, name.to_vec()));
            known.failure = Some(FsError::Exists);
        }
        self.elsewhere.insert(number);
        if let Some(LoggedKind::Make { name: its, .. }) = self.changes.get(&number).map(|change| &change.kind)
        {
            self.tree.disown_name(directory, its);
        }
        self.tree.own_name(directory, name, Some(node));
        self.be_careful(directory);
        self.conflicts += 1;
        let (was, name) = (was.escape_ascii(), name.escape_ascii());
        tracing::warn!("another client made {was} too: ours is beside it as {name}");
    }

    /// A change was refused: its nodes report it to the next program that asks, its directories become careful, and what it
    /// held is kept.
    pub(super) fn refuse(&mut self, number: ChangeNumber, change: &LoggedChange, why: FsError) {
        let (kind, node) = match &change.kind {
            LoggedKind::Make { node, .. } => (self.kind_of_make(*node), *node),
            LoggedKind::Set { node, .. } => ("set attributes", *node),
            LoggedKind::Commit { node } => ("write", *node),
            LoggedKind::Remove { node, .. } => ("remove", *node),
            LoggedKind::Rename { node, .. } => ("rename", *node),
            LoggedKind::Link { node, .. } => ("link", *node),
        };
        let (directory, name) = match &change.kind {
            LoggedKind::Make { directory, name, .. }
            | LoggedKind::Remove { directory, name, .. }
            | LoggedKind::Link { directory, name, .. }
            | LoggedKind::Rename { to: (directory, name), .. } => (Some(*directory), name.clone()),
            LoggedKind::Set { .. } | LoggedKind::Commit { .. } => (None, Vec::new()),
        };
        let path = match directory {
            Some(directory) => self.path(directory, &name),
            None => self.path_of(node),
        };
        let mut data = Vec::new();
        let (mut mode, mut other) = match &change.kind {
            LoggedKind::Set { new, .. } => (new.mode, Vec::new()),
            LoggedKind::Rename { from, .. } => (None, self.path(from.0, &from.1)),
            LoggedKind::Link { node, .. } => (None, self.path_of(*node)),
            LoggedKind::Make { .. } | LoggedKind::Commit { .. } | LoggedKind::Remove { .. } => {
                (None, Vec::new())
            }
        };
        if let Some(known) = self.tree.get_mut(node) {
            known.failure = Some(why);
            if matches!(change.kind, LoggedKind::Make { .. } | LoggedKind::Commit { .. }) {
                known.broken = Some(why);
            }
            let is_make = matches!(change.kind, LoggedKind::Make { .. });
            if let Some(coming) = known.coming.as_mut().filter(|_| is_make) {
                data = coming.data.all();
                mode = Some(coming.attributes.mode);
                if let MadeNode::Link(target) = &coming.what {
                    other = target.to_vec();
                }
                self.bytes -= coming.data.bytes();
                // Who has it open still reads and writes it.
                coming.is_sent = true;
                if matches!(known.at, Whereabouts::Here) {
                    known.at = Whereabouts::Nowhere(why);
                }
            }
        }
        if let Some(known) = directory.and_then(|directory| self.tree.get_mut(directory)) {
            known.failure = Some(why);
        }
        for (directory, _) in change.kind.names() {
            self.be_careful(directory);
        }
        for (directory, name) in change.kind.names() {
            self.tree.disown_name(directory, name);
        }
        let path_shown = path.escape_ascii();
        tracing::warn!(
            change = number,
            "{kind} of {path_shown} was refused by the server after it was answered here: {why}"
        );
        let caller = change.caller.clone();
        self.keep_refused(number, RefusedLater { kind, path, caller, why, data, mode, other });
    }

    fn kind_of_make(&self, node: NodeNumber) -> &'static str {
        match self.tree.get(node).and_then(|known| known.coming.as_ref()).map(|coming| &coming.what) {
            Some(MadeNode::Directory) => "mkdir",
            Some(MadeNode::Link(_)) => "symlink",
            Some(MadeNode::File) | None => RefusedLater::FILE,
        }
    }

    /// Keeps what was refused: in the store of the journal if there is one, else in memory.
    pub(super) fn keep_refused(&mut self, number: ChangeNumber, refused: RefusedLater) {
        self.refused_bytes += refused.bytes();
        let mut reported = refused.clone();
        if let Some(outgoing) = &mut self.outgoing {
            reported.data = Vec::new();
            outgoing.refused.push((number, refused));
        }
        if self.refused.len() < REFUSED_MAX {
            self.refused.push(reported);
        }
    }

    /// The store has a change that was refused; its data need not be in memory.
    pub(super) fn put_away(&mut self, number: ChangeNumber, refused: &RefusedLater) {
        self.refused_bytes = self.refused_bytes.saturating_sub(refused.bytes());
        self.finish_records(number);
    }

    /// The store has no room for a change that was refused: the journal keeps it, and memory.
    pub(super) fn put_back(&mut self, number: ChangeNumber, refused: RefusedLater) {
        self.record(number, ChangeRecord::Refused { why: refused.why });
        if self.refused.len() < REFUSED_MAX {
            self.refused.push(refused);
        }
    }

    fn be_careful(&mut self, directory: NodeNumber) {
        if self.careful.insert(directory, self.answered + CAREFUL).is_none() {
            self.tree.hold([directory]);
        }
    }

    /// The same of a name.
    pub(super) fn path(&self, directory: NodeNumber, name: &[u8]) -> Vec<u8> {
        let mut path = self.path_of(directory);
        let is_root = self.options.root.is_some()
            && self.options.root == self.tree.get(directory).map(|known| known.shown);
        if !path.is_empty() || is_root {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        path
    }

    /// A program found a directory of the server under a name.
    pub fn found_directory(&mut self, directory: &Handle, name: &[u8], found: Handle) {
        if self.found.len() >= FOUND_MAX {
            self.found.clear();
        }
        self.found.insert(found, (*directory, name.to_vec()));
    }

    /// The path of a node: from `/` on as far as its directories are known, else from the first that is.
    pub(super) fn path_of(&self, node: NodeNumber) -> Vec<u8> {
        let mut names = Vec::new();
        let mut above = self.tree.get(node).map(|known| known.shown);
        while let Some((directory, name)) = above.and_then(|above| self.place_of(&above)) {
            names.push(name);
            above = directory;
            if names.len() > DEPTH_MAX {
                break;
            }
        }
        if above.is_some() && above == self.options.root {
            names.push(b"");
        }
        names.reverse();
        names.join(&b'/')
    }

    /// The directory of a node, as far as it is known, and its name there.
    fn place_of(&self, shown: &Handle) -> Option<(Option<Handle>, &[u8])> {
        let known = self.tree.find(shown).and_then(|node| self.tree.get(node));
        let made = known.and_then(|known| known.place.as_ref());
        // The tree forgets directories of the server in which nothing is pending.
        let above = made.and_then(|(directory, _)| self.tree.get(*directory)).map(|known| known.shown);
        match (made, self.found.get(shown)) {
            (Some((_, name)), _) if above.is_some() => Some((above, name)),
            (_, Some((directory, name))) => Some((Some(*directory), name)),
            (made, None) => made.map(|(_, name)| (None, name.as_slice())),
        }
    }

    /// Whether a change in a directory, or in one that holds it, was refused lately.
    pub fn is_careful(&mut self, now: Duration, mut directory: NodeNumber) -> bool {
        if self.is_synchronous {
            return true;
        }
        let over: Vec<_> =
            self.careful.iter().filter(|(_, until)| **until <= now).map(|(node, _)| *node).collect();
        for node in over {
            self.careful.remove(&node);
            self.release([node]);
        }
        for _ in 0..4096 {
            if self.careful.contains_key(&directory) {
                return true;
            }
            match self.tree.get(directory).and_then(|known| known.place.as_ref()) {
                Some((above, _)) => directory = *above,
                None => return false,
            }
        }
        false
    }

    /// Why a change was refused since this was last asked.
    pub fn take_refusal(&mut self) -> Result<(), FsError> {
        let reported = std::mem::replace(&mut self.refused_told, self.refused.len());
        self.refused.get(reported).map_or(Ok(()), |refused| Err(refused.why))
    }
}
