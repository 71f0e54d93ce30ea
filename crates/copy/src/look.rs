//! Looks at both sides of a name: what the source has, what is at the destination, what an earlier copy left there.

use howdah_vfs::{Handle, Node};

use super::at_once::at_once;
use super::context::Context;
use super::error::{Doing, Step};
use super::tasks::{Earlier, Entry, Looked};
use super::{Side, naming};

pub(super) fn look(context: &Context, entry: &Entry, node: &Node) -> Step<Looked> {
    match &entry.looked {
        Some(looked) => **looked,
        None if entry.parent.fresh => Ok((None, None)),
        None => {
            let Entry { parent, name, .. } = entry;
            look_for(context, &parent.target.handle, name, parent.item.id, node.attributes.size)
        }
    }
}

/// What is at the destination of a file of this size: up to three calls at once.
pub(super) fn look_for(
    context: &Context,
    directory: &Handle,
    name: &[u8],
    id: u64,
    size: u64,
) -> Step<Looked> {
    let there = || context.destination.find(directory, name).at_destination("look up");
    if size < context.options.tuning.journal_from {
        return Ok((there()?, None));
    }
    let (there, earlier) = at_once(there, || earlier(&context.destination, directory, name, id));
    Ok((there?, Some(earlier?)))
}

pub(super) fn earlier(side: &Side, directory: &Handle, name: &[u8], id: u64) -> Step<Earlier> {
    let find = |name: &[u8]| side.find(directory, name);
    let (partial, journal) =
        at_once(|| find(&naming::partial(name, id)), || find(&naming::journal(name, id)));
    let doing = "look for an earlier copy of";
    Ok((partial.at_destination(doing)?, journal.at_destination(doing)?))
}

/// What has the name at the destination.
pub(super) fn there(context: &Context, entry: &Entry) -> Step<Option<Node>> {
    match entry.parent.fresh {
        true => Ok(None),
        false => context.destination.find(&entry.parent.target.handle, &entry.name).at_destination("look up"),
    }
}

pub(super) fn find_source(entry: &Entry) -> Step<Option<Node>> {
    // The top has a node always: only what was listed below it is looked up.
    let Some(directory) = &entry.parent.node else { return Ok(None) };
    entry.parent.source().find(&directory.handle, &entry.name).at_source("look up")
}

/// Whether the source of an entry may be what is at the destination.
pub(super) fn may_be_here(context: &Context, entry: &Entry) -> bool {
    entry.parent.source().realm == context.destination.realm
}
