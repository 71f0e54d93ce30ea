//! LOOKUP, of a name and of the parent, and READLINK.

use super::node::Body;
use super::number::Number;
use super::permissions::{self, EXECUTE};
use super::tables::Tables;
use crate::{Attributes, Caller, Found, FsError, Name, Result};

/// What a name in a directory leads to, for a caller who may search it.
pub(super) fn entry(
    tables: &Tables,
    caller: &Caller,
    directory: Number,
    name: Name<'_>,
) -> Result<Option<Number>> {
    let node = tables.node(directory)?;
    let entries = &node.directory()?.entries;
    permissions::require(caller, node, EXECUTE)?;
    Ok(entries.get(name.as_bytes()))
}

pub(super) fn lookup(tables: &Tables, caller: &Caller, directory: Number, name: Name<'_>) -> Result<Found> {
    let number = entry(tables, caller, directory, name)?.ok_or(FsError::NotFound)?;
    found(tables, number, directory)
}

pub(super) fn parent(tables: &Tables, caller: &Caller, directory: Number) -> Result<Found> {
    let node = tables.node(directory)?;
    let parent = node.directory()?.parent;
    permissions::require(caller, node, EXECUTE)?;
    found(tables, parent, directory)
}

fn found(tables: &Tables, number: Number, directory: Number) -> Result<Found> {
    Ok(Found { node: tables.as_node(number)?, directory: Some(tables.attributes(directory)?) })
}

pub(super) fn read_link(tables: &Tables, number: Number, target: &mut Vec<u8>) -> Result<Attributes> {
    let Body::Link(bytes) = &tables.node(number)?.body else { return Err(FsError::Invalid) };
    target.extend_from_slice(bytes);
    tables.attributes(number)
}
