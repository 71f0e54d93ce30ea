//! What is remembered of files that may be written: attributes as the server sent them last, and who may write. Knows no file
//! system and no clock.

use howdah_vfs::{Access, Attributes, Before, Caller, FileKind, Handle};

use crate::generations::Generations;

/// The most files remembered, each with about 300 bytes.
const FILES_MAX: usize = 1 << 14;
/// The most callers remembered for each.
const CALLERS_MAX: usize = 8;
/// What a caller needs to write anywhere in a file.
const WRITING: Access = Access::MODIFY;

/// All of them.
pub struct KnownFiles {
    files: Generations<Handle, KnownFile>,
    /// Which names lead to files: of those alone one knows that they are gone.
    names: Generations<(Handle, Vec<u8>), Handle>,
    /// Counts changes of ours, and answers to writes.
    now: u64,
    /// When files were forgotten: some, and all.
    forgotten: Generations<Handle, u64>,
    all_forgotten: u64,
}

struct KnownFile {
    attributes: Attributes,
    /// When it was last changed by us otherwise than by data, and its size was set.
    changed: u64,
    sized: u64,
    /// When a write of ours was answered last.
    written: u64,
    /// Whose writes the server took, or said that it would.
    writers: Vec<Caller>,
    /// What callers saw last, where that is not what the server said.
    told: Option<Before>,
}

impl Default for KnownFiles {
    fn default() -> Self {
        let (files, names) = (Generations::new(FILES_MAX), Generations::new(FILES_MAX));
        Self { files, names, now: 0, forgotten: Generations::new(FILES_MAX), all_forgotten: 0 }
    }
}

impl KnownFiles {
    /// A moment, to be remembered before the server is asked.
    pub fn moment(&self) -> u64 {
        self.now
    }

    /// The server said what a file is like in the answer to a call that began at `since`. One that crossed a change of ours may
    /// show the file before that.
    pub fn saw(&mut self, node: &Handle, attributes: &Attributes, since: u64) {
        if attributes.kind != FileKind::Regular {
            return;
        }
        let forgotten = self.was_forgotten(node);
        match self.files.get_mut(node) {
            Some(known) if known.changed > since => {}
            Some(known) => {
                // Who may write may be others now.
                let same = |a: &Attributes| (a.mode, a.user, a.group);
                if same(&known.attributes) != same(attributes) {
                    known.writers.clear();
                }
                known.attributes = *attributes;
            }
            None if forgotten > since => {}
            None => {
                let (attributes, writers) = (*attributes, Vec::new());
                let new = KnownFile { attributes, changed: 0, sized: 0, written: 0, writers, told: None };
                self.files.insert(*node, new);
            }
        }
    }

    /// A change of ours other than by data left a file like this.
    pub fn changed(&mut self, node: &Handle, after: &Attributes, sets_size: bool) {
        self.now += 1;
        self.saw(node, after, self.now);
        if let Some(known) = self.files.get_mut(node) {
            known.changed = self.now;
            known.sized = if sets_size { self.now } else { known.sized };
        }
    }

    fn was_forgotten(&mut self, node: &Handle) -> u64 {
        self.forgotten.get_mut(node).map_or(self.all_forgotten, |moment| self.all_forgotten.max(*moment))
    }

    /// The server said what a file is like in the answer to one of several writes that overlapped. The latest counts, in
    /// whichever order answers come; of those in one tick of the server's clock, the one with the largest size.
    pub fn saw_written(&mut self, node: &Handle, attributes: &Attributes, since: u64) {
        self.saw_one_written(node, attributes, since);
        self.now += 1;
        if let Some(known) = self.files.get_mut(node) {
            known.written = self.now;
        }
    }

    /// What a file is like, if the server said this in the answer to a call that began at `since`: a write of ours that was
    /// answered meanwhile may have said something newer.
    pub fn newest(&mut self, node: &Handle, server: Attributes, since: u64) -> Attributes {
        let Some(KnownFile { attributes: ours, written, .. }) = self.files.get_mut(node) else {
            return server;
        };
        if *written <= since || ours.version() < server.version() {
            return server;
        }
        if ours.version() > server.version() {
            return *ours;
        }
        Attributes { size: server.size.max(ours.size), ..server }
    }

    fn saw_one_written(&mut self, node: &Handle, attributes: &Attributes, since: u64) {
        let Some(known) = self.files.get_mut(node) else {
            return self.saw(node, attributes, since);
        };
        if known.sized > since {
            // Which of both came first nobody knows.
            return self.forget(node);
        }
        if known.changed > since {
            known.attributes.size = known.attributes.size.max(attributes.size);
            return;
        }
        let (before, size) = (known.attributes.version(), known.attributes.size);
        if before <= attributes.version() {
            let size =
                if before == attributes.version() { size.max(attributes.size) } else { attributes.size };
            self.saw(node, &Attributes { size, ..*attributes }, since);
        }
    }

    /// A caller may write, as the server said or as a write of it showed.
    pub fn may(&mut self, node: &Handle, caller: &Caller, granted: Access) {
        if !granted.contains(WRITING) {
            return;
        }
        if let Some(known) = self.files.get_mut(node)
            && !known.writers.contains(caller)
        {
            known.writers.truncate(CALLERS_MAX - 1);
            known.writers.insert(0, caller.clone());
        }
    }

    /// Whether a write of this caller will be taken, as far as is known. A file's owner may write whatever its mode says.
    pub fn may_write(&mut self, node: &Handle, caller: &Caller) -> bool {
        let known = self.files.get_mut(node);
        known.is_some_and(|known| known.attributes.user == caller.user || known.writers.contains(caller))
    }

    /// What the server said last.
    pub fn attributes(&mut self, node: &Handle) -> Option<Attributes> {
        self.files.get_mut(node).map(|known| known.attributes)
    }

    /// Callers see that a file is like this, which the server has not said.
    pub fn told(&mut self, node: &Handle, seen: &Attributes) {
        if let Some(known) = self.files.get_mut(node) {
            let is_servers = Before::from(seen) == Before::from(&known.attributes);
            known.told = (!is_servers).then(|| seen.into());
        }
    }

    /// What callers saw last, where that is not what the server said. They get the server's word now.
    pub fn take_told(&mut self, node: &Handle) -> Option<Before> {
        self.files.get_mut(node)?.told.take()
    }

    /// A name was found to lead to a file.
    pub fn found(&mut self, directory: &Handle, name: &[u8], file: Handle) {
        self.names.insert((*directory, name.to_vec()), file);
    }

    /// A name leads nowhere, or elsewhere. Gives the file that may be gone; `None` if it may be any.
    pub fn lost(&mut self, directory: &Handle, name: &[u8]) -> Option<Handle> {
        let file = self.names.remove(&(*directory, name.to_vec()));
        match &file {
            Some(file) => self.forget(file),
            None => {
                self.now += 1;
                self.all_forgotten = self.now;
                self.files.clear();
            }
        }
        file
    }

    /// A file is not what it was.
    pub fn forget(&mut self, node: &Handle) {
        self.now += 1;
        self.forgotten.insert(*node, self.now);
        self.files.remove(node);
    }
}

#[cfg(test)]
mod tests {
    use howdah_vfs::memory::MemoryFileSystem;
    use howdah_vfs::{FileSystem, Timestamp};

    use super::*;

    fn file() -> (Handle, Attributes) {
        let memory = MemoryFileSystem::new();
        let root = memory.root();
        let attributes = memory.attributes(&Caller::ROOT, &root).expect("it is there");
        (root, Attributes { kind: FileKind::Regular, size: 10, ..attributes })
    }

    fn size(known: &mut KnownFiles, node: &Handle) -> Option<u64> {
        known.attributes(node).map(|attributes| attributes.size)
    }

    #[test]
    fn an_answer_that_crossed_a_change_is_not_believed() {
        let ((node, file), mut known) = (file(), KnownFiles::default());
        let with = |size| Attributes { size, ..file };
        let since = known.moment();
        known.changed(&node, &with(20), true);
        known.saw(&node, &file, since);
        assert_eq!(size(&mut known, &node), Some(20));
        known.saw(&node, &with(30), known.moment());
        assert_eq!(size(&mut known, &node), Some(30));
        known.saw_written(&node, &with(40), since);
        assert_eq!(size(&mut known, &node), None, "it may be from before or after");
        known.saw(&node, &file, since);
        assert_eq!(size(&mut known, &node), None, "what is forgotten is not found again in an old answer");
        let since = known.moment();
        known.saw(&node, &with(50), since);
        known.changed(&node, &with(50), false);
        known.saw_written(&node, &with(60), since);
        assert_eq!(size(&mut known, &node), Some(60), "a change that sets no size leaves what is written");
    }

    #[test]
    fn of_writes_in_one_tick_of_the_clock_the_largest_size_counts() {
        let ((node, file), mut known) = (file(), KnownFiles::default());
        let at = |nanoseconds, size| Attributes {
            size,
            ..file.with_changed(Timestamp { seconds: 1, nanoseconds })
        };
        for (answer, wanted) in [(at(5, 30), 30), (at(5, 20), 30), (at(4, 40), 30), (at(6, 25), 25)] {
            known.saw_written(&node, &answer, 0);
            assert_eq!(size(&mut known, &node), Some(wanted));
        }
    }
}
