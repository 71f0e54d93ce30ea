//! ACCESS and SETATTR.

use super::number::Number;
use super::permissions;
use super::setting::{self, Settings};
use super::tables::Tables;
use crate::{Access, Attributes, Caller, FsError, Guard, NewAttributes, Result};

pub(super) fn access(
    tables: &Tables,
    caller: &Caller,
    number: Number,
    wanted: Access,
) -> Result<(Access, Attributes)> {
    let granted = permissions::access(caller, tables.node(number)?);
    Ok((granted & wanted, tables.attributes(number)?))
}

pub(super) fn set_attributes(
    tables: &mut Tables,
    caller: &Caller,
    number: Number,
    new: &NewAttributes,
    guard: Option<Guard>,
) -> Result<()> {
    let now = tables.attributes(number)?;
    if guard.is_some_and(|guard| !guard.holds(&now)) {
        return Err(FsError::NotSynchronised);
    }
    let node = tables.node(number)?;
    setting::permit(caller, node, new)?;
    let settings = Settings::new(caller, node, new, tables.now());
    if let Some(size) = new.size {
        resize(tables, number, size)?;
    }
    settings.apply(tables.node_mut(number)?);
    Ok(())
}

/// Truncates a file, or extends it with a hole. What was written before is durable afterwards.
pub(super) fn resize(tables: &mut Tables, number: Number, size: u64) -> Result<()> {
    let file = tables.node_mut(number)?.regular_mut()?;
    let before = file.pages.used();
    if size < file.size {
        file.pages.truncate(size);
    }
    file.size = size;
    file.settle();
    let freed = before - file.pages.used();
    tables.used -= freed;
    Ok(())
}
