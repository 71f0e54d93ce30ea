//! What is remembered of files that may be written: attributes as the server told them last, and who may write. Knows no file
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
}

struct KnownFile {
    attributes: Attributes,
    /// Whose writes the server took, or said that it would.
    writers: Vec<Caller>,
    /// What callers were told last, where that is not what the server said.
    told: Option<Before>,
}

impl Default for KnownFiles {
    fn default() -> Self {
        Self { files: Generations::new(FILES_MAX), names: Generations::new(FILES_MAX) }
    }
}

impl KnownFiles {
    /// The server told what a file is like.
    pub fn saw(&mut self, node: &Handle, attributes: &Attributes) {
        if attributes.kind != FileKind::Regular {
            return;
        }
        match self.files.get_mut(node) {
            Some(known) => {
                // Who may write may be others now.
                let same = |a: &Attributes| (a.mode, a.user, a.group);
                if same(&known.attributes) != same(attributes) {
                    known.writers.clear();
                }
                known.attributes = *attributes;
            }
            None => {
                self.files
                    .insert(*node, KnownFile { attributes: *attributes, writers: Vec::new(), told: None });
            }
        }
    }

    /// The same from the answer to one of several writes that overlapped: the latest counts, in whichever order answers come.
    pub fn saw_written(&mut self, node: &Handle, attributes: &Attributes) {
        let is_older = |known: &mut KnownFile| known.attributes.changed > attributes.changed;
        if !self.files.get_mut(node).is_some_and(is_older) {
            self.saw(node, attributes);
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

    /// What the server told last.
    pub fn attributes(&mut self, node: &Handle) -> Option<Attributes> {
        self.files.get_mut(node).map(|known| known.attributes)
    }

    /// Callers are told that a file is like this, which the server has not said.
    pub fn told(&mut self, node: &Handle, seen: &Attributes) {
        if let Some(known) = self.files.get_mut(node) {
            let is_servers = Before::from(seen) == Before::from(&known.attributes);
            known.told = (!is_servers).then(|| seen.into());
        }
    }

    /// What callers were told last, where that is not what the server said. They are told the server's word now.
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
            None => self.files.clear(),
        }
        file
    }

    /// A file is not what it was.
    pub fn forget(&mut self, node: &Handle) {
        self.files.remove(node);
    }
}
