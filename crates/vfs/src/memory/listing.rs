//! READDIR and READDIRPLUS: one batch of entries at a time, so that the sink runs without the lock.

use std::sync::Arc;

use super::entries::{DOT, DOT_DOT};
use super::number::Number;
use super::permissions::{self, EXECUTE, READ};
use super::tables::Tables;
use crate::{Attributes, Caller, Detail, Node, Result};

/// Entries copied out under one lock: many for one lock, few for one answer.
pub(super) const BATCH: usize = 64;

/// An entry, copied out of its directory.
pub(super) struct Listed {
    pub(super) name: Arc<[u8]>,
    pub(super) file: Number,
    pub(super) cookie: u64,
    pub(super) node: Option<Node>,
}

/// Some entries in a row.
pub(super) struct Batch {
    pub(super) entries: Vec<Listed>,
    /// Whether none follow.
    pub(super) end: bool,
    pub(super) directory: Attributes,
}

/// The entries after `cookie`, at most [`BATCH`].
pub(super) fn batch(
    tables: &Tables,
    caller: &Caller,
    number: Number,
    cookie: u64,
    detail: Detail,
) -> Result<Batch> {
    let node = tables.node(number)?;
    let directory = node.directory()?;
    permissions::require(caller, node, READ)?;
    // To look at what a name leads to is to search.
    let looks = detail == Detail::Nodes && permissions::allows(caller, node, EXECUTE);
    let own = [(DOT, &b"."[..], number), (DOT_DOT, &b".."[..], directory.parent)];
    let own = own.into_iter().filter(|&(own, ..)| own > cookie);
    let own = own.map(|(cookie, name, file)| (cookie, Arc::from(name), file));
    let named = directory.entries.after(cookie.max(DOT_DOT));
    let mut rest = own.chain(named.map(|(cookie, name, file)| (cookie, Arc::clone(name), file)));
    let listed = |(cookie, name, file)| {
        let node = if looks { tables.as_node(file).ok() } else { None };
        Listed { name, file, cookie, node }
    };
    let entries = rest.by_ref().take(BATCH).map(listed).collect();
    let end = rest.next().is_none();
    Ok(Batch { entries, end, directory: tables.attributes(number)? })
}
