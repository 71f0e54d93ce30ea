//! The partial file of a copy and its journal: made, or found and resumed.

use std::sync::Arc;

use howdah_vfs::{FsError, NewAttributes, Node};

use super::at_once::at_once;
use super::context::Context;
use super::error::{Cause, Doing, Step, Trouble};
use super::file_job::Opened;
use super::journal::Identity;
use super::journal_file::JournalFile;
use super::look;
use super::ownership::Ownership;
use super::tally::{add, count};
use super::tasks::{Earlier, Entry};
use super::{Event, naming};

/// The mode of a file until it is complete: for its owner alone.
pub(super) const MODE_UNTIL_DONE: u32 = 0o600;

/// Opens partial files.
pub(super) struct PartialFiles {
    context: Arc<Context>,
    ownership: Ownership,
}

impl PartialFiles {
    /// It is not known yet whose files this copy makes.
    pub(super) fn new(context: Arc<Context>) -> Self {
        Self { context, ownership: Ownership::default() }
    }

    /// Opens the partial file; under another name if somebody else has that one and it cannot be removed.
    pub(super) fn open(&self, entry: &Entry, node: &Node, mut earlier: Option<Earlier>) -> Step<Opened> {
        let mut ids = naming::ids(entry.parent.item.id).peekable();
        loop {
            let id = ids.next().expect("the loop ends with the last");
            // What was found has the usual names.
            match self.open_as(entry, node, id, earlier.take()) {
                Err(Trouble {
                    cause: Cause::Refused(FsError::AccessDenied | FsError::NotPermitted), ..
                }) if ids.peek().is_some() && self.is_taken(entry, id) => {}
                outcome => return outcome,
            }
        }
    }

    /// Whether something has one of the names that belong to an id.
    fn is_taken(&self, entry: &Entry, id: u64) -> bool {
        let directory = &entry.parent.target.handle;
        let names = [naming::partial(&entry.name, id), naming::journal(&entry.name, id)];
        names.iter().any(|name| matches!(self.context.destination.find(directory, name), Ok(Some(_))))
    }

    fn open_as(&self, entry: &Entry, node: &Node, id: u64, earlier: Option<Earlier>) -> Step<Opened> {
        let directory = &entry.parent.target.handle;
        let partial_name = naming::partial(&entry.name, id);
        let new = NewAttributes::with_mode(MODE_UNTIL_DONE);
        let create = || {
            let created = self.context.destination.create_afresh(directory, &partial_name, new);
            created.at_destination("write")
        };
        let opened = |partial, journal| Opened::empty(partial, partial_name.clone(), journal);
        if node.attributes.size < self.context.options.tuning.journal_from {
            return Ok(opened(create()?, None));
        }
        let journal_name = naming::journal(&entry.name, id);
        // An earlier try may have left them, too.
        if !entry.parent.fresh || entry.tries > 0 {
            let (partial, journal) = match earlier {
                Some(earlier) => earlier,
                None => look::earlier(&self.context.destination, directory, &entry.name, id)?,
            };
            if let (Some(partial), Some(journal)) = (partial, journal)
                && self.context.options.sync
                && let Some(resumed) =
                    self.resume(entry, node, (partial, &partial_name), (journal, &journal_name))?
            {
                return Ok(resumed);
            }
            // An old journal goes first: it never stands beside a partial file that it does not speak of.
            if journal.is_some() {
                let removed = self.context.destination.remove(directory, &journal_name);
                removed.at_destination("remove the old journal of")?;
            }
        }
        if !self.context.options.sync {
            // No journal: it would list data as safe that a crash can lose.
            return Ok(opened(create()?, None));
        }
        let begin = || {
            let (side, name) = (&self.context.destination, journal_name.clone());
            JournalFile::begin(side, directory, name, self.context.durability())
        };
        let (begun, partial) = at_once(begin, create);
        let partial = match partial {
            Ok(partial) => partial,
            Err(trouble) => {
                let _ = self.context.destination.remove(directory, &journal_name);
                return Err(trouble);
            }
        };
        if begun.is_err() {
            // It is empty. If that fails, the next run replaces it.
            let _ = self.context.destination.remove(directory, &partial_name);
        }
        let identity = Identity::new(&node.attributes, &partial.attributes);
        Ok(opened(partial, Some(begun.at_destination("create the journal of")?.of(identity))))
    }

    /// Goes on with an earlier copy, if there is one that belongs to this source.
    fn resume(
        &self,
        entry: &Entry,
        node: &Node,
        (partial, partial_name): (Node, &[u8]),
        (journal_node, journal): (Node, &[u8]),
    ) -> Step<Option<Opened>> {
        let directory = &entry.parent.target.handle;
        // Nothing was recorded yet.
        if journal_node.attributes.size == 0 {
            return Ok(None);
        }
        for file in [&partial.attributes, &journal_node.attributes] {
            let objection =
                self.ownership.objection(&self.context.destination, entry.parent.item.id, directory, file);
            if let Some(why) = objection.at_destination("look for an earlier copy of")? {
                return Ok(self.start_over(entry, why));
            }
        }
        // Only room for records.
        if matches!(JournalFile::is_empty(&self.context.destination, &journal_node), Ok(true)) {
            return Ok(None);
        }
        let read = JournalFile::read(&self.context.destination, &journal_node);
        let found = match read {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(self.start_over(entry, "its journal is damaged")),
            Err(FsError::AccessDenied) => {
                return Ok(self.start_over(entry, "its journal belongs to another user"));
            }
            Err(refused) => return Err(refused).at_destination("read the journal of"),
        };
        if let Some(why) = Identity::new(&node.attributes, &partial.attributes).difference(&found.identity) {
            return Ok(self.start_over(entry, why));
        }
        let bytes = found.committed.bytes();
        add(&self.context.tally.resumed_bytes, bytes);
        count(&self.context.tally.resumed_files);
        self.context.tell(&Event::Resumed { path: &entry.path(), bytes, of: node.attributes.size });
        let journal = JournalFile::go_on(journal.to_vec(), &journal_node, &found, self.context.durability());
        Ok(Some(Opened::resumed((partial, partial_name.to_vec()), journal, found.committed)))
    }

    fn start_over(&self, entry: &Entry, why: &'static str) -> Option<Opened> {
        self.context.tell(&Event::StartedOver { path: &entry.path(), why });
        None
    }
}

/// A copy that was killed between the rename and the removal of its journal left the journal.
pub(super) fn tidy_journal(context: &Context, entry: &Entry, earlier: Option<Earlier>) {
    if let Some((_, Some(_))) = earlier {
        let name = naming::journal(&entry.name, entry.parent.item.id);
        // If that fails, a small file stays: nothing that the copy suffers from.
        let _ = context.destination.remove(&entry.parent.target.handle, &name);
    }
}

/// When an earlier copy of the tree was interrupted, this name may have been the one of its file that was copied.
pub(super) fn tidy_name(context: &Context, entry: &Entry) {
    if entry.parent.fresh {
        return;
    }
    let id = entry.parent.item.id;
    for name in [naming::journal(&entry.name, id), naming::partial(&entry.name, id)] {
        // If that fails, a file that nobody asks for stays.
        let _ = context.destination.remove(&entry.parent.target.handle, &name);
    }
}
