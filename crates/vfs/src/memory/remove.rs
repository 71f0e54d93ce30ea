//! REMOVE and RMDIR.

use super::lookup;
use super::number::Number;
use super::permissions;
use super::tables::Tables;
use crate::{Caller, FsError, Name, Result};

pub(super) fn remove(tables: &mut Tables, caller: &Caller, directory: Number, name: Name<'_>) -> Result<()> {
    let number = removable(tables, caller, directory, name)?;
    if tables.node(number)?.is_directory() {
        return Err(FsError::IsDirectory);
    }
    take(tables, directory, name, number)
}

pub(super) fn remove_directory(
    tables: &mut Tables,
    caller: &Caller,
    directory: Number,
    name: Name<'_>,
) -> Result<()> {
    let number = removable(tables, caller, directory, name)?;
    if !tables.node(number)?.directory()?.entries.is_empty() {
        return Err(FsError::NotEmpty);
    }
    take(tables, directory, name, number)
}

/// The node of that name, if the caller may remove it.
fn removable(tables: &Tables, caller: &Caller, directory: Number, name: Name<'_>) -> Result<Number> {
    let number = lookup::entry(tables, caller, directory, name)?.ok_or(FsError::NotFound)?;
    permissions::require_removal(caller, tables.node(directory)?, tables.node(number)?)?;
    Ok(number)
}

fn take(tables: &mut Tables, directory: Number, name: Name<'_>, number: Number) -> Result<()> {
    let now = tables.now();
    let is_directory = tables.node(number)?.is_directory();
    tables.take_entry(directory, name)?;
    let parent = tables.node_mut(directory)?;
    parent.links -= u32::from(is_directory);
    (parent.modified, parent.changed) = (now, now);
    // A directory goes with its one name: its other links are its own `.` and none.
    tables.unlink(number, if is_directory { 2 } else { 1 }, now);
    Ok(())
}
