//! The log, as a journal is to keep it: a record of each answer, until the server has the change.

use howdah_vfs::NewAttributes;

use super::change::{AnsweredOn, LoggedKind};
use super::log::Log;
use super::order::{ChangeNumber, NodeNumber};
use super::record::{ChangeRecord, RecordedNode};
use super::tree::Whereabouts;

impl Log {
    pub(super) fn record(&mut self, number: ChangeNumber, record: ChangeRecord) {
        if let Some(outgoing) = self.outgoing.as_mut().filter(|outgoing| !outgoing.is_closed) {
            outgoing.records.push((number, record));
        }
    }

    fn recorded(&self, id: NodeNumber) -> RecordedNode {
        let known = self.tree.get(id).expect("changes hold their nodes");
        match known.at {
            _ if !self.tree.is_own(&known.shown) => RecordedNode::Server(known.shown),
            Whereabouts::There(real) => RecordedNode::Own(id, Some(real)),
            Whereabouts::Here | Whereabouts::Nowhere(_) => RecordedNode::Own(id, None),
        }
    }

    /// A node is made.
    pub(super) fn record_make(&mut self, number: ChangeNumber, on: &AnsweredOn) {
        if self.outgoing.is_none() {
            return;
        }
        let Some(change) = self.changes.get(&number) else { return };
        let LoggedKind::Make { node, directory, name } = &change.kind else { return };
        let Some(coming) = self.tree.get(*node).and_then(|known| known.coming.as_ref()) else { return };
        let record = ChangeRecord::Make {
            node: *node,
            place: (self.recorded(*directory), name.clone()),
            what: coming.what.clone(),
            caller: change.caller.clone(),
            attributes: coming.attributes,
            seen: *on,
        };
        self.record(number, record);
    }

    /// Another change was answered.
    pub(super) fn record_change(&mut self, number: ChangeNumber, on: &AnsweredOn) {
        if self.outgoing.is_none() {
            return;
        }
        let Some(change) = self.changes.get(&number) else { return };
        let caller = change.caller.clone();
        let place = |directory: NodeNumber, name: &[u8]| (self.recorded(directory), name.to_vec());
        let record = match &change.kind {
            LoggedKind::Make { .. } | LoggedKind::Commit { .. } => return,
            LoggedKind::Set { node, new, .. } => {
                ChangeRecord::Set { node: self.recorded(*node), caller, new: *new, time: on.time }
            }
            LoggedKind::Remove { directory, name, node, is_directory } => ChangeRecord::Remove {
                place: place(*directory, name),
                node: self.recorded(*node),
                is_directory: *is_directory,
                caller,
                seen: *on,
            },
            LoggedKind::Rename { from, to, node, replaced } => ChangeRecord::Rename {
                from: place(from.0, &from.1),
                to: place(to.0, &to.1),
                node: self.recorded(*node),
                replaced: replaced.map(|replaced| self.recorded(replaced)),
                caller,
                seen: *on,
            },
            LoggedKind::Link { node, directory, name } => ChangeRecord::Link {
                node: self.recorded(*node),
                place: place(*directory, name),
                caller,
                seen: *on,
            },
        };
        self.record(number, record);
    }

    /// What programs were answered of a node that is coming: its data so far, and its attributes. `cut`: its size was set.
    pub(super) fn record_state(&mut self, node: NodeNumber, cut: Option<u64>) {
        let Some(outgoing) = self.outgoing.as_mut().filter(|outgoing| !outgoing.is_closed) else { return };
        let Some(known) = self.tree.get_mut(node) else { return };
        let Some(coming) = known.coming.as_mut().filter(|_| !matches!(known.at, Whereabouts::Nowhere(_)))
        else {
            return;
        };
        let make = coming.make;
        outgoing.records.extend(cut.map(|size| (make, ChangeRecord::Cut { size })));
        let data = coming.data.take_unrecorded();
        outgoing.records.extend(data.map(|(offset, data)| (make, ChangeRecord::Data { offset, data })));
        let (attributes, unset) = (coming.attributes, coming.unset);
        let unset = NewAttributes { size: None, ..unset };
        outgoing.records.push((make, ChangeRecord::State { attributes, unset }));
    }

    /// The records of a change are needless.
    pub(super) fn finish_records(&mut self, number: ChangeNumber) {
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.records.retain(|(its, _)| *its != number);
            outgoing.finished.push(number);
        }
    }

    /// A change is over that the server has; `made`: the node that it made.
    pub(super) fn end_records(&mut self, number: ChangeNumber, made: Option<NodeNumber>) {
        let needed = made.filter(|node| self.tree.is_needed(*node));
        let known = needed.and_then(|node| Some((node, self.tree.get(node)?)));
        let safe = known.and_then(|(node, known)| match (known.at, known.pinned) {
            (Whereabouts::There(handle), Some(pinned)) => Some((node, ChangeRecord::Safe { handle, pinned })),
            _ => None,
        });
        match (&mut self.outgoing, safe) {
            (Some(outgoing), Some((node, safe))) if !outgoing.is_closed => {
                outgoing.kept.insert(node, number);
                outgoing.records.push((number, safe));
            }
            _ => self.finish_records(number),
        }
    }

    /// Changes need these nodes no more: if no other does, what made them is needless, too.
    pub(super) fn finish_unneeded(&mut self, nodes: impl IntoIterator<Item = NodeNumber>) {
        for node in nodes {
            if self.outgoing.as_ref().is_some_and(|outgoing| outgoing.kept.contains_key(&node))
                && !self.tree.is_needed(node)
            {
                let kept = self.outgoing.as_mut().and_then(|outgoing| outgoing.kept.remove(&node));
                kept.into_iter().for_each(|number| self.finish_records(number));
            }
        }
    }
}
