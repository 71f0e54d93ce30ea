//! GETXATTR, SETXATTR, LISTXATTRS and REMOVEXATTR.

use super::node::{Body, Node};
use super::number::Number;
use super::permissions::{self, READ, STICKY, WRITE};
use super::tables::Tables;
use super::xattr_map::{listed, used_by};
use crate::{Caller, FsError, Result, SetXattrMode, XattrName};

/// The most bytes of all names of a node, each with its namespace and an end (`XATTR_LIST_MAX` of Linux).
const NAMES_MAX: usize = 64 << 10;

pub(super) fn get_xattr(
    tables: &Tables,
    caller: &Caller,
    number: Number,
    name: XattrName<'_>,
    value: &mut Vec<u8>,
) -> Result<()> {
    let node = tables.node(number)?;
    if !can_have(node) {
        return Err(FsError::NoXattr);
    }
    permissions::require(caller, node, READ)?;
    value.extend_from_slice(node.xattrs.0.get(name.as_bytes()).ok_or(FsError::NoXattr)?);
    Ok(())
}

pub(super) fn set_xattr(
    tables: &mut Tables,
    caller: &Caller,
    number: Number,
    name: XattrName<'_>,
    value: &[u8],
    mode: SetXattrMode,
) -> Result<()> {
    let (now, free) = (tables.now(), tables.free());
    let node = tables.node_mut(number)?;
    require_changing(caller, node)?;
    if value.len() > XattrName::VALUE_MAX {
        return Err(FsError::XattrTooBig);
    }
    let name = name.as_bytes();
    let before = node.xattrs.0.get(name).map(|value| used_by(name, value));
    match (mode, before) {
        (SetXattrMode::Create, Some(_)) => return Err(FsError::Exists),
        (SetXattrMode::Replace, None) => return Err(FsError::NoXattr),
        _ => {}
    }
    let (before, after) = (before.unwrap_or(0), used_by(name, value));
    let names = node.xattrs.names_length() + if before == 0 { listed(name) } else { 0 };
    if names > NAMES_MAX || after.saturating_sub(before) > free {
        return Err(FsError::NoSpace);
    }
    node.xattrs.0.insert(name.into(), value.into());
    node.changed = now;
    tables.used = tables.used - before + after;
    Ok(())
}

pub(super) fn xattr_names(tables: &Tables, caller: &Caller, number: Number) -> Result<Vec<Box<[u8]>>> {
    let node = tables.node(number)?;
    permissions::require(caller, node, READ)?;
    Ok(node.xattrs.0.keys().cloned().collect())
}

pub(super) fn remove_xattr(
    tables: &mut Tables,
    caller: &Caller,
    number: Number,
    name: XattrName<'_>,
) -> Result<()> {
    let now = tables.now();
    let node = tables.node_mut(number)?;
    require_changing(caller, node)?;
    let value = node.xattrs.0.remove(name.as_bytes()).ok_or(FsError::NoXattr)?;
    node.changed = now;
    tables.used -= used_by(name.as_bytes(), &value);
    Ok(())
}

fn can_have(node: &Node) -> bool {
    matches!(node.body, Body::Regular(_) | Body::Directory(_))
}

fn require_changing(caller: &Caller, node: &Node) -> Result<()> {
    let is_anybodys = node.is_directory() && node.mode & STICKY != 0;
    if !can_have(node) || (is_anybodys && !permissions::owns(caller, node)) {
        return Err(FsError::NotPermitted);
    }
    permissions::require(caller, node, WRITE)
}
