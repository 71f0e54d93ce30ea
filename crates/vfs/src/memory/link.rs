//! LINK.

use super::number::Number;
use super::tables::Tables;
use crate::{Attributes, Caller, FsError, Name, Result};

impl Tables {
    pub(super) fn link(
        &mut self,
        caller: &Caller,
        number: Number,
        directory: Number,
        name: Name<'_>,
    ) -> Result<Attributes> {
        self.require_vacancy(caller, directory, name)?;
        self.require_room(None, name)?;
        let (now, most) = (self.now(), self.most_links);
        let node = self.node_mut(number)?;
        if node.is_directory() {
            return Err(FsError::NotPermitted);
        }
        if node.links >= most {
            return Err(FsError::TooManyLinks);
        }
        node.links += 1;
        node.changed = now;
        self.put_entry(directory, name, number)?;
        let parent = self.node_mut(directory)?;
        (parent.modified, parent.changed) = (now, now);
        self.attributes(number)
    }
}
