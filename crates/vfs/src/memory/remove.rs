//! REMOVE and RMDIR.

use super::number::Number;
use super::permissions;
use super::tables::Tables;
use crate::{Caller, FsError, Name, Result};

impl Tables {
    pub(super) fn remove(&mut self, caller: &Caller, directory: Number, name: Name<'_>) -> Result<()> {
        let number = self.removable(caller, directory, name)?;
        if self.node(number)?.is_directory() {
            return Err(FsError::IsDirectory);
        }
        self.take(directory, name, number)
    }

    pub(super) fn remove_directory(
        &mut self,
        caller: &Caller,
        directory: Number,
        name: Name<'_>,
    ) -> Result<()> {
        let number = self.removable(caller, directory, name)?;
        if !self.node(number)?.directory()?.entries.is_empty() {
            return Err(FsError::NotEmpty);
        }
        self.take(directory, name, number)
    }

    /// The node of that name, if the caller may remove it.
    fn removable(&self, caller: &Caller, directory: Number, name: Name<'_>) -> Result<Number> {
        let number = self.entry(caller, directory, name)?.ok_or(FsError::NotFound)?;
        permissions::require_removal(caller, self.node(directory)?, self.node(number)?)?;
        Ok(number)
    }

    fn take(&mut self, directory: Number, name: Name<'_>, number: Number) -> Result<()> {
        let now = self.now();
        let is_directory = self.node(number)?.is_directory();
        self.take_entry(directory, name)?;
        let parent = self.node_mut(directory)?;
        parent.links -= u32::from(is_directory);
        (parent.modified, parent.changed) = (now, now);
        // A directory goes with its one name: its other links are its own `.` and none.
        self.unlink(number, if is_directory { 2 } else { 1 }, now);
        Ok(())
    }
}
