//! READ, WRITE and COMMIT.

use super::capacity::LARGEST_FILE;
use super::number::Number;
use super::permissions::{self, WRITE};
use super::tables::{Tables, random};
use crate::{Caller, Committed, Content, FsError, ReadOutcome, Result, Stability, Written};

pub(super) fn read(
    tables: &mut Tables,
    caller: &Caller,
    number: Number,
    offset: u64,
    count: usize,
    buffer: &mut Vec<u8>,
) -> Result<ReadOutcome> {
    let now = tables.now();
    let node = tables.node_mut(number)?;
    node.regular()?;
    permissions::require_reading(caller, node)?;
    node.accessed = now;
    let file = node.regular()?;
    let left = file.size.saturating_sub(offset);
    let length = usize::try_from(left).map_or(count, |left| left.min(count));
    file.pages.read(offset, length, buffer);
    let end = length as u64 == left;
    Ok(ReadOutcome { content: Content::Appended(length), end, attributes: tables.attributes(number)? })
}

pub(super) fn write(
    tables: &mut Tables,
    caller: &Caller,
    number: Number,
    offset: u64,
    data: &[u8],
    stability: Stability,
) -> Result<Written> {
    let (now, free) = (tables.now(), tables.free());
    let verifier = tables.verifier.to_be_bytes();
    let node = tables.node_mut(number)?;
    node.regular()?;
    permissions::require_or_owner(caller, node, WRITE)?;
    let mode = permissions::mode_after_write(caller, node);
    let file = node.regular_mut()?;
    match stability {
        Stability::Unstable => file.unsettle(),
        Stability::DataSync | Stability::FileSync => file.settle(),
    }
    if data.is_empty() {
        return Ok(Written { count: 0, stability, verifier });
    }
    let fits = LARGEST_FILE.saturating_sub(offset);
    if fits == 0 {
        return Err(FsError::TooBig);
    }
    let data = &data[..usize::try_from(fits).map_or(data.len(), |fits| fits.min(data.len()))];
    let before = file.pages.used();
    let count = file.pages.write(offset, data, free);
    if count == 0 {
        return Err(FsError::NoSpace);
    }
    let taken = file.pages.used() - before;
    file.size = file.size.max(offset + count as u64);
    (node.mode, node.modified, node.changed) = (mode, now, now);
    tables.used += taken;
    Ok(Written { count, stability, verifier })
}

pub(super) fn commit(tables: &mut Tables, caller: &Caller, number: Number) -> Result<Committed> {
    let verifier = tables.verifier.to_be_bytes();
    let node = tables.node_mut(number)?;
    node.regular()?;
    permissions::require_or_owner(caller, node, WRITE)?;
    node.regular_mut()?.settle();
    Ok(Committed { verifier })
}

/// What a crash does: data that was not committed is lost, and the verifier says so.
pub(super) fn lose_uncommitted(tables: &mut Tables) {
    tables.verifier = loop {
        let verifier = random();
        if verifier != tables.verifier {
            break verifier;
        }
    };
    for node in tables.nodes.values_mut() {
        let Ok(file) = node.regular_mut() else { continue };
        if let Some((size, pages)) = file.durable.take() {
            tables.used = tables.used - file.pages.used() + pages.used();
            (file.size, file.pages) = (size, pages);
        }
    }
}
