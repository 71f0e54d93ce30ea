//! The log, as changes are sent: which is next, what belongs to it, and what follows when it is over.

use std::time::Duration;

use bytes::Bytes;
use howdah_vfs::{Attributes, FsError, Handle, NewAttributes, SetTime};

use super::change::{ChangeJob, JobCall, LoggedKind};
use super::log::Log;
use super::order::{ChangeEnding, ChangeNumber, NodeNumber};
use super::record::ChangeRecord;
use super::tree::{MadeNode, PendingTree, Pinned, Whereabouts};

/// How many nodes are remembered whose changes ended last.
const ENDED_LATELY: usize = 4096;

impl Log {
    /// The next change that may be sent.
    pub fn next_job(&mut self) -> Option<ChangeJob> {
        loop {
            let (number, is_doomed) = self.order.next_ready()?;
            if is_doomed {
                self.over(number, Err(FsError::Io));
                continue;
            }
            let Some(change) = self.changes.get(&number) else { continue };
            let (caller, kind) = (change.caller.clone(), change.kind.clone());
            match self.call_of(number, kind) {
                Ok(Some(call)) => {
                    let is_replayed = number <= self.replayed;
                    return Some(ChangeJob { number, caller, call, is_replayed });
                }
                Ok(None) => self.over(number, Ok(())),
                Err(error) => self.over(number, Err(error)),
            }
        }
    }

    /// The call of a change, by the server's handles; none if there is nothing to do.
    fn call_of(&mut self, number: ChangeNumber, kind: LoggedKind) -> Result<Option<JobCall>, FsError> {
        let victim = match &kind {
            LoggedKind::Remove { node, .. } => Some(*node),
            LoggedKind::Rename { replaced, .. } => *replaced,
            _ => None,
        };
        let victim = self.expected_victim(number, victim);
        let real = |tree: &PendingTree, id: NodeNumber| match tree.get(id).map(|known| known.at) {
            Some(Whereabouts::There(real)) => Ok(real),
            Some(Whereabouts::Nowhere(error)) => Err(error),
            Some(Whereabouts::Here) | None => Err(FsError::Stale),
        };
        let tree = &mut self.tree;
        let publishable = |tree: &PendingTree, id: NodeNumber| {
            tree.get(id).and_then(|known| known.broken).map_or_else(|| real(tree, id), Err)
        };
        Ok(Some(match kind {
            LoggedKind::Make { node, directory, name, .. } => {
                let directory = real(tree, directory)?;
                let coming =
                    tree.get_mut(node).and_then(|known| known.coming.as_mut()).ok_or(FsError::Stale)?;
                coming.is_sent = true;
                // The time is ours alone: by it, a file that a lost reply was about is known again.
                let modified = coming.attributes.created.map_or(SetTime::Keep, SetTime::To);
                let new = match coming.what {
                    MadeNode::Link(_) => NewAttributes::default(),
                    MadeNode::Directory => NewAttributes::with_mode(coming.attributes.mode),
                    MadeNode::File => {
                        NewAttributes { modified, ..NewAttributes::with_mode(coming.attributes.mode) }
                    }
                };
                JobCall::Make { directory, name, what: coming.what.clone(), new, made: coming.made }
            }
            LoggedKind::Set { node, new, .. } => JobCall::Set { node: real(tree, node)?, new },
            LoggedKind::Commit { node } => {
                let shown = tree.get(node).map(|known| known.shown).ok_or(FsError::Stale)?;
                JobCall::Commit { node: real(tree, node)?, shown }
            }
            LoggedKind::Remove { directory, name, node, is_directory } => {
                if let Some(Whereabouts::Nowhere(_)) = tree.get(node).map(|known| known.at) {
                    return Ok(None);
                }
                JobCall::Remove { directory: real(tree, directory)?, name, is_directory, victim }
            }
            LoggedKind::Rename { from, to, node, .. } => {
                let node = publishable(tree, node)?;
                let (from, to) = ((real(tree, from.0)?, from.1), (real(tree, to.0)?, to.1));
                JobCall::Rename { node, from, to, replaces: victim }
            }
            LoggedKind::Link { node, directory, name } => {
                JobCall::Link { node: publishable(tree, node)?, directory: real(tree, directory)?, name }
            }
        }))
    }

    /// The node that a change makes is there.
    pub fn made(&mut self, number: ChangeNumber, real: Handle) {
        if let Some(node) = self.makes(number) {
            self.tree.made(node, real);
            self.record(number, ChangeRecord::Made { handle: real });
        }
    }

    pub(super) fn makes(&self, number: ChangeNumber) -> Option<NodeNumber> {
        match self.changes.get(&number)?.kind {
            LoggedKind::Make { node, .. } => Some(node),
            _ => None,
        }
    }

    /// Whether what the server has of a file is what an earlier process sent of it, as far as the server has not lost that.
    pub fn may_have_sent(&self, number: ChangeNumber, there: &[u8]) -> bool {
        let node = self.makes(number).and_then(|node| self.tree.get(node));
        let Some(coming) = node.and_then(|known| known.coming.as_ref()) else { return false };
        there.len() as u64 <= coming.attributes.size && coming.data.may_be_sent(there)
    }

    /// Data of a node that was made, and is not sent yet. The journal is to have it first, also that of a file that is open.
    pub fn take_unsent(&mut self, number: ChangeNumber, most: usize) -> Vec<(u64, Bytes)> {
        let Some(node) = self.makes(number) else { return Vec::new() };
        let coming = self.tree.get_mut(node).and_then(|known| known.coming.as_mut());
        let Some(coming) = coming else { return Vec::new() };
        let unsent = coming.data.take_unsent(most);
        if !coming.data.is_recorded() {
            self.record_state(node, None);
        }
        unsent
    }

    /// The server lost the data of a node that was made: all of it is to be sent again.
    pub fn send_again(&mut self, number: ChangeNumber) {
        let node = self.makes(number);
        if let Some(coming) =
            node.and_then(|node| self.tree.get_mut(node)).and_then(|known| known.coming.as_mut())
        {
            coming.data.send_again();
        }
    }

    /// What is to be set of a node that was made and whose data is written. `now` is what the server says of it. The time of its data is set
    /// if a program saw that time.
    pub fn take_unset(&mut self, number: ChangeNumber, now: &Attributes) -> Option<NewAttributes> {
        let node = self.makes(number)?;
        let coming = self.tree.get_mut(node)?.coming.as_mut()?;
        let mut unset = std::mem::take(&mut coming.unset);
        if coming.was_seen && unset.modified == SetTime::Keep && now.modified != coming.attributes.modified {
            unset.modified = SetTime::To(coming.attributes.modified);
        }
        if coming.what == MadeNode::File && coming.data.is_sent() && now.size != coming.attributes.size {
            unset.size = Some(coming.attributes.size);
        }
        // The server may leave permissions out, or add some.
        let mode = coming.attributes.mode & 0o7777;
        if !matches!(coming.what, MadeNode::Link(_)) && now.mode & 0o7777 != mode && !coming.mode_was_set {
            unset.mode = Some(mode);
            coming.mode_was_set = true;
        }
        (unset != NewAttributes::default()).then_some(unset)
    }

    /// A node that was made is as programs see it, and the server says this of it. `false`: programs changed it meanwhile.
    pub fn finish(&mut self, number: ChangeNumber, now: &Attributes, at: Duration) -> bool {
        let Some(node) = self.makes(number) else { return true };
        let Some(known) = self.tree.get_mut(node) else { return true };
        let Some(coming) = known.coming.as_ref() else { return true };
        if !coming.data.is_sent() || coming.unset != NewAttributes::default() {
            return false;
        }
        let its = coming.attributes;
        self.bytes -= coming.data.bytes();
        let (changed, modified) = ((now.changed, its.changed), (now.modified, its.modified));
        known.pinned = Some(Pinned { file: (now.file, its.file), changed, modified });
        known.coming = None;
        self.tree.number(now.file, its.file);
        self.saw(at, now.changed);
        self.over(number, Ok(()));
        true
    }

    /// The server answered.
    pub fn answered(&mut self, now: Duration) {
        self.answered = now;
    }

    /// A change is over.
    pub fn over(&mut self, number: ChangeNumber, outcome: Result<(), FsError>) {
        let Some(change) = self.changes.remove(&number) else { return };
        self.seen.remove(&number);
        let nodes = change.kind.nodes();
        let made = if let LoggedKind::Make { node, .. } = change.kind { Some(node) } else { None };
        let ended = match outcome {
            Err(_) => ChangeEnding::Refused,
            Ok(()) if self.elsewhere.remove(&number) => ChangeEnding::Elsewhere,
            Ok(()) => ChangeEnding::Safe,
        };
        self.order.over(number, ended);
        if let (LoggedKind::Commit { node }, Ok(())) = (&change.kind, outcome)
            && let Some(known) = self.tree.get_mut(*node)
        {
            known.broken = None;
        }
        if let Err(why) = outcome {
            self.refuse(number, &change, why);
        }
        for (directory, name) in change.kind.names() {
            self.tree.settle_name(directory, name, number);
            self.tree.keep_own_only(directory, name);
        }
        for node in &nodes {
            if let Some(known) = self.tree.get_mut(*node) {
                known.patches.retain(|(by, _)| *by != number);
                if outcome.is_err() && known.gone == Some(number) {
                    known.gone = None;
                }
            }
        }
        self.ended += 1;
        for shown in nodes.iter().filter_map(|node| self.tree.get(*node)).map(|known| known.shown) {
            self.ended_lately.push_back((self.ended, shown));
        }
        while self.ended_lately.len() > ENDED_LATELY {
            self.ended_lately.pop_front();
        }
        self.release(nodes);
        if outcome.is_ok() {
            self.end_records(number, made);
        }
    }

    /// How many changes are over.
    pub fn ended(&self) -> u64 {
        self.ended
    }

    /// Whether a change of a node may have ended since so many were over: what the server said before need not hold.
    pub fn ended_since(&self, since: u64, shown: &Handle) -> bool {
        let is_lost = self.ended_lately.front().is_some_and(|(first, _)| *first > since + 1);
        let lately = self.ended_lately.iter().rev().take_while(|(number, _)| *number > since);
        self.ended > since && (is_lost || lately.into_iter().any(|(_, node)| node == shown))
    }
}
