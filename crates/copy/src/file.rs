//! The beginning of a file's copy: whether it is needed, and whether an earlier one goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Instant;

use howdah_vfs::{FsError, Handle, NewAttributes, Node, Stability};
use parking_lot::Mutex;

use super::at_once::at_once;
use super::decide::may_be_replaced;
use super::directory::Settled;
use super::engine::{Copier, Worker};
use super::error::{Cause, Doing, Step, Trouble};
use super::file_job::FileJob;
use super::journal::Identity;
use super::journal_file::JournalFile;
use super::ledger::Ledger;
use super::links::{Claim, LinkTable};
use super::outbox::Outbox;
use super::ranges::RangeSet;
use super::server_refusals::ServerRefusals;
use super::tally::{add, count};
use super::task::Task;
use super::tasks::{Earlier, Entry, LinkPart, Looked};
use super::{Event, Sparse, naming};

/// The mode of a file until it is complete: for its owner alone.
pub(super) const MODE_UNTIL_DONE: u32 = 0o600;

/// Where the data of a new copy goes, and what of it is there.
struct Opened {
    partial: Node,
    partial_name: Vec<u8>,
    journal: Option<JournalFile>,
    committed: RangeSet,
    resumed: bool,
}

impl Copier {
    /// Copies a regular file, or makes it another name of a copy.
    pub(super) fn copy_file(&self, entry: Entry, node: Node, worker: &mut Worker) -> Step<Settled> {
        let attributes = &node.attributes;
        let has_names = attributes.links > 1 && self.options.preserve.links;
        if !has_names || entry.part != LinkPart::Unknown {
            return self.begin_file(entry, node, worker);
        }
        let key = LinkTable::<Entry>::key(entry.parent.source(), attributes);
        let claim = self.links.lock().claim(key, attributes.links, entry);
        match claim {
            Claim::Wait => Ok(Settled::Later),
            Claim::Link(entry, copy) => {
                self.link_entry(entry, copy, worker);
                Ok(Settled::Later)
            }
            Claim::Copy(mut entry) => {
                entry.part = LinkPart::First(key);
                self.begin_file(entry, node, worker)
            }
        }
    }

    fn begin_file(&self, entry: Entry, node: Node, worker: &mut Worker) -> Step<Settled> {
        if entry.tries == 0 {
            add(&self.tally.found_bytes, node.attributes.size);
        }
        let outcome = self.prepare(&entry, &node, worker);
        match outcome {
            Ok(Prepared::Stays(Some(copy))) => {
                self.on_copied(&entry, copy);
                Ok(Settled::Now)
            }
            Ok(Prepared::Stays(None)) => {
                self.on_not_copied(&entry);
                Ok(Settled::Now)
            }
            Ok(Prepared::Opened(opened)) => {
                let job = self.job(entry, node, *opened);
                self.work_on(&Arc::new(job), worker);
                Ok(Settled::Later)
            }
            Err(trouble) => {
                self.on_not_copied(&entry);
                Err(trouble)
            }
        }
    }

    fn prepare(&self, entry: &Entry, node: &Node, worker: &mut Worker) -> Step<Prepared> {
        let (there, earlier) = self.look(entry, node)?;
        if let Some(there) = there
            && self.keeps(entry, node, &there, worker)?
        {
            if !self.options.dry_run {
                self.refresh_attributes(&there, &node.attributes)
                    .and_then(|()| self.refresh_extras(entry, &there, node))
                    .at_destination("set the attributes of")?;
                match entry.part {
                    LinkPart::First(_) => self.tidy_name(entry),
                    _ => self.tidy_journal(entry, earlier),
                }
            }
            count(&self.tally.kept);
            add(&self.tally.kept_bytes, node.attributes.size);
            self.tell(&Event::Kept { path: &entry.path() });
            return Ok(Prepared::Stays(self.is_copy(entry, node, &there).then_some(there.handle)));
        }
        if self.options.dry_run {
            let bytes = node.attributes.size;
            count(&self.tally.files);
            add(&self.tally.copied_bytes, bytes);
            self.tell(&Event::Copied { path: &entry.path(), bytes });
            // Another node stands for the copy that would be there: one that no name of a file has.
            return Ok(Prepared::Stays(Some(entry.parent.target.handle)));
        }
        Ok(Prepared::Opened(Box::new(self.open_partial(entry, node, earlier)?)))
    }

    fn look(&self, entry: &Entry, node: &Node) -> Step<Looked> {
        match &entry.looked {
            Some(looked) => **looked,
            None if entry.parent.fresh => Ok((None, None)),
            None => {
                let Entry { parent, name, .. } = entry;
                self.look_for(&parent.target.handle, name, parent.item.id, node.attributes.size)
            }
        }
    }

    /// What is at the destination of a file of this size: up to three calls at once.
    pub(super) fn look_for(&self, directory: &Handle, name: &[u8], id: u64, size: u64) -> Step<Looked> {
        let there = || self.destination.find(directory, name).at_destination("look up");
        if size < self.options.tuning.journal_from {
            return Ok((there()?, None));
        }
        let (there, earlier) = at_once(there, || self.earlier(directory, name, id));
        Ok((there?, Some(earlier?)))
    }

    fn earlier(&self, directory: &Handle, name: &[u8], id: u64) -> Step<Earlier> {
        let find = |name: &[u8]| self.destination.find(directory, name);
        let (partial, journal) =
            at_once(|| find(&naming::partial(name, id)), || find(&naming::journal(name, id)));
        let doing = "look for an earlier copy of";
        Ok((partial.at_destination(doing)?, journal.at_destination(doing)?))
    }

    /// What has the name at the destination.
    pub(super) fn there(&self, entry: &Entry) -> Step<Option<Node>> {
        match entry.parent.fresh {
            true => Ok(None),
            false => {
                self.destination.find(&entry.parent.target.handle, &entry.name).at_destination("look up")
            }
        }
    }

    /// A copy that was killed between the rename and the removal of its journal left the journal.
    fn tidy_journal(&self, entry: &Entry, earlier: Option<Earlier>) {
        if let Some((_, Some(_))) = earlier {
            let name = naming::journal(&entry.name, entry.parent.item.id);
            // If that fails, a small file stays: nothing that the copy suffers from.
            let _ = self.destination.remove(&entry.parent.target.handle, &name);
        }
    }

    /// When an earlier copy of the tree was interrupted, this name may have been the one of its file that was copied.
    fn tidy_name(&self, entry: &Entry) {
        if entry.parent.fresh {
            return;
        }
        let id = entry.parent.item.id;
        for name in [naming::journal(&entry.name, id), naming::partial(&entry.name, id)] {
            // If that fails, a file that nobody asks for stays.
            let _ = self.destination.remove(&entry.parent.target.handle, &name);
        }
    }

    /// Opens the partial file; under another name if somebody else has that one and it cannot be removed.
    fn open_partial(&self, entry: &Entry, node: &Node, mut earlier: Option<Earlier>) -> Step<Opened> {
        let mut ids = naming::ids(entry.parent.item.id).peekable();
        loop {
            let id = ids.next().expect("the loop ends with the last");
            // What was found has the usual names.
            match self.open_partial_as(entry, node, id, earlier.take()) {
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
        names.iter().any(|name| matches!(self.destination.find(directory, name), Ok(Some(_))))
    }

    fn open_partial_as(&self, entry: &Entry, node: &Node, id: u64, earlier: Option<Earlier>) -> Step<Opened> {
        let directory = &entry.parent.target.handle;
        let partial_name = naming::partial(&entry.name, id);
        let new = NewAttributes::with_mode(MODE_UNTIL_DONE);
        let create = || {
            let created = self.destination.create_afresh(directory, &partial_name, new);
            created.at_destination("write")
        };
        let opened = |partial, journal| Opened {
            partial,
            partial_name: partial_name.clone(),
            journal,
            committed: RangeSet::default(),
            resumed: false,
        };
        if node.attributes.size < self.options.tuning.journal_from {
            return Ok(opened(create()?, None));
        }
        let journal_name = naming::journal(&entry.name, id);
        // An earlier try may have left them, too.
        if !entry.parent.fresh || entry.tries > 0 {
            let (partial, journal) = match earlier {
                Some(earlier) => earlier,
                None => self.earlier(directory, &entry.name, id)?,
            };
            if let (Some(partial), Some(journal)) = (partial, journal)
                && self.options.sync
                && let Some(resumed) =
                    self.resume(entry, node, (partial, &partial_name), (journal, &journal_name))?
            {
                return Ok(resumed);
            }
            // An old journal goes first: it never stands beside a partial file that it does not speak of.
            if journal.is_some() {
                let removed = self.destination.remove(directory, &journal_name);
                removed.at_destination("remove the old journal of")?;
            }
        }
        if !self.options.sync {
            // No journal: it would list data as safe that a crash can lose.
            return Ok(opened(create()?, None));
        }
        let begin = || {
            let (side, name) = (&self.destination, journal_name.clone());
            JournalFile::begin(side, directory, name, self.durability())
        };
        let (begun, partial) = at_once(begin, create);
        let partial = match partial {
            Ok(partial) => partial,
            Err(trouble) => {
                let _ = self.destination.remove(directory, &journal_name);
                return Err(trouble);
            }
        };
        if begun.is_err() {
            // It is empty. If that fails, the next run replaces it.
            let _ = self.destination.remove(directory, &partial_name);
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
                self.ownership.objection(&self.destination, entry.parent.item.id, directory, file);
            if let Some(why) = objection.at_destination("look for an earlier copy of")? {
                return Ok(self.start_over(entry, why));
            }
        }
        // Only room for records.
        if matches!(JournalFile::is_empty(&self.destination, &journal_node), Ok(true)) {
            return Ok(None);
        }
        let read = JournalFile::read(&self.destination, &journal_node);
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
        add(&self.tally.resumed_bytes, bytes);
        count(&self.tally.resumed_files);
        self.tell(&Event::Resumed { path: &entry.path(), bytes, of: node.attributes.size });
        let journal = JournalFile::go_on(journal.to_vec(), &journal_node, &found, self.durability());
        Ok(Some(Opened {
            partial,
            partial_name: partial_name.to_vec(),
            journal: Some(journal),
            committed: found.committed,
            resumed: true,
        }))
    }

    /// Of what is written to be safe at once.
    pub(super) fn durability(&self) -> Stability {
        if self.options.sync { Stability::FileSync } else { Stability::Unstable }
    }

    fn start_over(&self, entry: &Entry, why: &'static str) -> Option<Opened> {
        self.tell(&Event::StartedOver { path: &entry.path(), why });
        None
    }

    fn job(&self, entry: Entry, node: Node, opened: Opened) -> FileJob {
        let attributes = &node.attributes;
        let sparse = match self.options.sparse {
            Sparse::Auto => attributes.used < attributes.size,
            Sparse::Always => true,
            Sparse::Never => false,
        };
        // A file of one block has one writer anyway.
        let one_writer = entry.parent.item.one_writer && attributes.size > self.block as u64;
        FileJob {
            partial_name: opened.partial_name,
            partial: opened.partial,
            journal: opened.journal.map(Mutex::new),
            ledger: Mutex::new(Ledger::new(attributes.size, opened.committed)),
            outbox: one_writer.then(Outbox::default),
            sparse,
            resumed: opened.resumed,
            is_large: attributes.size > self.block as u64,
            grown: AtomicBool::new(false),
            verifying: AtomicBool::new(false),
            attributes_set: Mutex::default(),
            partial_seen: Mutex::default(),
            refused: ServerRefusals::default(),
            failed: AtomicBool::new(false),
            last_commit: Mutex::new(Instant::now()),
            committed_here: AtomicU64::new(0),
            entry,
            node,
        }
    }

    /// A copy is there: the other names of the file can be made.
    pub(super) fn on_copied(&self, entry: &Entry, copy: Handle) {
        if let LinkPart::First(key) = entry.part {
            let waiting = self.links.lock().on_copied(key, copy);
            self.stack.push_all(waiting.into_iter().map(|entry| Task::Link(entry, copy)));
        }
    }

    /// There is no copy: another name of the file is copied in its place.
    pub(super) fn on_not_copied(&self, entry: &Entry) {
        let LinkPart::First(key) = entry.part else { return };
        let next = self.links.lock().on_failed(key);
        if let Some(next) = next {
            self.stack.push(Task::Entry(Entry { part: LinkPart::First(key), looked: None, ..next }));
        }
    }

    /// Makes one more name of a copy; where that cannot be, copies the data once more.
    pub(super) fn link_entry(&self, mut entry: Entry, copy: Handle, worker: &mut Worker) {
        let parent = Arc::clone(&entry.parent);
        let linked = match self.options.dry_run {
            true => self.would_link(&entry, &copy),
            false => {
                // Before the name is there: a copy that is killed in between is not asked for it again.
                self.tidy_name(&entry);
                self.try_link(&entry, &copy)
            }
        };
        match linked {
            Ok(true) => {
                count(&self.tally.hard_links);
                self.tell(&Event::Linked { path: &entry.path() });
            }
            Ok(false) => {
                count(&self.tally.kept);
                self.tell(&Event::Kept { path: &entry.path() });
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
                self.note("the destination cannot keep all hard links: some names become files of their own");
                entry.part = LinkPart::Alone;
                return self.copy_entry(entry, worker);
            }
            Err(trouble) => self.report(&entry.error(trouble)),
        }
        self.release(&parent);
    }

    /// Says whether the name was made, and not there already.
    fn try_link(&self, entry: &Entry, copy: &Handle) -> Step<bool> {
        let directory = &entry.parent.target.handle;
        let there = match self.destination.link(copy, directory, &entry.name) {
            Err(FsError::Exists) => {
                self.destination.find(directory, &entry.name).at_destination("look up")?
            }
            outcome => return outcome.at_destination("link").map(|()| true),
        };
        match self.is_replaced(entry, copy, there.as_ref())? {
            true => {
                self.put_in_place(entry, |name| self.destination.link(copy, directory, name)).map(|()| true)
            }
            false => Ok(false),
        }
    }

    /// What [`Self::try_link`] would say.
    fn would_link(&self, entry: &Entry, copy: &Handle) -> Step<bool> {
        match self.there(entry)? {
            None => Ok(true),
            Some(there) => self.is_replaced(entry, copy, Some(&there)),
        }
    }

    /// Whether another name of a copy takes the place of what is there. Refused if it can neither stay nor be replaced.
    fn is_replaced(&self, entry: &Entry, copy: &Handle, there: Option<&Node>) -> Step<bool> {
        let copied = self.destination.attributes(copy).at_destination("check the copy of")?;
        // Something else is mounted here, perhaps: there it has the same number by chance.
        let is_copy = |there: &Node| {
            (there.attributes.file_system, there.attributes.file) == (copied.file_system, copied.file)
        };
        match there {
            Some(there) if is_copy(there) => Ok(false),
            Some(_) if self.options.existing == super::Existing::Keep => Ok(false),
            Some(there) if !may_be_replaced(there.attributes.kind) => {
                self.will_make_way(entry, there, "link").map(|()| true)
            }
            Some(there) if self.keeps_name(entry, there)? => Ok(false),
            _ => Ok(true),
        }
    }

    /// Makes something under the partial name, and then gives it the final one in place of what is there.
    pub(super) fn put_in_place(
        &self,
        entry: &Entry,
        make: impl Fn(&[u8]) -> Result<(), FsError>,
    ) -> Step<()> {
        let directory = &entry.parent.target.handle;
        let name = naming::partial(&entry.name, entry.parent.item.id);
        self.destination.afresh(directory, &name, || make(&name)).at_destination("create")?;
        let renamed = self.rename_into_place(entry, &name, "rename");
        if renamed.is_err() {
            // If that fails, the next run replaces it.
            let _ = self.destination.remove(directory, &name);
        }
        renamed
    }
}

/// What comes of looking at the destination.
enum Prepared {
    /// What is there stays. If it counts as a copy, other names can be made of it.
    Stays(Option<Handle>),
    Opened(Box<Opened>),
}
