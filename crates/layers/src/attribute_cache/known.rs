//! What is known of nodes and names, and until when. Knows no file system and no clock.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;

use howdah_vfs::{Access, Attributes, Before, Caller, Change, DelegationLoss, FileKind, Handle};

use super::chain::{Chain, ChainMoment, ChangeEnd, ChangedBy, LookedAt, is_later};
use super::covers::Covers;
use super::delegations::KnownDelegations;
use super::listings::{Leads, ListedEntry};
use super::names::{CachedNames, Place};
use super::{AttributeCacheOptions, LookupCache};
use crate::generations::Generations;

/// Answers of ACCESS remembered for one node, each of another caller.
const CALLERS_MAX: usize = 8;
/// Replies to overlapping changes of ours may not say whether another client changed a directory, too. Its names are believed for this time.
const UNCLEAR_MAX: Duration = Duration::from_secs(3);

/// All that is known.
pub struct Known {
    options: AttributeCacheOptions,
    delegations: KnownDelegations,
    covers: Covers,
    nodes: Generations<Handle, KnownNode>,
    names: CachedNames,
    now: ChainMoment,
    /// Changes up to here may have been forgotten.
    forgotten: ChainMoment,
    /// Of the epochs that directories are in, the latest.
    epoch: u64,
    lost: LostNames,
    /// The path of a directory that another client changed under `alone`.
    stranger: Option<Vec<u8>>,
}

/// Where a name led that a call takes away.
pub enum Taking {
    /// To this node.
    From(Handle),
    /// To any.
    Any,
}

/// When names were removed and it was not known which nodes they named. What was known of nodes that may have had these names is
/// asked once more. Where nothing has changed, names and rights stay known.
#[derive(Clone, Copy, Default)]
struct LostNames {
    /// A name of a file was removed. A file with one link is gone: no name leads to what is known of it. A file with several shows one
    /// too many by its other names. A directory has no other names, and those in it stay.
    removed: ChainMoment,
    /// A node was renamed, which has another time of change now. It may be any.
    renamed: ChainMoment,
    /// So many calls may take any node's name away now, and the last one ended then: that a node changed since shows no stranger.
    under_way: usize,
    ended: ChainMoment,
}

#[derive(Default)]
struct KnownNode {
    /// `None`: only when it changed is known.
    seen: Option<Seen>,
    changed: ChainMoment,
    /// Another one after each change of a directory that was not ours: names found before are not believed any more.
    epoch: u64,
    access: Vec<(Caller, Access, Access)>,
    /// Changes of ours to a directory.
    chain: Option<Box<Chain>>,
    /// Nobody else changes it unnoticed.
    is_delegated: bool,
    /// Nobody else changes it unnoticed while this directory's number counts, where it was seen.
    covered_by: Option<u64>,
    /// When a directory was last seen such that all changes before were ours, if replies do not say that of those after.
    unclear_since: Option<Duration>,
}

struct Seen {
    attributes: Attributes,
    at: Duration,
    believed: Duration,
    /// When the call began that saw this.
    since: ChainMoment,
    /// Calls up to this moment started before this answer arrived.
    told: ChainMoment,
}

impl Known {
    /// Nothing yet.
    pub fn new(options: AttributeCacheOptions) -> Self {
        let (nodes, names) = (Generations::new(options.entries), CachedNames::new(options.entries));
        Self {
            options,
            delegations: KnownDelegations::default(),
            covers: Covers::default(),
            nodes,
            names,
            now: 0,
            forgotten: 0,
            epoch: 0,
            lost: LostNames::default(),
            stranger: None,
        }
    }

    /// From now on directories are believed for as long as they are delegated.
    pub fn set_delegations(&mut self, delegations: KnownDelegations) {
        self.delegations = delegations;
    }

    /// Whether a node is known to be a directory.
    pub fn is_directory(&mut self, node: &Handle) -> bool {
        let seen = self.nodes.get_mut(node).and_then(|known| known.seen.as_ref());
        seen.is_some_and(|seen| seen.attributes.kind == FileKind::Directory)
    }

    /// Somebody else is about to change a directory, or may have changed any.
    pub fn on_delegation_lost(&mut self, loss: DelegationLoss) {
        match loss {
            DelegationLoss::Of(directory) => {
                self.covers.end(&directory);
                self.forget(&directory);
            }
            // What is known of them is as old as the last look at each.
            DelegationLoss::All => {
                self.covers.end_all();
                self.nodes.for_each_mut(|known| known.is_delegated = false);
            }
        }
    }

    /// Whether nobody else changes a node unnoticed.
    fn is_delegated(&mut self, node: &Handle) -> bool {
        let covers = &self.covers;
        self.nodes.get_mut(node).is_some_and(|known| known.is_certain(covers))
            && self.delegations.are_certain()
    }

    /// Nodes were found in a directory by calls that started at `since`: where nobody else changes what is in it, they do not age.
    pub fn cover(&mut self, directory: &Handle, since: ChainMoment, nodes: impl IntoIterator<Item = Handle>) {
        // Asked while a loss cannot be noted: it was before, or is after this.
        if !self.delegations.covers_children(directory) || !self.is_unchanged(directory, since) {
            return;
        }
        let number = self.covers.number(directory);
        for node in nodes {
            let known = self.nodes.get_mut(&node);
            if let Some(known) =
                known.filter(|known| known.seen.as_ref().is_some_and(|seen| seen.since >= since))
            {
                known.covered_by = Some(number);
            }
        }
    }

    /// Now, in the order of calls, and different for each: asked before a call starts.
    pub fn moment(&mut self) -> ChainMoment {
        self.now += 1;
        self.now
    }

    /// A call begins that changes a node, and a name in it if it is a directory. Gives the moment for [`changed`](Self::changed).
    pub fn begin(&mut self, node: &Handle, name: Option<&[u8]>) -> ChainMoment {
        let since = self.moment();
        self.begin_at(since, node, name);
        since
    }

    /// The same for a further node or name of a call.
    pub fn begin_at(&mut self, since: ChainMoment, node: &Handle, name: Option<&[u8]>) {
        let lost = self.lost;
        let known = self.node(node);
        let seen = known.seen.as_ref();
        if seen.is_none_or(|seen| seen.attributes.kind == FileKind::Directory) {
            // It may have been renamed.
            let seen = seen.filter(|seen| !lost.concerns(seen)).map(|seen| (seen.since, seen.attributes));
            known.chain.get_or_insert_default().begin(since, name, seen);
        }
    }

    /// A call that began at `since` takes a name away from a node. If that is a directory, it changes, too.
    pub fn begin_taking(&mut self, since: ChainMoment, directory: &Handle, name: &[u8]) -> Taking {
        let place = Place { directory, epoch: self.node(directory).epoch, rights: Access::NONE };
        let Some(Leads::To(node)) = self.names.led(place, name) else {
            self.lost.under_way += 1;
            return Taking::Any;
        };
        self.begin_at(since, &node, None);
        Taking::From(node)
    }

    /// That call is over.
    pub fn end_taking(&mut self, taking: Taking, since: ChainMoment, time: Duration) {
        match taking {
            Taking::From(node) => _ = self.changed(&node, &Change::default(), since, time),
            Taking::Any => {
                self.now += 1;
                self.lost.under_way -= 1;
                self.lost.ended = self.now;
            }
        }
    }

    /// The attributes of a node, if they are still believed.
    pub fn attributes(&mut self, node: &Handle, time: Duration) -> Option<Attributes> {
        let known = self.nodes.get_mut(node)?;
        let seen = known.seen.as_ref().filter(|seen| !self.lost.concerns(seen))?;
        // Somebody else changed it or another one beside it, however young it is.
        if known.covered_by.is_some_and(|number| !self.covers.is_live(number)) {
            return None;
        }
        let is_young = time.saturating_sub(seen.at) < seen.believed;
        let is_believed = is_young || known.is_certain(&self.covers) && self.delegations.are_certain();
        is_believed.then_some(seen.attributes)
    }

    /// What a call that started at `since` saw of a node. Says whether that is believed: nothing newer is known.
    pub fn saw(
        &mut self,
        node: &Handle,
        attributes: &Attributes,
        since: ChainMoment,
        time: Duration,
    ) -> bool {
        let (min, max) = (self.min(attributes), self.max(attributes));
        let (told, epoch) = (self.now, self.next_epoch());
        let (lost, is_alone) = (self.lost, self.options.alone);
        let known = self.node(node);
        if let Some(chain) = known.chain.as_mut().filter(|chain| chain.is_busy()) {
            let look = chain.look(attributes, told);
            if look != LookedAt::Past {
                let seen = Seen { attributes: *attributes, at: time, believed: min, since, told };
                known.seen = newer(known.seen.take(), seen);
                known.age(time, epoch);
            }
            return look != LookedAt::Past && known.seen.is_some();
        }
        let is_directory = attributes.kind == FileKind::Directory;
        // All changes of ours to a directory are followed, and none is under way. Those of files are not.
        if is_alone
            && is_directory
            && known.seen.as_ref().is_some_and(|seen| lost.is_changed(seen, attributes))
        {
            self.distrust(node);
            return false;
        }
        if known.changed > since && (!is_directory || known.seen.is_none()) {
            known.seen = None;
            return false;
        }
        // Of looks that overlapped, the server's time of change tells which came later.
        if let Some(seen) = known.seen.as_ref().filter(|seen| seen.told >= since) {
            match seen.attributes.version().cmp(&attributes.version()) {
                Ordering::Greater => return false,
                Ordering::Equal if !same(&seen.attributes, attributes) => {
                    *known = KnownNode { changed: known.changed, epoch, ..KnownNode::default() };
                    return false;
                }
                Ordering::Equal | Ordering::Less => {}
            }
        }
        let is_clear = known.unclear_since.take().is_none();
        let quiet = known.seen.as_ref().filter(|seen| is_clear && same(&seen.attributes, attributes));
        let believed = quiet
            .map_or(min, |seen| if time > seen.at { seen.believed.saturating_mul(2).min(max) } else { min });
        if quiet.is_none() {
            known.epoch = epoch;
            known.access.clear();
        }
        known.seen = Some(Seen { attributes: *attributes, at: time, believed, since, told });
        if known.covered_by.is_some_and(|number| !self.covers.is_live(number)) {
            self.node(node).covered_by = None;
        }
        if is_directory {
            // Asked while nobody else can change what is known: a loss is noted after this, or was before.
            let is_delegated = self.delegations.holds(node);
            self.node(node).is_delegated = is_delegated;
        }
        true
    }

    /// A change of ours to a node is over that started at `since`. Says whether what it did to a name is known: nobody else changed that
    /// name meanwhile.
    pub fn changed(&mut self, node: &Handle, change: &Change, since: ChainMoment, time: Duration) -> bool {
        self.now += 1;
        let now = self.now;
        let after = change.after.map(|attributes| {
            let believed = self.min(&attributes);
            Seen { attributes, at: time, believed, since, told: now }
        });
        let ended = self.node(node).chain.as_mut().and_then(|chain| chain.end(since, change, now));
        match ended {
            Some(ended) => self.changed_in_chain(node, &ended, after, time),
            None => self.changed_by_itself(node, change, since, after),
        }
    }

    /// A directory. Where only we changed it, names found in it stay known, and rights.
    fn changed_in_chain(
        &mut self,
        node: &Handle,
        ended: &ChangeEnd,
        after: Option<Seen>,
        time: Duration,
    ) -> bool {
        let (now, epoch) = (self.now, self.next_epoch());
        let is_unclear =
            ended.changed_by == ChangedBy::Unclear && !ended.changes_rights && !self.options.alone;
        let is_alone = self.options.alone && self.lost.is_evidence(ended.started);
        if ended.changed_by == ChangedBy::Stranger && is_alone {
            self.distrust(node);
            return ended.is_name_known;
        }
        let known = self.node(node);
        known.changed = now;
        match (&known.seen, &after) {
            (Some(seen), Some(_)) if is_unclear => _ = known.unclear_since.get_or_insert(seen.at),
            _ if ended.changed_by == ChangedBy::Us && !ended.changes_rights => {}
            _ => known.start_epoch(epoch),
        }
        known.seen = match (after, ended.tip) {
            (Some(after), Some(attributes)) => Some(Seen { attributes, ..after }),
            (Some(after), None) => newer(known.seen.take(), after),
            (None, _) => None,
        };
        known.age(time, epoch);
        let is_idle = known.chain.as_ref().is_some_and(|chain| !chain.is_busy());
        let is_directory = |seen: &Seen| seen.attributes.kind == FileKind::Directory;
        if is_idle && !known.seen.as_ref().is_some_and(is_directory) {
            known.chain = None;
        }
        ended.is_name_known
    }

    /// A node that is no directory, or one whose changes are not followed. Says whether it was the only change: of two that overlap
    /// nobody knows the order.
    fn changed_by_itself(
        &mut self,
        node: &Handle,
        change: &Change,
        since: ChainMoment,
        after: Option<Seen>,
    ) -> bool {
        let (now, epoch, is_alone) = (self.now, self.next_epoch(), self.options.alone);
        let known = self.node(node);
        let overlapped = known.changed > since;
        let ours_alone = match (&known.seen, &change.before) {
            (Some(seen), Some(before)) => Before::from(&seen.attributes) == *before,
            _ => false,
        };
        let keeps_rights = (ours_alone || is_alone)
            && known.seen.as_ref().zip(change.after.as_ref()).is_some_and(|(seen, after)| {
                let rights = |a: &Attributes| (a.mode, a.user, a.group);
                rights(&seen.attributes) == rights(after)
            });
        if !ours_alone {
            known.epoch = epoch;
            known.unclear_since = None;
        }
        if !keeps_rights {
            known.access.clear();
        }
        known.changed = now;
        known.chain.iter_mut().for_each(|chain| chain.lose());
        known.seen = match (known.seen.take().filter(|_| overlapped), after) {
            (None, after) if !overlapped => after,
            (Some(seen), Some(after)) => newer(Some(seen), after),
            _ => None,
        };
        !overlapped
    }

    /// A node is not what it was, and how it is now nobody said.
    pub fn forget(&mut self, node: &Handle) {
        self.now += 1;
        let (changed, epoch) = (self.now, self.next_epoch());
        let known = self.node(node);
        let mut chain = known.chain.take();
        // Changes that are under way are still followed, from what the first of them tells.
        chain.iter_mut().for_each(|chain| chain.lose());
        *known = KnownNode { changed, epoch, chain, ..KnownNode::default() };
    }

    /// Another client changed a directory under `alone`. Everything is forgotten, and from now on what is known ages.
    fn distrust(&mut self, directory: &Handle) {
        self.stranger = Some(self.names.path(directory));
        self.options = self.options.shared();
        self.now += 1;
        self.forgotten = self.now;
        let entries = self.options.entries;
        (self.nodes, self.names) = (Generations::new(entries), CachedNames::new(entries));
    }

    /// The path of a directory that another client changed under `alone`. Empty: its own name is not known.
    pub fn stranger(&self) -> Option<&[u8]> {
        self.stranger.as_deref()
    }

    /// What a node is like that a caller opens, if nobody else changes it and all of it is known.
    pub fn opened(&mut self, caller: &Caller, node: &Handle, time: Duration) -> Option<Attributes> {
        let is_certain = self.options.alone || self.is_delegated(node);
        let known = is_certain.then(|| self.access(caller, node, Access::ALL, time))??;
        Some(known.1)
    }

    /// All that is in a directory was listed by calls that started at `since`: says otherwise than what is known of it, if somebody else
    /// changed it.
    pub fn compare(&mut self, directory: &Handle, entries: &[ListedEntry], since: ChainMoment) {
        let is_alone = self.options.alone;
        let known = self.node(directory);
        if !is_alone || known.changed > since || known.chain.as_ref().is_some_and(|chain| chain.is_busy()) {
            return;
        }
        let place = Place { directory, epoch: known.epoch, rights: Access::NONE };
        let nodes = &mut self.nodes;
        // Some servers give one file several handles.
        let mut is_node = |node: &Handle, entry: &ListedEntry| {
            let file = nodes.get_mut(node).and_then(|known| Some(known.seen.as_ref()?.attributes.file));
            file.is_none_or(|file| file == entry.file)
        };
        if self.names.differ(place, entries, &mut is_node) {
            self.distrust(directory);
        }
    }

    /// Where a name leads, if this caller was told so and the directory is believed not to have changed since.
    pub fn name(
        &mut self,
        caller: &Caller,
        directory: &Handle,
        name: &[u8],
        time: Duration,
    ) -> Option<Leads> {
        self.attributes(directory, time)?;
        let (epoch, rights) = (self.nodes.get_mut(directory)?.epoch, self.rights(caller, directory));
        let leads = self.names.leads(caller, Place { directory, epoch, rights }, name);
        leads.filter(|leads| match self.options.lookups {
            LookupCache::All => true,
            LookupCache::Positive => *leads != Leads::Nowhere,
            LookupCache::None => false,
        })
    }

    /// Whether a directory was looked at so lately that a name which was not there then still is not.
    pub fn is_absence_fresh(&mut self, directory: &Handle, time: Duration) -> bool {
        if self.is_delegated(directory) {
            return true;
        }
        let seen = self.nodes.get_mut(directory).and_then(|known| known.seen.as_ref());
        seen.is_some_and(|seen| time.saturating_sub(seen.at) < self.options.absence)
    }

    /// A name was found, and what it led to.
    pub fn found(&mut self, caller: &Caller, directory: &Handle, name: &[u8], node: Handle) {
        let place = Place { directory, epoch: self.node(directory).epoch, rights: Access::NONE };
        self.names.found(caller, place, name, Leads::To(node));
    }

    /// There was no such name when a call that started at `since` looked for it, while the directory was in that epoch.
    pub fn not_found(
        &mut self,
        caller: &Caller,
        directory: &Handle,
        name: &[u8],
        (since, before): (ChainMoment, Option<u64>),
        time: Duration,
    ) {
        self.names.forget(directory, name);
        // Without the directory's attributes nobody would see that it changed. In another epoch the name may be there.
        if let Some(epoch) = self.epoch_of(directory, time)
            && before == Some(epoch)
            && self.is_unchanged(directory, since)
        {
            let place = Place { directory, epoch, rights: Access::NONE };
            self.names.found(caller, place, name, Leads::Nowhere);
        }
    }

    /// Whether no change of ours to names in a directory ended after `since`.
    pub fn is_unchanged(&mut self, directory: &Handle, since: ChainMoment) -> bool {
        self.node(directory).changed <= since
    }

    /// A change of ours gave a name to a node.
    pub fn made(&mut self, caller: &Caller, (directory, name): (&Handle, &[u8]), node: Handle) {
        self.names.made(directory, name);
        self.found(caller, directory, name, node);
    }

    /// A change of ours gave a name to a node that had another one, which is not known.
    pub fn came(&mut self, directory: &Handle, name: &[u8]) {
        self.names.forget(directory, name);
        self.names.made(directory, name);
    }

    /// What a name leads to is not known any more.
    pub fn forget_name(&mut self, directory: &Handle, name: &[u8]) {
        self.names.forget(directory, name);
    }

    /// Changes of ours to a name ended so that nobody knows whether it is there.
    pub fn lost_track(&mut self, directory: &Handle, name: &[u8]) {
        self.names.lost(directory, name);
    }

    /// A directory was made: nothing is in it.
    pub fn made_directory(&mut self, maker: &Caller, directory: Handle) {
        let epoch = self.node(&directory).epoch;
        self.names.made_directory(maker, directory, epoch);
    }

    /// A change of ours took a name away from a file, which is gone or has one link less.
    pub fn removed(&mut self, directory: &Handle, name: &[u8]) {
        if !matches!(self.forget_taken(directory, name), Some(Leads::To(_))) {
            self.lost.removed = self.now;
        }
    }

    /// A change of ours took its name away from a directory, which is gone: no other name leads to it.
    pub fn removed_directory(&mut self, directory: &Handle, name: &[u8]) {
        self.forget_taken(directory, name);
    }

    /// A change of ours gave a name to another node than the one that had it, if one had.
    pub fn replaced(&mut self, directory: &Handle, name: &[u8]) {
        if self.forget_taken(directory, name).is_none() {
            self.lost.removed = self.now;
        }
    }

    /// A change of ours took a name away from a node, which has another one now: its time of change is another one, too. Gives the node,
    /// if it is known.
    pub fn renamed(&mut self, directory: &Handle, name: &[u8]) -> Option<Handle> {
        if let Some(Leads::To(node)) = self.forget_taken(directory, name) {
            return Some(node);
        }
        self.lost.renamed = self.now;
        None
    }

    /// Forgets a name that was there, and the node that it led to. Gives where it led, if that is known.
    fn forget_taken(&mut self, directory: &Handle, name: &[u8]) -> Option<Leads> {
        self.now += 1;
        let place = Place { directory, epoch: self.node(directory).epoch, rights: Access::NONE };
        let led = self.names.taken(place, name);
        if let Some(Leads::To(node)) = led {
            self.forget(&node);
        }
        led
    }

    /// The epoch of a directory, if its attributes are believed: what is listed while it lasts is all there is.
    pub fn epoch_of(&mut self, directory: &Handle, time: Duration) -> Option<u64> {
        self.attributes(directory, time)?;
        Some(self.nodes.get_mut(directory)?.epoch)
    }

    /// All that is in a directory was listed by calls that started at `since`, while it was in that epoch.
    pub fn listed(
        &mut self,
        caller: &Caller,
        (directory, epoch, since): (&Handle, u64, ChainMoment),
        entries: Vec<ListedEntry>,
        has_nodes: bool,
    ) {
        let known = self.node(directory);
        if known.epoch == epoch && known.changed <= since {
            let place = Place { directory, epoch, rights: Access::NONE };
            self.names.listed(caller, place, entries, has_nodes);
        }
    }

    /// Entries of a directory after a cookie, if they are known and believed.
    pub fn entries(
        &mut self,
        caller: &Caller,
        directory: &Handle,
        (cookie, needs_nodes): (u64, bool),
        time: Duration,
    ) -> Option<(Arc<[ListedEntry]>, usize)> {
        let epoch = self.epoch_of(directory, time)?;
        let rights = self.rights(caller, directory);
        self.names.entries(caller, Place { directory, epoch, rights }, cookie, needs_nodes)
    }

    /// What a caller is known to be allowed, of attributes that are believed.
    fn rights(&mut self, caller: &Caller, node: &Handle) -> Access {
        let known =
            self.nodes.get_mut(node).and_then(|known| known.access.iter().find(|known| known.0 == *caller));
        known.map_or(Access::NONE, |known| known.2)
    }

    /// What a caller may do, of the rights asked for, if that is known.
    pub fn access(
        &mut self,
        caller: &Caller,
        node: &Handle,
        wanted: Access,
        time: Duration,
    ) -> Option<(Access, Attributes)> {
        let attributes = self.attributes(node, time)?;
        let known = self.nodes.get_mut(node)?.access.iter().find(|known| known.0 == *caller)?;
        known.1.contains(wanted).then_some((known.2 & wanted, attributes))
    }

    /// A caller was told by a call that started at `since` what it may do with a node of these attributes; said after they were
    /// `saw`n.
    pub fn granted(
        &mut self,
        caller: &Caller,
        (node, attributes): (&Handle, &Attributes),
        since: ChainMoment,
        (wanted, granted): (Access, Access),
    ) {
        let known = self.node(node);
        // A change meanwhile may have been to these very rights.
        if known.changed > since || known.seen.as_ref().is_none_or(|seen| !same(&seen.attributes, attributes))
        {
            return;
        }
        known.access.retain(|other| other.0 != *caller);
        if known.access.len() == CALLERS_MAX {
            known.access.remove(0);
        }
        known.access.push((caller.clone(), wanted, granted));
    }

    fn node(&mut self, node: &Handle) -> &mut KnownNode {
        if self.nodes.get_mut(node).is_none() {
            let new = KnownNode { changed: self.forgotten, epoch: self.next_epoch(), ..KnownNode::default() };
            if self.nodes.insert(*node, new) {
                self.forgotten = self.now;
            }
        }
        self.nodes.get_mut(node).expect("it was put there")
    }

    fn next_epoch(&mut self) -> u64 {
        self.epoch += 1;
        self.epoch
    }

    fn min(&self, attributes: &Attributes) -> Duration {
        let directory = attributes.kind == FileKind::Directory;
        let min = if directory { self.options.directory_min } else { self.options.file_min };
        // Who sets only the longest time means the shortest, too.
        min.min(self.max(attributes))
    }

    fn max(&self, attributes: &Attributes) -> Duration {
        let directory = attributes.kind == FileKind::Directory;
        if directory { self.options.directory_max } else { self.options.file_max }
    }
}

impl KnownNode {
    /// Whether nobody else changes it unnoticed.
    fn is_certain(&self, covers: &Covers) -> bool {
        self.is_delegated || self.covered_by.is_some_and(|number| covers.is_live(number))
    }

    /// Names found before are not believed any more, nor rights.
    fn start_epoch(&mut self, epoch: u64) {
        self.epoch = epoch;
        self.access.clear();
        self.unclear_since = None;
    }

    /// While it is unclear who changed it, what is seen is no younger than what was seen before that, and not believed for long.
    fn age(&mut self, time: Duration, epoch: u64) {
        let Some(since) = self.unclear_since else { return };
        if time.saturating_sub(since) >= UNCLEAR_MAX {
            self.start_epoch(epoch);
        } else if let Some(seen) = &mut self.seen {
            (seen.at, seen.believed) = (since, seen.believed.min(UNCLEAR_MAX));
        }
    }
}

impl LostNames {
    /// Whether the name that went away may have led to this node.
    fn concerns(&self, seen: &Seen) -> bool {
        let Attributes { kind, links, .. } = seen.attributes;
        let has_other_names = kind != FileKind::Directory && links != 1;
        seen.since < self.renamed || has_other_names && seen.since < self.removed
    }

    /// Whether changes of a directory since then are followed, and no call of ours may have changed it unseen.
    fn is_evidence(&self, since: ChainMoment) -> bool {
        self.under_way == 0 && self.ended < since
    }

    /// Whether a directory was changed since it was seen, and not by us.
    fn is_changed(&self, seen: &Seen, now: &Attributes) -> bool {
        is_later(now.changed, seen.attributes.changed) && self.is_evidence(seen.since)
    }
}

/// Of two states that were told by calls which overlapped, the server's time of change tells which came later.
fn newer(one: Option<Seen>, other: Seen) -> Option<Seen> {
    let Some(one) = one else { return Some(other) };
    match one.attributes.version().cmp(&other.attributes.version()) {
        Ordering::Greater => Some(one),
        Ordering::Less => Some(other),
        Ordering::Equal => same(&one.attributes, &other.attributes).then_some(other),
    }
}

/// Whether nothing happened to a node between two looks. That it was read does not count.
fn same(one: &Attributes, other: &Attributes) -> bool {
    let facts =
        |a: &Attributes| (a.change, a.kind, a.size, a.modified, a.links, a.mode, a.user, a.group, a.file);
    facts(one) == facts(other)
}

#[cfg(test)]
mod tests {
    use howdah_vfs::FileSystem;
    use howdah_vfs::memory::MemoryFileSystem;

    use super::*;

    #[test]
    fn an_answer_that_crossed_a_change_is_not_believed() {
        let (fs, start) = (MemoryFileSystem::new(), Duration::ZERO);
        let root = fs.root();
        let old = fs.attributes(&Caller::ROOT, &root).expect("attributes");
        let mut known = Known::new(AttributeCacheOptions::default());
        let since = known.moment();
        assert!(known.changed(&root, &Change { before: None, after: Some(old) }, since, start));
        assert_eq!(known.attributes(&root, start), Some(old));
        known.saw(&root, &Attributes { size: 1, ..old }, since, start);
        assert_eq!(known.attributes(&root, start), None, "which of the two came later, nobody knows");
        let later = known.moment();
        known.saw(&root, &old, later, start);
        assert_eq!(known.attributes(&root, start), Some(old));
    }

    #[test]
    fn of_changes_that_overlapped_the_later_one_is_believed() {
        let (fs, start) = (MemoryFileSystem::new(), Duration::ZERO);
        let root = fs.root();
        let first = fs.attributes(&Caller::ROOT, &root).expect("attributes");
        let mut changed = first.changed;
        changed.seconds += 1;
        let second = Attributes { size: first.size + 1, ..first.with_changed(changed) };
        for (answers, believed) in [
            ([first, second], Some(second)),
            ([second, first], Some(second)),
            ([first, Attributes { size: 7, ..first }], None),
        ] {
            let mut known = Known::new(AttributeCacheOptions::default());
            let since = known.moment();
            let alone = answers.map(|after| {
                known.changed(&root, &Change { before: None, after: Some(after) }, since, start)
            });
            assert_eq!((alone, known.attributes(&root, start)), ([true, false], believed));
        }
    }

    #[test]
    fn of_looks_that_overlapped_the_later_one_is_believed() {
        let (fs, start) = (MemoryFileSystem::new(), Duration::ZERO);
        let root = fs.root();
        let older = fs.attributes(&Caller::ROOT, &root).expect("attributes");
        let mut changed = older.changed;
        changed.seconds += 1;
        let newer = Attributes { size: older.size + 1, ..older.with_changed(changed) };
        let within_a_tick = Attributes { size: 7, ..older };
        for (answers, believed) in [
            ([older, newer], Some(newer)),
            ([newer, older], Some(newer)),
            ([older, within_a_tick], None),
            ([older, older], Some(older)),
        ] {
            let mut known = Known::new(AttributeCacheOptions::default());
            let asked = answers.map(|_| known.moment());
            // The second question is answered first, and the first second.
            known.saw(&root, &answers[0], asked[1], start);
            known.saw(&root, &answers[1], asked[0], start);
            assert_eq!(known.attributes(&root, start), believed);
            let after = known.moment();
            known.saw(&root, &within_a_tick, after, start);
            assert_eq!(known.attributes(&root, start), Some(within_a_tick), "a later look is believed");
        }
    }

    #[test]
    fn rights_that_crossed_a_change_are_not_believed() {
        let (fs, start) = (MemoryFileSystem::new(), Duration::ZERO);
        let root = fs.root();
        let now = fs.attributes(&Caller::ROOT, &root).expect("attributes");
        let mut known = Known::new(AttributeCacheOptions::default());
        let since = known.moment();
        known.changed(&root, &Change { before: None, after: Some(now) }, since, start);
        known.granted(&Caller::ROOT, (&root, &now), since, (Access::ALL, Access::ALL));
        assert_eq!(known.access(&Caller::ROOT, &root, Access::READ, start), None);
    }
}
