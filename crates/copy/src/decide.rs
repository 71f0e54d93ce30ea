//! Decide: what becomes of what is at the destination already.

use std::sync::Arc;

use howdah_vfs::{Attributes, FileKind, Node};

use super::content::first_difference;
use super::context::Context;
use super::error::{Cause, Step, Trouble};
use super::look::{find_source, may_be_here};
use super::pace::Pace;
use super::placement::Placement;
use super::tasks::Entry;
use super::times::is_near;
use super::worker::Worker;
use super::{Compare, Existing};

/// Decides about files.
pub(super) struct Decision {
    context: Arc<Context>,
    pace: Arc<Pace>,
    placement: Arc<Placement>,
}

impl Decision {
    /// By the options of a copy.
    pub(super) fn new(context: Arc<Context>, pace: Arc<Pace>, placement: Arc<Placement>) -> Self {
        Self { context, pace, placement }
    }

    /// Whether what is there stays in place of a copy of `node`. Refused if it can neither stay nor be replaced.
    pub(super) fn keeps(&self, entry: &Entry, node: &Node, there: &Node, worker: &mut Worker) -> Step<bool> {
        if may_be_here(&self.context, entry) && is_same_node(&node.attributes, &there.attributes) {
            return Err(Trouble::source("copy", Cause::SameFile));
        }
        if self.context.options.existing == Existing::Keep {
            return Ok(true);
        }
        if !may_be_replaced(there.attributes.kind) {
            return self.placement.will_make_way(entry, there, "replace").map(|()| false);
        }
        match self.context.options.existing {
            Existing::Keep | Existing::Replace => Ok(false),
            Existing::ReplaceOlder => Ok(is_not_older(entry, node, there)),
            Existing::ReplaceChanged => self.is_same(entry, node, there, worker),
        }
    }

    fn is_same(&self, entry: &Entry, node: &Node, there: &Node, worker: &mut Worker) -> Step<bool> {
        let (new, old) = (&node.attributes, &there.attributes);
        if new.kind != FileKind::Regular || old.kind != FileKind::Regular || new.size != old.size {
            return Ok(false);
        }
        match self.context.options.compare {
            Compare::SizeAndTime => Ok(is_near(new.modified, old.modified, *entry.parent.item.step)),
            Compare::Content => {
                let (from, to) = (entry.parent.source(), &self.context.destination);
                let difference = first_difference(
                    (&self.context, &self.pace),
                    (from, node),
                    (to, there),
                    0..new.size,
                    worker,
                )?;
                Ok(difference.is_none())
            }
        }
    }
}

/// Whether what stays counts as a copy of `node`: what is spared only because it is there, or is newer, may be a stranger.
pub(super) fn is_copy(context: &Context, entry: &Entry, node: &Node, there: &Node) -> bool {
    let (new, old) = (&node.attributes, &there.attributes);
    match context.options.existing {
        Existing::Replace | Existing::ReplaceChanged => true,
        Existing::Keep | Existing::ReplaceOlder => {
            old.kind == FileKind::Regular
                && new.size == old.size
                && is_near(new.modified, old.modified, *entry.parent.item.step)
        }
    }
}

/// Whether what has a name, and is replaced only if it is older, stays in place of another name of a copy.
pub(super) fn keeps_name(context: &Context, entry: &Entry, there: &Node) -> Step<bool> {
    if context.options.existing != Existing::ReplaceOlder {
        return Ok(false);
    }
    let node = entry.node.map_or_else(|| find_source(entry), |node| Ok(Some(node)))?;
    Ok(node.is_some_and(|node| is_not_older(entry, &node, there)))
}

/// Whether the copy of a file may take the place of what is there. Who copies one to `/dev/null` or to a pipe means to write into
/// it: a file in its place would break whatever uses it.
pub(super) fn may_be_replaced(there: FileKind) -> bool {
    matches!(there, FileKind::Regular | FileKind::SymbolicLink)
}

fn is_not_older(entry: &Entry, node: &Node, there: &Node) -> bool {
    let (ours, theirs) = (there.attributes.modified, node.attributes.modified);
    theirs <= ours || is_near(theirs, ours, *entry.parent.item.step)
}

/// Whether two nodes of one realm are one: numbers alone may meet by chance between two servers.
fn is_same_node(one: &Attributes, other: &Attributes) -> bool {
    let facts = |node: &Attributes| (node.file_system, node.file, node.size, node.modified, node.changed);
    facts(one) == facts(other)
}
