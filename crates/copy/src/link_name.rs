//! Further names of a copy, where the source has hard links.

use std::sync::Arc;

use howdah_vfs::{FsError, Handle, Node};

use super::context::Context;
use super::decide::{keeps_name, may_be_replaced};
use super::error::{Cause, Doing, Step, Trouble};
use super::look::there;
use super::partial::tidy_name;
use super::placement::Placement;
use super::tally::count;
use super::tasks::{Entry, LinkPart};
use super::{Event, Existing};

/// Makes hard links.
pub(super) struct LinkNames {
    context: Arc<Context>,
    placement: Arc<Placement>,
}

impl LinkNames {
    /// At the destination of a copy.
    pub(super) fn new(context: Arc<Context>, placement: Arc<Placement>) -> Self {
        Self { context, placement }
    }

    /// Makes one more name of a copy. Gives it back where that cannot be: then the data is copied once more.
    pub(super) fn link(&self, mut entry: Entry, copy: &Handle) -> Option<Entry> {
        let linked = match self.context.options.dry_run {
            true => self.would_link(&entry, copy),
            false => {
                // Before the name is there: a copy that is killed in between is not asked for it again.
                tidy_name(&self.context, &entry);
                self.try_link(&entry, copy)
            }
        };
        match linked {
            Ok(true) => {
                count(&self.context.tally.hard_links);
                self.context.tell(&Event::Linked { path: &entry.path() });
            }
            Ok(false) => {
                count(&self.context.tally.kept);
                self.context.tell(&Event::Kept { path: &entry.path() });
            }
            Err(Trouble {
                cause:
                    Cause::Refused(
                        FsError::NotSupported
                        | FsError::TooManyLinks
                        | FsError::CrossDevice
                        | FsError::NotPermitted,
                    ),
                ..
            }) => {
                self.context
                    .note("the destination cannot keep all hard links: some names become files of their own");
                entry.part = LinkPart::Alone;
                return Some(entry);
            }
            Err(trouble) => self.context.report(&entry.error(trouble)),
        }
        None
    }

    /// Says whether the name was made, and not there already.
    fn try_link(&self, entry: &Entry, copy: &Handle) -> Step<bool> {
        let directory = &entry.parent.target.handle;
        let there = match self.context.destination.link(copy, directory, &entry.name) {
            Err(FsError::Exists) => {
                self.context.destination.find(directory, &entry.name).at_destination("look up")?
            }
            outcome => return outcome.at_destination("link").map(|()| true),
        };
        match self.is_replaced(entry, copy, there.as_ref())? {
            true => self
                .placement
                .put_in_place(entry, |name| self.context.destination.link(copy, directory, name))
                .map(|()| true),
            false => Ok(false),
        }
    }

    /// What [`Self::try_link`] would say.
    fn would_link(&self, entry: &Entry, copy: &Handle) -> Step<bool> {
        match there(&self.context, entry)? {
            None => Ok(true),
            Some(there) => self.is_replaced(entry, copy, Some(&there)),
        }
    }

    /// Whether another name of a copy takes the place of what is there. Refused if it can neither stay nor be replaced.
    fn is_replaced(&self, entry: &Entry, copy: &Handle, there: Option<&Node>) -> Step<bool> {
        let copied = self.context.destination.attributes(copy).at_destination("check the copy of")?;
        // Something else is mounted here, perhaps: there it has the same number by chance.
        let is_copy = |there: &Node| {
            (there.attributes.file_system, there.attributes.file) == (copied.file_system, copied.file)
        };
        match there {
            Some(there) if is_copy(there) => Ok(false),
            Some(_) if self.context.options.existing == Existing::Keep => Ok(false),
            Some(there) if !may_be_replaced(there.attributes.kind) => {
                self.placement.will_make_way(entry, there, "link").map(|()| true)
            }
            Some(there) if keeps_name(&self.context, entry, there)? => Ok(false),
            _ => Ok(true),
        }
    }
}
