//! LINK.

use super::create;
use super::number::Number;
use super::tables::Tables;
use crate::{Attributes, Caller, FsError, Name, Result};

pub(super) fn link(
    tables: &mut Tables,
    caller: &Caller,
    number: Number,
    directory: Number,
    name: Name<'_>,
) -> Result<Attributes> {
    create::require_vacancy(tables, caller, directory, name)?;
    tables.require_room(None, name)?;
    let (now, most) = (tables.now(), tables.most_links);
    let node = tables.node_mut(number)?;
    if node.is_directory() {
        return Err(FsError::NotPermitted);
    }
    if node.links >= most {
        return Err(FsError::TooManyLinks);
    }
    node.links += 1;
    node.changed = now;
    tables.put_entry(directory, name, number)?;
    let parent = tables.node_mut(directory)?;
    (parent.modified, parent.changed) = (now, now);
    tables.attributes(number)
}
