//! Making way in a mirror: what has a name at the destination and is of another kind than the source goes, and then the copy comes.

use howdah_vfs::{FileKind, FsError, Node};

use super::Existing;
use super::engine::Copier;
use super::error::{Cause, Doing, Step, Trouble};
use super::removal::Removal;
use super::tasks::Entry;

impl Copier {
    /// Whether what has the name may be removed with all in it: in a mirror the source does not have it. What was named on the command
    /// line is not in a mirror.
    pub(super) fn may_make_way(&self, entry: &Entry) -> bool {
        self.options.delete && self.options.existing != Existing::Keep && entry.parent.node.is_some()
    }

    /// What is there is of another kind and cannot be replaced by a rename. In a dry run what would go is reported now; else it
    /// goes when the copy is complete.
    pub(super) fn will_make_way(&self, entry: &Entry, there: &Node, step: &'static str) -> Step<()> {
        match self.may_make_way(entry) {
            false => Err(Trouble::destination(step, Cause::InTheWay(there.attributes.kind))),
            // Anything else is replaced by the rename.
            true if self.options.dry_run && there.attributes.kind == FileKind::Directory => {
                self.make_way(entry, there)
            }
            true => Ok(()),
        }
    }

    /// Removes what is there. A link goes itself, not what it leads to.
    pub(super) fn make_way(&self, entry: &Entry, there: &Node) -> Step<()> {
        let path = entry.path_in_source();
        let own = entry.parent.target_path_of(&entry.name);
        let shown = |below: &[u8]| [&own[..], &below[path.len()..]].concat();
        let removal = Removal {
            side: &self.destination,
            options: &self.options,
            stop: &self.stop,
            crew: self.crew(),
            sources: self.source_roots(),
            file_system: entry.parent.target.attributes.file_system,
            left: &self.deletions_left,
            // No copy resumes in a directory that the source has no more.
            takes_unfinished: true,
            shown: &shown,
            on_change: &|change| self.on_change(&change),
        };
        match removal.remove((&entry.parent.target, &entry.name), there, &path, 0) {
            true => Ok(()),
            false if self.stop.is_set() => Err(Trouble::destination("replace", Cause::Stopped)),
            false => Err(Trouble::destination("replace", Cause::InTheWay(there.attributes.kind))),
        }
    }

    /// Gives a complete copy its name, in place of what has it.
    pub(super) fn rename_into_place(&self, entry: &Entry, from: &[u8], step: &'static str) -> Step<()> {
        let directory = &entry.parent.target.handle;
        let renamed = self.destination.rename(directory, from, &entry.name);
        let is_in_the_way =
            matches!(renamed, Err(FsError::IsDirectory | FsError::Exists | FsError::NotEmpty));
        if !is_in_the_way || !self.may_make_way(entry) {
            return renamed.at_destination(step);
        }
        let there = self.destination.find(directory, &entry.name).at_destination("look up")?;
        if let Some(there) = there.filter(|there| there.attributes.kind == FileKind::Directory) {
            self.make_way(entry, &there)?;
        }
        self.destination.rename(directory, from, &entry.name).at_destination(step)
    }
}
