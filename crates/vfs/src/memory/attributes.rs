//! ACCESS and SETATTR.

use super::number::Number;
use super::permissions;
use super::setting::{self, Settings};
use super::tables::Tables;
use crate::{Access, Attributes, Caller, FsError, Guard, NewAttributes, Result};

impl Tables {
    pub(super) fn access(
        &self,
        caller: &Caller,
        number: Number,
        wanted: Access,
    ) -> Result<(Access, Attributes)> {
        let granted = permissions::access(caller, self.node(number)?);
        Ok((granted & wanted, self.attributes(number)?))
    }

    pub(super) fn set_attributes(
        &mut self,
        caller: &Caller,
        number: Number,
        new: &NewAttributes,
        guard: Option<Guard>,
    ) -> Result<()> {
        let now = self.attributes(number)?;
        if guard.is_some_and(|guard| !guard.holds(&now)) {
            return Err(FsError::NotSynchronised);
        }
        let node = self.node(number)?;
        setting::permit(caller, node, new)?;
        let settings = Settings::new(caller, node, new, self.now());
        if let Some(size) = new.size {
            self.resize(number, size)?;
        }
        settings.apply(self.node_mut(number)?);
        Ok(())
    }

    /// Truncates a file, or extends it with a hole. What was written before is durable afterwards.
    pub(super) fn resize(&mut self, number: Number, size: u64) -> Result<()> {
        let file = self.node_mut(number)?.regular_mut()?;
        let before = file.pages.used();
        if size < file.size {
            file.pages.truncate(size);
        }
        file.size = size;
        file.settle();
        let freed = before - file.pages.used();
        self.used -= freed;
        Ok(())
    }
}
