//! RENAME.

use super::number::Number;
use super::permissions::{self, EXECUTE, WRITE};
use super::tables::{ROOT, Tables};
use crate::{Caller, FsError, Name, Result};

impl Tables {
    pub(super) fn rename(
        &mut self,
        caller: &Caller,
        from: (Number, Name<'_>),
        to: (Number, Name<'_>),
    ) -> Result<()> {
        let source = self.entry(caller, from.0, from.1)?;
        let target = self.entry(caller, to.0, to.1)?;
        let source = source.ok_or(FsError::NotFound)?;
        self.refuse_loops(source, to.0, target, from.0)?;
        if target == Some(source) {
            // Two names of one node: nothing happens, both stay (POSIX rename).
            return Ok(());
        }
        self.permit_rename(caller, source, from.0, target, to.0)?;
        self.refuse_replacement(source, target)?;
        self.move_entry(from, to, source, target)
    }

    /// A directory cannot go into itself, and what it lies in cannot be replaced by it.
    fn refuse_loops(
        &self,
        source: Number,
        into: Number,
        target: Option<Number>,
        out_of: Number,
    ) -> Result<()> {
        if self.lies_within(into, source) {
            return Err(FsError::Invalid);
        }
        if target.is_some_and(|target| self.lies_within(out_of, target)) {
            return Err(FsError::NotEmpty);
        }
        Ok(())
    }

    /// Whether a directory is `ancestor` or lies below it.
    fn lies_within(&self, mut directory: Number, ancestor: Number) -> bool {
        loop {
            if directory == ancestor {
                return true;
            }
            match self.node(directory).and_then(|node| node.directory()) {
                Ok(node) if directory != ROOT => directory = node.parent,
                _ => return false,
            }
        }
    }

    fn permit_rename(
        &self,
        caller: &Caller,
        source: Number,
        out_of: Number,
        target: Option<Number>,
        into: Number,
    ) -> Result<()> {
        let source = self.node(source)?;
        permissions::require_removal(caller, self.node(out_of)?, source)?;
        match target {
            Some(target) => {
                permissions::require_removal(caller, self.node(into)?, self.node(target)?)?;
                refuse_other_kind(source.is_directory(), self.node(target)?.is_directory())?;
            }
            None => permissions::require(caller, self.node(into)?, WRITE | EXECUTE)?,
        }
        // Its `..` is about to change.
        if source.is_directory() && out_of != into {
            permissions::require(caller, source, WRITE)?;
        }
        Ok(())
    }

    fn refuse_replacement(&self, source: Number, target: Option<Number>) -> Result<()> {
        let Some(target) = target else { return Ok(()) };
        let full = self.node(source)?.is_directory() && !self.node(target)?.directory()?.entries.is_empty();
        if full { Err(FsError::NotEmpty) } else { Ok(()) }
    }

    fn move_entry(
        &mut self,
        from: (Number, Name<'_>),
        to: (Number, Name<'_>),
        source: Number,
        target: Option<Number>,
    ) -> Result<()> {
        let now = self.now();
        let node = self.node_mut(source)?;
        node.changed = now;
        let is_directory = node.is_directory();
        if is_directory {
            node.directory_mut()?.parent = to.0;
        }
        self.take_entry(from.0, from.1)?;
        let left = self.node_mut(from.0)?;
        left.links -= u32::from(is_directory);
        (left.modified, left.changed) = (now, now);
        self.put_entry(to.0, to.1, source)?;
        let entered = self.node_mut(to.0)?;
        entered.links += u32::from(is_directory);
        (entered.modified, entered.changed) = (now, now);
        if let Some(target) = target {
            // A directory is only replaced by a directory, so the entered one loses a child again.
            self.node_mut(to.0)?.links -= u32::from(is_directory);
            self.unlink(target, if is_directory { 2 } else { 1 }, now);
        }
        Ok(())
    }
}

fn refuse_other_kind(source_is_directory: bool, target_is_directory: bool) -> Result<()> {
    match (source_is_directory, target_is_directory) {
        (true, false) => Err(FsError::NotDirectory),
        (false, true) => Err(FsError::IsDirectory),
        _ => Ok(()),
    }
}
