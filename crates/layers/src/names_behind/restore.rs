//! The log as a journal has it: what an earlier process answered is seen at once, and is sent.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use howdah_vfs::{Attributes, Caller, FsError};

use super::change::{AnsweredOn, LoggedKind, RefusedLater};
use super::log::Log;
use super::order::{ChangeNumber, NodeNumber};
use super::record::{ChangeRecord, RecordedName, RecordedNode};
use super::tree::MadeNode;

/// A node that was being made.
struct Remade {
    node: NodeNumber,
    place: RecordedName,
    what: MadeNode,
    caller: Caller,
    attributes: Attributes,
    on: AnsweredOn,
}

impl Log {
    /// Takes over the records of a journal, in the order in which they were written; `highest` is the last change that it had.
    pub fn restore(
        &mut self,
        records: impl IntoIterator<Item = (ChangeNumber, ChangeRecord)>,
        highest: ChangeNumber,
    ) {
        let mut changes: BTreeMap<ChangeNumber, Vec<ChangeRecord>> = BTreeMap::new();
        for (number, record) in records {
            record.own_nodes().for_each(|node| self.tree.skip_number(node));
            self.last_time = self.last_time.max(record.time());
            changes.entry(number).or_default().push(record);
        }
        (self.next, self.replayed) = (highest, highest);
        for (number, records) in changes {
            let refused = records.iter().find_map(|record| match record {
                ChangeRecord::Refused { why } => Some(*why),
                _ => None,
            });
            if let Some(why) = refused {
                self.restore_refused(number, records, why);
                continue;
            }
            let mut records = records.into_iter();
            let Some(first) = records.next() else { continue };
            match first {
                ChangeRecord::Make { node, place, what, caller, attributes, seen: on } => {
                    self.restore_make(number, Remade { node, place, what, caller, attributes, on }, records);
                }
                first => self.restore_other(number, records.next_back().unwrap_or(first)),
            }
        }
        let kept = self.outgoing.as_ref().map(|outgoing| outgoing.kept.keys().copied().collect::<Vec<_>>());
        self.finish_unneeded(kept.unwrap_or_default());
    }

    /// A node of a record. `None`: nothing is known of it any more.
    fn recalled(&mut self, node: RecordedNode) -> Option<NodeNumber> {
        match node {
            RecordedNode::Server(handle) => {
                Some(self.tree.find_real(&handle).unwrap_or_else(|| self.tree.enter(&handle)))
            }
            RecordedNode::Own(id, _) if self.tree.get(id).is_some() => Some(id),
            RecordedNode::Own(id, real) => {
                let real = real?;
                self.tree.remake(id);
                self.tree.made(id, real);
                Some(id)
            }
        }
    }

    fn restore_make(
        &mut self,
        number: ChangeNumber,
        made: Remade,
        records: impl Iterator<Item = ChangeRecord> + Clone,
    ) {
        let safe = records.clone().find_map(|record| match record {
            ChangeRecord::Safe { handle, pinned } => Some((handle, pinned)),
            _ => None,
        });
        let (node, name) = (made.node, made.place.1);
        let directory = self.recalled(made.place.0);
        if let Some((handle, pinned)) = safe {
            self.tree.remake(node);
            self.tree.made(node, handle);
            self.tree.number(pinned.file.0, pinned.file.1);
            if let Some(known) = self.tree.get_mut(node) {
                known.pinned = Some(pinned);
                known.place = directory.map(|directory| (directory, name));
            }
            if let Some(outgoing) = &mut self.outgoing {
                outgoing.kept.insert(node, number);
            }
            return;
        }
        let Some(directory) = directory else {
            let data = records.filter_map(|record| match record {
                ChangeRecord::Data { offset, data } => Some((offset, data)),
                _ => None,
            });
            return self.give_up(number, RefusedLater::FILE, name, made.caller, data.collect());
        };
        self.tree.remake(node);
        let place = (directory, name);
        self.comes(
            (number, node),
            (Duration::ZERO, None),
            &made.caller,
            place,
            made.what,
            made.attributes,
            &made.on,
        );
        // What others made in it was safe already, and is not recorded any more.
        self.tree.disown_all(node);
        let Some(coming) = self.tree.get_mut(node).and_then(|known| known.coming.as_mut()) else { return };
        coming.was_seen = true;
        for record in records {
            match record {
                ChangeRecord::Data { offset, data } => coming.data.take_over(offset, data),
                ChangeRecord::Cut { size } => coming.data.cut(size),
                ChangeRecord::State { attributes, unset } => {
                    (coming.attributes, coming.unset) = (attributes, unset);
                }
                ChangeRecord::Made { handle } => coming.made = Some(handle),
                _ => {}
            }
        }
        drop(coming.data.take_unrecorded());
        self.bytes += coming.data.bytes();
    }

    fn restore_other(&mut self, number: ChangeNumber, record: ChangeRecord) {
        let at = Duration::ZERO;
        match record {
            ChangeRecord::Set { node, caller, new, time } => match self.recalled(node) {
                Some(node) => self.takes_attributes(number, at, &caller, (node, true), &new, time),
                None => self.give_up(number, "set attributes", Vec::new(), caller, Vec::new()),
            },
            ChangeRecord::Remove { place, node, is_directory, caller, seen } => {
                let (Some(directory), Some(node)) = (self.recalled(place.0), self.recalled(node)) else {
                    return self.give_up(number, "remove", place.1, caller, Vec::new());
                };
                let kind = LoggedKind::Remove { directory, name: place.1, node, is_directory };
                self.take(number, at, &caller, kind, &seen);
            }
            ChangeRecord::Rename { from, to, node, replaced, caller, seen } => {
                let both = (self.recalled(from.0), self.recalled(to.0));
                let (Some(left), Some(entered), Some(node)) = (both.0, both.1, self.recalled(node)) else {
                    return self.give_up(number, "rename", to.1, caller, Vec::new());
                };
                let replaced = replaced.and_then(|replaced| self.recalled(replaced));
                let kind = LoggedKind::Rename { from: (left, from.1), to: (entered, to.1), node, replaced };
                self.take(number, at, &caller, kind, &seen);
            }
            ChangeRecord::Link { node, place, caller, seen } => {
                let (Some(directory), Some(node)) = (self.recalled(place.0), self.recalled(node)) else {
                    return self.give_up(number, "link", place.1, caller, Vec::new());
                };
                self.take(number, at, &caller, LoggedKind::Link { node, directory, name: place.1 }, &seen);
            }
            // The record that these belong to is missing, which only damage can do.
            ChangeRecord::Make { .. }
            | ChangeRecord::Data { .. }
            | ChangeRecord::Cut { .. }
            | ChangeRecord::State { .. }
            | ChangeRecord::Made { .. }
            | ChangeRecord::Refused { .. }
            | ChangeRecord::Safe { .. } => {
                self.give_up(number, RefusedLater::FILE, Vec::new(), Caller::ROOT, Vec::new())
            }
        }
    }

    /// A change that the server refused, for which the store had no room: it is put there now, and not sent again.
    fn restore_refused(&mut self, number: ChangeNumber, records: Vec<ChangeRecord>, why: FsError) {
        let (mut kind, mut path, mut by, mut data) = ("change", Vec::new(), Caller::ROOT, Vec::new());
        for record in records {
            match record {
                ChangeRecord::Make { place, caller, .. } => {
                    (kind, path, by) = (RefusedLater::FILE, place.1, caller);
                }
                ChangeRecord::Data { offset, data: its } => data.push((offset, its)),
                ChangeRecord::Set { caller, .. } => (kind, by) = ("set attributes", caller),
                ChangeRecord::Remove { place, caller, .. } => (kind, path, by) = ("remove", place.1, caller),
                ChangeRecord::Rename { to, caller, .. } => (kind, path, by) = ("rename", to.1, caller),
                ChangeRecord::Link { place, caller, .. } => (kind, path, by) = ("link", place.1, caller),
                _ => {}
            }
        }
        let (caller, mode, other) = (by, None, Vec::new());
        self.keep_refused(number, RefusedLater { kind, path, caller, why, data, mode, other });
    }

    /// What a change builds on is not known any more: it is kept as one that was refused.
    fn give_up(
        &mut self,
        number: ChangeNumber,
        kind: &'static str,
        path: Vec<u8>,
        caller: Caller,
        data: Vec<(u64, Bytes)>,
    ) {
        let why = FsError::Stale;
        self.keep_refused(
            number,
            RefusedLater { kind, path, caller, why, data, mode: None, other: Vec::new() },
        );
    }
}
