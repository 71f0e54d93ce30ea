//! Puts a complete copy in its place: under the final name, instead of what has it. In a mirror, what has the name and is of
//! another kind than the source makes way.

use std::sync::Arc;

use howdah_vfs::{FileKind, FsError, Node};

use super::context::Context;
use super::error::{Cause, Doing, Step, Trouble};
use super::mirror::Mirror;
use super::naming;
use super::tasks::Entry;

/// Gives copies their names.
pub(super) struct Placement {
    context: Arc<Context>,
    mirror: Arc<Mirror>,
}

impl Placement {
    /// Removes by `mirror` what is in the way.
    pub(super) fn new(context: Arc<Context>, mirror: Arc<Mirror>) -> Self {
        Self { context, mirror }
    }

    /// What is there is of another kind and cannot be replaced by a rename. In a dry run what would go is reported now; else it
    /// goes when the copy is complete.
    pub(super) fn will_make_way(&self, entry: &Entry, there: &Node, step: &'static str) -> Step<()> {
        match self.mirror.may_make_way(entry) {
            false => Err(Trouble::destination(step, Cause::InTheWay(there.attributes.kind))),
            // Anything else is replaced by the rename.
            true if self.context.options.dry_run && there.attributes.kind == FileKind::Directory => {
                self.mirror.make_way(entry, there)
            }
            true => Ok(()),
        }
    }

    /// Gives a complete copy its name, in place of what has it.
    pub(super) fn rename_into_place(&self, entry: &Entry, from: &[u8], step: &'static str) -> Step<()> {
        let directory = &entry.parent.target.handle;
        let renamed = self.context.destination.rename(directory, from, &entry.name);
        let is_in_the_way =
            matches!(renamed, Err(FsError::IsDirectory | FsError::Exists | FsError::NotEmpty));
        if !is_in_the_way || !self.mirror.may_make_way(entry) {
            return renamed.at_destination(step);
        }
        let there = self.context.destination.find(directory, &entry.name).at_destination("look up")?;
        if let Some(there) = there.filter(|there| there.attributes.kind == FileKind::Directory) {
            self.mirror.make_way(entry, &there)?;
        }
        self.context.destination.rename(directory, from, &entry.name).at_destination(step)
    }

    /// Makes something under the partial name, and then gives it the final one in place of what is there.
    pub(super) fn put_in_place(
        &self,
        entry: &Entry,
        make: impl Fn(&[u8]) -> Result<(), FsError>,
    ) -> Step<()> {
        let directory = &entry.parent.target.handle;
        let name = naming::partial(&entry.name, entry.parent.item.id);
        self.context.destination.afresh(directory, &name, || make(&name)).at_destination("create")?;
        let renamed = self.rename_into_place(entry, &name, "rename");
        if renamed.is_err() {
            // If that fails, the next run replaces it.
            let _ = self.context.destination.remove(directory, &name);
        }
        renamed
    }
}
