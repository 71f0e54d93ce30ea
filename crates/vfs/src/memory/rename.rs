//! RENAME.

use super::lookup;
use super::number::Number;
use super::permissions::{self, EXECUTE, WRITE};
use super::tables::{ROOT, Tables};
use crate::{Caller, FsError, Name, Result};

pub(super) fn rename(
    tables: &mut Tables,
    caller: &Caller,
    from: (Number, Name<'_>),
    to: (Number, Name<'_>),
) -> Result<()> {
    let source = lookup::entry(tables, caller, from.0, from.1)?;
    let target = lookup::entry(tables, caller, to.0, to.1)?;
    let source = source.ok_or(FsError::NotFound)?;
    refuse_loops(tables, source, to.0, target, from.0)?;
    if target == Some(source) {
        // Two names of one node: nothing happens, both stay (POSIX rename).
        return Ok(());
    }
    permit_rename(tables, caller, source, from.0, target, to.0)?;
    refuse_replacement(tables, source, target)?;
    move_entry(tables, from, to, source, target)
}

/// Refuses to move a directory into itself, or over a directory that contains it.
fn refuse_loops(
    tables: &Tables,
    source: Number,
    into: Number,
    target: Option<Number>,
    out_of: Number,
) -> Result<()> {
    if lies_within(tables, into, source) {
        return Err(FsError::Invalid);
    }
    if target.is_some_and(|target| lies_within(tables, out_of, target)) {
        return Err(FsError::NotEmpty);
    }
    Ok(())
}

/// Whether a directory is `ancestor` or lies below it.
fn lies_within(tables: &Tables, mut directory: Number, ancestor: Number) -> bool {
    loop {
        if directory == ancestor {
            return true;
        }
        match tables.node(directory).and_then(|node| node.directory()) {
            Ok(node) if directory != ROOT => directory = node.parent,
            _ => return false,
        }
    }
}

fn permit_rename(
    tables: &Tables,
    caller: &Caller,
    source: Number,
    out_of: Number,
    target: Option<Number>,
    into: Number,
) -> Result<()> {
    let source = tables.node(source)?;
    permissions::require_removal(caller, tables.node(out_of)?, source)?;
    match target {
        Some(target) => {
            permissions::require_removal(caller, tables.node(into)?, tables.node(target)?)?;
            refuse_other_kind(source.is_directory(), tables.node(target)?.is_directory())?;
        }
        None => permissions::require(caller, tables.node(into)?, WRITE | EXECUTE)?,
    }
    // Its `..` is about to change.
    if source.is_directory() && out_of != into {
        permissions::require(caller, source, WRITE)?;
    }
    Ok(())
}

fn refuse_replacement(tables: &Tables, source: Number, target: Option<Number>) -> Result<()> {
    let Some(target) = target else { return Ok(()) };
    let full = tables.node(source)?.is_directory() && !tables.node(target)?.directory()?.entries.is_empty();
    if full { Err(FsError::NotEmpty) } else { Ok(()) }
}

fn move_entry(
    tables: &mut Tables,
    from: (Number, Name<'_>),
    to: (Number, Name<'_>),
    source: Number,
    target: Option<Number>,
) -> Result<()> {
    let now = tables.now();
    let node = tables.node_mut(source)?;
    node.changed = now;
    let is_directory = node.is_directory();
    if is_directory {
        node.directory_mut()?.parent = to.0;
    }
    tables.take_entry(from.0, from.1)?;
    let left = tables.node_mut(from.0)?;
    left.links -= u32::from(is_directory);
    (left.modified, left.changed) = (now, now);
    tables.put_entry(to.0, to.1, source)?;
    let entered = tables.node_mut(to.0)?;
    entered.links += u32::from(is_directory);
    (entered.modified, entered.changed) = (now, now);
    if let Some(target) = target {
        // A directory is only replaced by a directory, so the entered one loses a child again.
        tables.node_mut(to.0)?.links -= u32::from(is_directory);
        tables.unlink(target, if is_directory { 2 } else { 1 }, now);
    }
    Ok(())
}

fn refuse_other_kind(source_is_directory: bool, target_is_directory: bool) -> Result<()> {
    match (source_is_directory, target_is_directory) {
        (true, false) => Err(FsError::NotDirectory),
        (false, true) => Err(FsError::IsDirectory),
        _ => Ok(()),
    }
}
