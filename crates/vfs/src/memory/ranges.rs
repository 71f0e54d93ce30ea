//! SEEK, ALLOCATE, DEALLOCATE, COPY and CLONE.

use std::ops::Range;

use super::capacity::{CLONE_BLOCK, LARGEST_FILE};
use super::file;
use super::node::{Node, Regular};
use super::number::Number;
use super::pages::{PAGE, Pages};
use super::permissions::{self, WRITE};
use super::tables::Tables;
use crate::{Caller, FsError, Result, SeekOutcome, SeekTarget, Stability, Written};

/// The most bytes that one call copies: the tables are locked meanwhile.
const COPY_MAX: u64 = 64 << 20;

/// The most bytes that one call reserves where there is no budget: pages take memory before anything is written.
const ALLOCATE_MAX: u64 = 1 << 30;

pub(super) fn seek(
    tables: &Tables,
    caller: &Caller,
    number: Number,
    offset: u64,
    target: SeekTarget,
) -> Result<SeekOutcome> {
    let file = readable(caller, tables.node(number)?)?;
    if offset >= file.size {
        return Err(FsError::NoDevice);
    }
    let found = match target {
        SeekTarget::Data => file.pages.next_data(offset).unwrap_or(file.size),
        SeekTarget::Hole => file.pages.next_hole(offset),
    };
    Ok(SeekOutcome { offset: found.min(file.size), end: found >= file.size })
}

pub(super) fn allocate(
    tables: &mut Tables,
    caller: &Caller,
    number: Number,
    offset: u64,
    length: u64,
) -> Result<()> {
    let range = range(offset, length)?;
    let free = if tables.budget.is_some() { tables.free() } else { ALLOCATE_MAX };
    change_pages(tables, caller, number, |pages, size| {
        if pages.missing(&range) > free / PAGE as u64 {
            return Err(FsError::NoSpace);
        }
        pages.fill(&range);
        Ok(size.max(range.end))
    })
}

pub(super) fn deallocate(
    tables: &mut Tables,
    caller: &Caller,
    number: Number,
    offset: u64,
    length: u64,
) -> Result<()> {
    let range = range(offset, length)?;
    change_pages(tables, caller, number, |pages, size| {
        pages.punch(&range);
        Ok(size)
    })
}

pub(super) fn copy_range(
    tables: &mut Tables,
    caller: &Caller,
    (source, from): (Number, u64),
    (target, to): (Number, u64),
    count: u64,
) -> Result<Written> {
    let file = readable(caller, tables.node(source)?)?;
    let length = up_to(count, file.size.saturating_sub(from));
    if source == target && overlap(from, to, length) {
        return Err(FsError::Invalid);
    }
    let length = usize::try_from(length.min(COPY_MAX)).expect("64 MiB");
    let mut data = Vec::new();
    file.pages.read(from, length, &mut data);
    file::write(tables, caller, target, to, &data, Stability::Unstable)
}

pub(super) fn clone_range(
    tables: &mut Tables,
    caller: &Caller,
    (source, from): (Number, u64),
    (target, to): (Number, u64),
    count: u64,
) -> Result<()> {
    let file = readable(caller, tables.node(source)?)?;
    let left = file.size.checked_sub(from).ok_or(FsError::Invalid)?;
    let length = up_to(count, left);
    let wrong = length < count || from % CLONE_BLOCK != 0 || to % CLONE_BLOCK != 0;
    if wrong || (source == target && overlap(from, to, length)) {
        return Err(FsError::Invalid);
    }
    if length == 0 {
        return Ok(());
    }
    let (taken, into) = (range(from, length)?, range(to, length)?);
    // A block that the source fills in part must be the last of both.
    let is_whole = length.is_multiple_of(CLONE_BLOCK);
    if !is_whole && (length < left || into.end < tables.node(target)?.regular()?.size) {
        return Err(FsError::Invalid);
    }
    let (shared, free) = (tables.node(source)?.regular()?.pages.taken(&taken), tables.free());
    change_pages(tables, caller, target, |pages, size| {
        if (shared.len() * PAGE) as u64 > free.saturating_add(pages.used_in(&into)) {
            return Err(FsError::NoSpace);
        }
        pages.punch(&(into.start..into.end.next_multiple_of(CLONE_BLOCK)));
        pages.put(shared, into.start);
        Ok(size.max(into.end))
    })
}

/// Changes which pages a file has, and its size, for who may write it. What was written before is durable afterwards.
fn change_pages(
    tables: &mut Tables,
    caller: &Caller,
    number: Number,
    change: impl FnOnce(&mut Pages, u64) -> Result<u64>,
) -> Result<()> {
    let now = tables.now();
    let node = tables.node_mut(number)?;
    node.regular()?;
    permissions::require_or_owner(caller, node, WRITE)?;
    let mode = permissions::mode_after_write(caller, node);
    let file = node.regular_mut()?;
    let before = file.pages.used();
    file.size = change(&mut file.pages, file.size)?;
    file.settle();
    let after = file.pages.used();
    (node.mode, node.modified, node.changed) = (mode, now, now);
    tables.used = tables.used - before + after;
    Ok(())
}

/// The data of a regular file, for who may read it.
fn readable<'n>(caller: &Caller, node: &'n Node) -> Result<&'n Regular> {
    let file = node.regular()?;
    permissions::require_reading(caller, node)?;
    Ok(file)
}

/// A range that has bytes and lies where a file can have some.
fn range(offset: u64, length: u64) -> Result<Range<u64>> {
    match offset.checked_add(length) {
        _ if length == 0 => Err(FsError::Invalid),
        Some(end) if end <= LARGEST_FILE => Ok(offset..end),
        _ => Err(FsError::TooBig),
    }
}

/// So many of the bytes that are left; 0 means all of them.
fn up_to(count: u64, left: u64) -> u64 {
    if count == 0 { left } else { count.min(left) }
}

/// Whether two ranges of one file have bytes in common.
fn overlap(one: u64, other: u64, length: u64) -> bool {
    one.abs_diff(other) < length
}
