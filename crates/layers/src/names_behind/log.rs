//! The log: changes that programs were answered and the server does not have yet. Knows no file system; time comes in.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use howdah_vfs::{Attributes, Caller, FileKind, FsError, Handle, NewAttributes, SetTime, Timestamp};

use super::BehindOptions;
use super::change::{AnsweredOn, LoggedChange, LoggedKind, NameIn, RefusedLater, SeenBefore};
use super::grounds::Grounds;
use super::order::{ChangeEnding, ChangeNumber, ChangeOrder, NodeNumber, TouchedPlace};
use super::outgoing::OutgoingRecords;
use super::tree::{Coming, MadeNode, Overlaid, Patch, PendingTree, apply, joined};

/// What was changed here so lately is ours: nobody else uses it yet.
const OURS: Duration = Duration::from_secs(10);
/// For so long it counts how far the server's clock was ahead.
const AHEAD_KNOWN: Duration = Duration::from_secs(60);
/// When so many directories were changed, those that were not lately are forgotten.
const LATELY_MAX: usize = 1 << 16;

/// The log.
#[derive(Debug)]
pub struct Log {
    pub tree: PendingTree,
    pub order: ChangeOrder,
    pub grounds: Grounds,
    /// By how many nanoseconds the server's clock is ahead of ours, and when it was last so far ahead. Ours does not step.
    pub(super) ahead: Option<(i128, Duration)>,
    pub refused: Vec<RefusedLater>,
    pub(super) options: BehindOptions,
    pub(super) changes: HashMap<ChangeNumber, LoggedChange>,
    /// Those that are held back, by when they are let go.
    pub(super) held: BTreeSet<(Duration, ChangeNumber)>,
    /// On what grounds names were taken away.
    pub(super) seen: HashMap<ChangeNumber, SeenBefore>,
    pub(super) next: ChangeNumber,
    pub(super) last_time: Timestamp,
    pub(super) careful: HashMap<NodeNumber, Duration>,
    pub(super) changed_lately: HashMap<NodeNumber, Duration>,
    /// Changes that are over, and the nodes of the last of them.
    pub(super) ended: u64,
    pub(super) ended_lately: VecDeque<(u64, Handle)>,
    /// Bytes of data that is held.
    pub(super) bytes: usize,
    /// Changes that were never sent, since others made them needless.
    pub(super) joined: u64,
    /// Nodes that were made under another name, and the changes that made those which are not all there yet.
    pub(super) conflicts: u64,
    pub(super) elsewhere: HashSet<ChangeNumber>,
    /// When the server last answered.
    pub(super) answered: Duration,
    /// Bytes of data that were refused and are kept, and how many refusals a call that waited for everything has reported.
    pub refused_bytes: usize,
    pub(super) refused_told: usize,
    /// When the server was last asked how much fits, and what it said.
    pub space: Option<(Duration, u64)>,
    /// It should be asked again, and is being asked.
    pub wants_space: bool,
    pub space_is_asked: bool,
    /// What a journal is to keep, if there is one.
    pub outgoing: Option<OutgoingRecords>,
    /// Changes up to this come from a journal: the server may have them already.
    pub(super) replayed: ChangeNumber,
    /// Nothing is answered early any more: the journal failed.
    pub is_synchronous: bool,
    /// Where directories of the server were found, for paths in reports.
    pub(super) found: HashMap<Handle, (Handle, Vec<u8>)>,
}

impl Log {
    /// Nothing is pending.
    pub fn new(options: BehindOptions, key: [u8; 16]) -> Self {
        Self {
            tree: PendingTree::new(key),
            order: ChangeOrder::default(),
            grounds: Grounds::default(),
            ahead: None,
            refused: Vec::new(),
            options,
            changes: HashMap::new(),
            held: BTreeSet::new(),
            seen: HashMap::new(),
            next: 0,
            last_time: Timestamp::default(),
            careful: HashMap::new(),
            changed_lately: HashMap::new(),
            ended: 0,
            ended_lately: VecDeque::new(),
            bytes: 0,
            joined: 0,
            conflicts: 0,
            elsewhere: HashSet::new(),
            answered: Duration::ZERO,
            refused_bytes: 0,
            refused_told: 0,
            space: None,
            wants_space: false,
            space_is_asked: false,
            outgoing: None,
            replayed: 0,
            is_synchronous: false,
            found: HashMap::new(),
        }
    }

    /// What the server's clock says now, as far as its answers show, and never the same twice.
    pub fn time(&mut self, now: Duration) -> Timestamp {
        let next = nanoseconds(self.last_time) + 1;
        let time = self.ahead.map_or(next, |(ahead, _)| next.max(now.as_nanos().cast_signed() + ahead));
        self.last_time = timestamp(time);
        self.last_time
    }

    /// Whether the server has shown what its clock says.
    pub fn knows_time(&self) -> bool {
        self.ahead.is_some()
    }

    /// The same, and later than what programs saw of a node.
    fn time_after(&mut self, now: Duration, seen: Timestamp) -> Timestamp {
        let time = self.time(now);
        if time > seen { time } else { timestamp(nanoseconds(seen) + 1) }
    }

    /// The server says that something changed just now. Its answer was under way for a while, so that the latest time of many counts.
    pub fn saw(&mut self, now: Duration, changed: Timestamp) {
        let ahead = nanoseconds(changed) - now.as_nanos().cast_signed();
        let is_news =
            self.ahead.is_none_or(|(most, at)| ahead > most || now.saturating_sub(at) > AHEAD_KNOWN);
        if is_news {
            self.ahead = Some((ahead, now));
        }
    }

    fn take_number(&mut self) -> ChangeNumber {
        self.next += 1;
        self.next
    }

    pub(super) fn add(
        &mut self,
        number: ChangeNumber,
        at: Duration,
        caller: &Caller,
        kind: LoggedKind,
        held_for: Option<Duration>,
    ) {
        if let Some(held_for) = held_for {
            self.held.insert((at + held_for, number));
        }
        if self.order.len() == 0 {
            self.answered = at;
        }
        self.tree.hold(kind.nodes());
        self.order.add(number, (caller.user, kind.rank()), kind.places(), held_for.is_some());
        self.changes.insert(number, LoggedChange { caller: caller.clone(), kind, at });
    }

    /// A change of names that are there: what programs see of them from now on.
    pub(super) fn take(
        &mut self,
        number: ChangeNumber,
        at: Duration,
        caller: &Caller,
        kind: LoggedKind,
        on: &AnsweredOn,
    ) {
        self.add(number, at, caller, kind.clone(), None);
        let gone = Overlaid { node: None, by: number };
        match kind {
            LoggedKind::Remove { directory, name, node, is_directory } => {
                self.let_go_of(node);
                self.tree.set_name(directory, &name, gone, on.time);
                self.tree.count(directory, on.parent_links, -i32::from(is_directory));
                self.lost_name(node, (is_directory, on.links), number, on.time);
            }
            LoggedKind::Rename { from, to, node, replaced } => {
                self.let_go_of(node);
                self.tree.set_name(from.0, &from.1, gone, on.time);
                self.tree.set_name(to.0, &to.1, Overlaid { node: Some(node), by: number }, on.time);
                self.has_names(node, number, on.links, on.time);
                if let Some(replaced) = replaced {
                    self.let_go_of(replaced);
                    self.lost_name(replaced, (false, on.replaced_links), number, on.time);
                }
                let above = self.tree.get(to.0).map(|known| known.shown);
                if let Some(known) = self.tree.get_mut(node) {
                    let shown = known.shown;
                    if let Some(above) = above.filter(|_| self.found.contains_key(&shown)) {
                        self.found.insert(shown, (above, to.1.clone()));
                    }
                    if known.place.is_some() {
                        known.place = Some(to);
                    }
                }
            }
            LoggedKind::Link { node, directory, name } => {
                self.let_go_of(node);
                let overlaid = Overlaid { node: Some(node), by: number };
                self.tree.set_name(directory, &name, overlaid, on.time);
                self.has_names(node, number, on.links + 1, on.time);
            }
            LoggedKind::Make { .. } | LoggedKind::Set { .. } | LoggedKind::Commit { .. } => {}
        }
    }

    /// A new node under a name that is free. `attributes` are what it is expected to be; its times and file number are given here.
    pub fn make(
        &mut self,
        now: Duration,
        caller: &Caller,
        (directory, name, parent): (NodeNumber, &[u8], &Attributes),
        what: MadeNode,
        expected: Attributes,
    ) -> (Handle, Attributes) {
        let (id, shown, file) = self.tree.make();
        let (time, names_changed) = (self.time(now), self.time_after(now, parent.changed));
        let (accessed, modified, created) = (time, time, Some(time));
        let attributes = Attributes { file, accessed, modified, created, ..expected }.with_changed(time);
        let held_for = (what == MadeNode::File).then_some(self.options.gather);
        let on = AnsweredOn { time: names_changed, parent_links: parent.links, ..AnsweredOn::default() };
        let make = self.take_number();
        let place = (directory, name.to_vec());
        self.comes((make, id), (now, held_for), caller, place, what, attributes, &on);
        // Nobody else uses it yet.
        self.changes_names(now, id);
        self.changes_names(now, directory);
        self.record_make(make, &on);
        (shown, attributes)
    }

    /// A node that is made here is seen from now on.
    #[expect(clippy::too_many_arguments, reason = "a node that is made consists of these")]
    pub(super) fn comes(
        &mut self,
        (make, id): (ChangeNumber, NodeNumber),
        (at, held_for): (Duration, Option<Duration>),
        caller: &Caller,
        (directory, name): (NodeNumber, Vec<u8>),
        what: MadeNode,
        attributes: Attributes,
        on: &AnsweredOn,
    ) {
        let kind = LoggedKind::Make { node: id, directory, name: name.clone() };
        self.add(make, at, caller, kind, held_for);
        let is_directory = what == MadeNode::Directory;
        let coming = Coming {
            attributes,
            what,
            caller: caller.clone(),
            make,
            made: None,
            data: Default::default(),
            unset: NewAttributes::default(),
            is_sent: false,
            was_seen: false,
            mode_was_set: false,
        };
        if is_directory {
            self.tree.own_directory(id);
        }
        let overlaid = Overlaid { node: Some(id), by: make };
        self.tree.set_name(directory, &name, overlaid, on.time);
        self.tree.count(directory, on.parent_links, i32::from(is_directory));
        let above = self.tree.get(directory).map(|known| known.shown);
        let known = self.tree.get_mut(id).expect("it was just made");
        let shown = known.shown;
        known.coming = Some(Box::new(coming));
        known.place = Some((directory, name.clone()));
        if let Some(above) = above.filter(|_| is_directory) {
            self.found_directory(&above, &name, shown);
        }
    }

    /// Takes data for a file that is not there yet. `false`: it is there, or on its way and too large to be held.
    pub fn write(&mut self, now: Duration, node: NodeNumber, offset: u64, data: &Bytes) -> bool {
        let time = self.time(now);
        let small = self.options.small;
        let Some(coming) = self.tree.get_mut(node).and_then(|known| known.coming.as_mut()) else {
            return false;
        };
        let before = coming.data.bytes();
        if before + data.len() > small {
            return false;
        }
        if data.is_empty() {
            return true;
        }
        coming.data.write(offset, data.clone());
        let size = coming.attributes.size.max(offset + data.len() as u64);
        coming.unset.modified = SetTime::Keep;
        let used = size.next_multiple_of(4096);
        coming.attributes = Attributes { size, used, modified: time, ..coming.attributes }.with_changed(time);
        self.bytes = self.bytes + coming.data.bytes() - before;
        true
    }

    /// Sets attributes of a node. `None`: the server must be asked. Sizes are set only of what was not sent yet.
    pub fn set(
        &mut self,
        now: Duration,
        caller: &Caller,
        (node, seen): (NodeNumber, &Attributes),
        new: &NewAttributes,
    ) -> Option<ChangeNumber> {
        let time = self.time_after(now, seen.changed);
        // Names that were made in a directory change its times: what is set later comes after them.
        let has_names = self.tree.names(node).is_some();
        let known = self.tree.get_mut(node)?;
        if known.refused().is_some() {
            return None;
        }
        if let Some(coming) = known.coming.as_mut().filter(|_| !has_names) {
            // An earlier process may have sent it.
            if new.size.is_some() && (coming.is_sent || coming.made.is_some()) {
                return None;
            }
            let before = coming.data.bytes();
            if let Some(size) = new.size {
                coming.data.cut(size);
                coming.unset.modified = SetTime::Keep;
            }
            apply(&mut coming.attributes, new, time);
            coming.attributes = coming.attributes.with_changed(time);
            self.bytes = self.bytes + coming.data.bytes() - before;
            let later = if coming.is_sent { *new } else { NewAttributes { mode: None, size: None, ..*new } };
            // A caller that has a node already need not be given it.
            let later = NewAttributes { user: None, group: None, ..later };
            coming.unset = joined(&coming.unset, &later);
            let make = coming.make;
            self.record_state(node, new.size);
            return Some(make);
        }
        if new.size.is_some() {
            return None;
        }
        // Programs set the times of a directory last, when all is in it: no name needs them.
        let is_awaited = seen.kind != FileKind::Directory || has_more_than_times(new);
        let last = self.order.last_alone(&TouchedPlace::Node(node));
        if let Some(number) = last
            && !self.order.is_running(number)
            && !self.order.is_followed(number)
            && let Some(LoggedChange {
                caller: its,
                kind: LoggedKind::Set { new: earlier, is_awaited: was_awaited, .. },
                ..
            }) = self.changes.get_mut(&number)
            && its == caller
            && *was_awaited == is_awaited
        {
            *earlier = joined(earlier, new);
            let merged = *earlier;
            self.joined += 1;
            let known = self.tree.get_mut(node).expect("it is known");
            known.patches.retain(|(its, _)| *its != number);
            known.patches.push((number, Patch::Set(merged, time)));
            self.record_change(number, &AnsweredOn { time, ..AnsweredOn::default() });
            return Some(number);
        }
        let number = self.take_number();
        self.takes_attributes(number, now, caller, (node, is_awaited), new, time);
        self.record_change(number, &AnsweredOn { time, ..AnsweredOn::default() });
        Some(number)
    }

    /// Attributes of a node are set that has none of its own here.
    pub(super) fn takes_attributes(
        &mut self,
        number: ChangeNumber,
        at: Duration,
        caller: &Caller,
        (node, is_awaited): (NodeNumber, bool),
        new: &NewAttributes,
        time: Timestamp,
    ) {
        self.add(number, at, caller, LoggedKind::Set { node, new: *new, is_awaited }, None);
        let known = self.tree.get_mut(node).expect("it is known");
        known.patches.push((number, Patch::Set(*new, time)));
    }

    /// A file was closed: nothing more is expected to be joined with its making. Gives the change that makes it safe.
    pub fn close(&mut self, now: Duration, caller: &Caller, node: NodeNumber) -> Option<ChangeNumber> {
        let known = self.tree.get_mut(node)?;
        if let Some(make) = known.coming.as_ref().map(|coming| coming.make) {
            self.let_go(make);
            self.record_state(node, None);
            return Some(make);
        }
        if std::mem::take(&mut known.unsafe_bytes) == 0 {
            return None;
        }
        let number = self.take_number();
        self.add(number, now, caller, LoggedKind::Commit { node }, None);
        Some(number)
    }

    /// Data went to a file on the server that need not be safe there.
    pub fn wrote(&mut self, shown: &Handle, bytes: usize, verifier: [u8; 8]) {
        // One that was removed meanwhile is nothing to anybody.
        if self.tree.is_own(shown) && self.tree.find(shown).is_none() {
            return;
        }
        let node = self.tree.enter(shown);
        let Some(known) = self.tree.get_mut(node) else { return };
        known.unsafe_bytes += bytes as u64;
        match known.verifier {
            Some(first) if first != verifier => known.failure = Some(FsError::Io),
            Some(_) => {}
            None => known.verifier = Some(verifier),
        }
    }

    /// Bytes of a file on the server that need not be safe there.
    pub fn unsafe_bytes(&self, shown: &Handle) -> u64 {
        self.tree.find(shown).and_then(|id| self.tree.get(id)).map_or(0, |known| known.unsafe_bytes)
    }

    /// All data of a node is safe.
    pub fn is_whole_again(&mut self, shown: &Handle) {
        if let Some(known) = self.tree.find(shown).and_then(|id| self.tree.get_mut(id)) {
            known.broken = None;
        }
    }

    /// They are made safe now: gives the verifier that they were written with.
    pub fn take_unsafe(&mut self, shown: &Handle) -> Option<[u8; 8]> {
        let node = self.tree.find(shown)?;
        let known = self.tree.get_mut(node)?;
        known.unsafe_bytes = 0;
        let verifier = known.verifier.take();
        self.tree.forget(node);
        verifier
    }

    /// A name is taken away. `since`: so many changes were over when the program's grounds were looked at.
    pub fn remove(
        &mut self,
        (now, since): (Duration, u64),
        caller: &Caller,
        (directory, name, parent): (NodeNumber, &[u8], &Attributes),
        (node, attributes): (NodeNumber, &Attributes),
    ) -> ChangeNumber {
        let is_directory = attributes.kind == FileKind::Directory;
        let time = self.time_after(now, parent.changed.max(attributes.changed));
        let is_ours = self.is_ours(now, directory);
        self.changes_names(now, directory);
        if let Some(make) = self.cancel(node, directory, name) {
            return make;
        }
        let seen = self.seen_before(is_ours, Some((node, attributes)), since);
        let kind = LoggedKind::Remove { directory, name: name.to_vec(), node, is_directory };
        let (parent_links, links) = (parent.links, attributes.links);
        let on = AnsweredOn { time, parent_links, links, replaced_links: 0 };
        self.answer(now, caller, kind, (&on, Some(seen)))
    }

    fn answer(
        &mut self,
        now: Duration,
        caller: &Caller,
        kind: LoggedKind,
        (on, seen): (&AnsweredOn, Option<SeenBefore>),
    ) -> ChangeNumber {
        let number = self.take_number();
        // It waits for what the user made before: also for files that are still open.
        self.order.let_go_user(caller.user);
        self.seen.extend(seen.map(|seen| (number, seen)));
        self.take(number, now, caller, kind, on);
        self.record_change(number, on);
        number
    }

    /// A node has one name less: without any it is gone.
    fn lost_name(
        &mut self,
        node: NodeNumber,
        (is_directory, links): (bool, u32),
        by: ChangeNumber,
        time: Timestamp,
    ) {
        let is_last = is_directory || links <= 1;
        self.has_names(node, by, links.saturating_sub(1), time);
        if let Some(known) = self.tree.get_mut(node).filter(|_| is_last) {
            known.gone = Some(by);
        }
    }

    /// A node that was made here was removed at the server.
    pub fn is_gone(&mut self, shown: &Handle) {
        let Some(id) = self.tree.find(shown).filter(|_| self.tree.is_own(shown)) else { return };
        if let Some(known) = self.tree.get_mut(id).filter(|known| known.coming.is_none()) {
            known.gone = Some(0);
            self.tree.forget(id);
        }
    }

    /// Takes back the making of a node that was not sent yet and to which nothing else happened.
    fn cancel(&mut self, node: NodeNumber, directory: NodeNumber, name: &[u8]) -> Option<ChangeNumber> {
        let coming = self.tree.get(node).and_then(|known| known.coming.as_ref())?;
        let make = coming.make;
        let is_made_here = matches!(
            self.changes.get(&make).map(|change| &change.kind),
            Some(LoggedKind::Make { directory: its, name: its_name, .. }) if *its == directory && its_name == name
        );
        let is_its_only = is_made_here
            && !coming.is_sent
            && self.order.touching(&TouchedPlace::Node(node)).eq([make])
            && make > self.replayed
            && self.order.was_free(make)
            && self.tree.names(node).is_none();
        if !is_its_only {
            return None;
        }
        self.bytes -= coming.data.bytes();
        let is_directory = coming.what == MadeNode::Directory;
        self.joined += 2;
        self.changes.remove(&make);
        self.order.over(make, ChangeEnding::Safe);
        // It was counted when it was made.
        self.tree.count(directory, u32::MAX, -i32::from(is_directory));
        self.tree.settle_name(directory, name, make);
        self.tree.own_name(directory, name, None);
        self.tree.unmake(node);
        self.finish_records(make);
        self.release([directory]);
        Some(make)
    }

    /// Changes need these nodes no more.
    pub(super) fn release(&mut self, nodes: impl IntoIterator<Item = NodeNumber> + Clone) {
        self.tree.release(nodes.clone());
        self.finish_unneeded(nodes);
    }

    /// A node gets another name, and what has that name loses it. `since` as for a removal.
    pub fn rename(
        &mut self,
        (now, since): (Duration, u64),
        caller: &Caller,
        (from, to): (NameIn<'_>, NameIn<'_>),
        (node, attributes): (NodeNumber, &Attributes),
        replaced: Option<(NodeNumber, Attributes)>,
    ) -> ChangeNumber {
        let time = self.time_after(now, attributes.changed);
        let is_ours = self.is_ours(now, from.0) && self.is_ours(now, to.0);
        let victim = replaced.as_ref().map(|(node, seen)| (*node, seen));
        let seen = self.seen_before(is_ours, victim, since);
        // What it publishes must be as it was closed.
        self.record_state(node, None);
        let kind = LoggedKind::Rename {
            from: (from.0, from.1.to_vec()),
            to: (to.0, to.1.to_vec()),
            node,
            replaced: replaced.map(|(node, _)| node),
        };
        let replaced_links = replaced.map_or(0, |(_, attributes)| attributes.links);
        let on = AnsweredOn { time, parent_links: 0, links: attributes.links, replaced_links };
        self.changes_names(now, from.0);
        self.changes_names(now, to.0);
        self.answer(now, caller, kind, (&on, Some(seen)))
    }

    /// A node gets one more name.
    pub fn link(
        &mut self,
        now: Duration,
        caller: &Caller,
        (node, attributes): (NodeNumber, &Attributes),
        (directory, name): (NodeNumber, &[u8]),
    ) -> ChangeNumber {
        let time = self.time_after(now, attributes.changed);
        self.record_state(node, None);
        let kind = LoggedKind::Link { node, directory, name: name.to_vec() };
        self.changes_names(now, directory);
        let on = AnsweredOn { time, links: attributes.links, ..AnsweredOn::default() };
        self.answer(now, caller, kind, (&on, None))
    }

    /// Of nodes that were made here it counts when they were, and when names in them were last changed.
    fn changes_names(&mut self, now: Duration, directory: NodeNumber) {
        if self.changed_lately.len() >= LATELY_MAX {
            self.changed_lately.retain(|_, at| now.saturating_sub(*at) < OURS);
        }
        if self.tree.get(directory).is_some_and(|known| self.tree.is_own(&known.shown)) {
            self.changed_lately.insert(directory, now);
        }
    }

    fn has_names(&mut self, node: NodeNumber, by: ChangeNumber, links: u32, time: Timestamp) {
        let Some(known) = self.tree.get_mut(node) else { return };
        if let Some(coming) = known.coming.as_mut() {
            coming.attributes = Attributes { links, ..coming.attributes }.with_changed(time);
        }
        // What the server says counts less until it has this change, too.
        known.patches.push((by, Patch::Links(links, time)));
    }

    /// What was held back of a node is sent.
    fn let_go_of(&mut self, node: NodeNumber) {
        if let Some(make) =
            self.tree.get(node).and_then(|known| known.coming.as_ref()).map(|coming| coming.make)
        {
            self.let_go(make);
        }
    }

    /// A change that was held back is sent.
    pub fn let_go(&mut self, number: ChangeNumber) {
        self.order.let_go(number);
    }

    /// All that was held back is sent.
    pub fn let_go_all(&mut self) {
        for (_, number) in std::mem::take(&mut self.held) {
            self.order.let_go(number);
        }
    }

    /// The last change.
    pub fn last(&self) -> Option<ChangeNumber> {
        (self.order.len() > 0).then_some(self.next)
    }

    /// Lets go what was held back for long enough; gives when the next is due.
    pub fn let_go_due(&mut self, now: Duration) -> Option<Duration> {
        while let Some(&(due, number)) = self.held.first() {
            if due > now {
                return Some(due);
            }
            self.held.pop_first();
            self.order.let_go(number);
        }
        None
    }

    /// Whether only this mount uses a node, as far as is known: it was made here, and it or its directory was changed here lately.
    pub fn is_ours(&self, now: Duration, node: NodeNumber) -> bool {
        let Some(known) = self.tree.get(node).filter(|known| self.tree.is_own(&known.shown)) else {
            return false;
        };
        let lately = |node: &NodeNumber| {
            self.changed_lately.get(node).is_some_and(|at| now.saturating_sub(*at) < OURS)
        };
        known.coming.is_some()
            || lately(&node)
            || known.place.as_ref().is_some_and(|(directory, _)| lately(directory))
    }

    /// When the oldest change was answered, if the server is known to answer: it did so within two seconds.
    pub fn oldest(&self) -> Option<Duration> {
        self.order.first().and_then(|number| self.changes.get(&number)).map(|change| change.at)
    }

    /// When the server last answered a change, or had none to answer.
    pub fn last_answer(&self) -> Duration {
        self.answered
    }

    /// Bytes of data that are held.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Nodes that were made under another name, since another host had made one of theirs.
    pub fn conflicts(&self) -> u64 {
        self.conflicts
    }

    /// Changes that were never sent.
    pub fn joined(&self) -> u64 {
        self.joined
    }

    /// Directories in which changes wait for the server.
    pub fn careful_directories(&self) -> usize {
        self.careful.len()
    }

    /// The expected attributes of a new node; `None`: the server must show them by making one.
    pub fn expected(
        &mut self,
        caller: &Caller,
        parent: &Attributes,
        mode: u32,
        kind: FileKind,
        size: u64,
    ) -> Option<Attributes> {
        let expected = self.grounds.expect(caller, parent, mode, kind)?;
        let (size, used) =
            if kind == FileKind::Directory { (expected.size, expected.used) } else { (size, 0) };
        Some(Attributes {
            kind,
            mode: expected.mode,
            links: expected.links,
            user: expected.user,
            group: expected.group,
            size,
            used,
            file_system: expected.file_system,
            ..*parent
        })
    }
}

fn has_more_than_times(new: &NewAttributes) -> bool {
    let times = NewAttributes { accessed: new.accessed, modified: new.modified, ..NewAttributes::default() };
    *new != times
}

fn nanoseconds(time: Timestamp) -> i128 {
    i128::from(time.seconds) * 1_000_000_000 + i128::from(time.nanoseconds)
}

fn timestamp(nanoseconds: i128) -> Timestamp {
    Timestamp {
        seconds: i64::try_from(nanoseconds.div_euclid(1_000_000_000)).unwrap_or(i64::MAX),
        nanoseconds: u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or(0),
    }
}
