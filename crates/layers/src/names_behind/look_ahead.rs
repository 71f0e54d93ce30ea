//! A look at the server right ahead of a removal or a rename: what another host changed since a program saw it is not taken away.

use howdah_vfs::{Attributes, Caller, FileKind, FsError, Guard, Handle, Name, Node, Result};

use super::change::{ExpectedVictim, SeenBefore};
use super::log::Log;
use super::order::{ChangeNumber, NodeNumber, TouchedPlace};
use super::shared::BehindShared;
use super::tree::{PendingTree, Whereabouts};

impl Log {
    /// On what grounds a name of a directory is taken away, which led to this node when so many changes were over.
    pub(super) fn seen_before(
        &self,
        is_ours: bool,
        victim: Option<(NodeNumber, &Attributes)>,
        since: u64,
    ) -> SeenBefore {
        let Some((node, attributes)) = victim.filter(|_| !is_ours) else {
            return if is_ours { SeenBefore::Ours } else { SeenBefore::Node };
        };
        let Some(known) = self.tree.get(node) else { return SeenBefore::Node };
        // What was seen may be what a change was expected to make of it, which is over by now.
        if self.ended_since(since, &known.shown) {
            return SeenBefore::Node;
        }
        let is_quiet = known.coming.is_none()
            && known.patches.is_empty()
            && known.verifier.is_none()
            && self.order.touching(&TouchedPlace::Node(node)).next().is_none();
        // A file with another name keeps its data, and may be written by that meanwhile.
        let is_only_name = attributes.links <= 1 && attributes.kind != FileKind::Directory;
        if !is_quiet || !is_only_name {
            return SeenBefore::Node;
        }
        let changed = attributes.changed;
        let pinned = known.pinned.filter(|pinned| pinned.changed.1 == changed);
        SeenBefore::Changed(pinned.map_or(changed, |pinned| pinned.changed.0))
    }

    /// A guard as the server judges it: of a node that was made here, programs see another time than the server has.
    pub(super) fn guard_there(&self, shown: &Handle, guard: Guard) -> Guard {
        let known = self.tree.find(shown).and_then(|node| self.tree.get(node));
        let pinned = known.and_then(|known| known.pinned).filter(|pinned| pinned.changed.1 == guard.changed);
        Guard { changed: pinned.map_or(guard.changed, |pinned| pinned.changed.0), ..guard }
    }

    /// What the call of a change must find. A node that the server refused to make has no name there.
    pub(super) fn expected_victim(&self, number: ChangeNumber, node: Option<NodeNumber>) -> ExpectedVictim {
        let seen = self.seen.get(&number).copied().unwrap_or(SeenBefore::Node);
        ExpectedVictim { node: node.and_then(|node| there(&self.tree, node)), seen }
    }
}

fn there(tree: &PendingTree, node: NodeNumber) -> Option<Handle> {
    match tree.get(node)?.at {
        Whereabouts::There(real) => Some(real),
        Whereabouts::Here | Whereabouts::Nowhere(_) => None,
    }
}

impl BehindShared {
    /// Whether a name leads to what a program took away. `false`: it leads nowhere.
    ///
    /// # Errors
    /// Another host changed it since.
    pub(super) fn is_as_seen(
        &self,
        caller: &Caller,
        place: (&Handle, Name<'_>),
        expected: ExpectedVictim,
    ) -> Result<bool> {
        if self.needs_no_look(expected.seen) {
            return Ok(true);
        }
        match (self.leads_now(caller, place)?, expected.node) {
            (None, _) => Ok(false),
            (Some(found), Some(node)) if found.handle == node => match expected.seen {
                SeenBefore::Changed(changed) if changed != found.attributes.changed => {
                    Err(FsError::NotSynchronised)
                }
                _ => Ok(true),
            },
            (Some(_), Some(_)) => Err(FsError::NotSynchronised),
            (Some(_), None) => Err(FsError::Exists),
        }
    }

    /// Whether a rename finds both names as a program saw them. `false`: it is done already, and the reply was lost.
    ///
    /// # Errors
    /// Another host changed one of them since.
    pub(super) fn may_rename(
        &self,
        caller: &Caller,
        (from, to): ((&Handle, Name<'_>), (&Handle, Name<'_>)),
        node: &Handle,
        replaces: ExpectedVictim,
    ) -> Result<bool> {
        if self.needs_no_look(replaces.seen) {
            return Ok(true);
        }
        match self.leads_now(caller, from)? {
            Some(found) if found.handle == *node => self.is_as_seen(caller, to, replaces).map(|_| true),
            Some(_) => Err(FsError::NotSynchronised),
            None if self.leads_now(caller, to)?.is_some_and(|found| found.handle == *node) => Ok(false),
            None => Err(FsError::NotFound),
        }
    }

    fn needs_no_look(&self, seen: SeenBefore) -> bool {
        seen == SeenBefore::Ours || self.consistency.is_alone()
    }

    /// Where a name leads at the server, past all caches.
    ///
    /// # Errors
    /// As those of LOOKUP, except that there is none of the name.
    pub(super) fn leads_now(
        &self,
        caller: &Caller,
        (directory, name): (&Handle, Name<'_>),
    ) -> Result<Option<Node>> {
        match self.consistency.lookup_now(caller, directory, name) {
            Ok(found) => Ok(Some(found)),
            Err(FsError::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
