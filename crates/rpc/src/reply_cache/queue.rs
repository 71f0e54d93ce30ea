//! A queue through the entries, oldest first: links by index, so that any entry leaves it in one step.

/// Stands for no entry.
pub(super) const NONE: u32 = u32::MAX;

/// The neighbours of an entry in one queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Links {
    older: u32,
    newer: u32,
}

/// What stands in queues.
pub(super) trait Linked {
    /// Its links in one of its queues.
    fn links(&mut self, which: usize) -> &mut Links;
}

/// A queue; `WHICH` of the links of an entry are its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queue<const WHICH: usize> {
    oldest: u32,
    newest: u32,
}

impl Default for Links {
    fn default() -> Self {
        Self { older: NONE, newer: NONE }
    }
}

impl<const WHICH: usize> Default for Queue<WHICH> {
    fn default() -> Self {
        Self { oldest: NONE, newest: NONE }
    }
}

impl<const WHICH: usize> Queue<WHICH> {
    /// The entry that has stood in it for longest.
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.oldest != NONE).then_some(self.oldest)
    }

    /// Puts an entry at the end.
    pub(super) fn push<T: Linked>(&mut self, entries: &mut [T], at: u32) {
        *entries[at as usize].links(WHICH) = Links { older: self.newest, newer: NONE };
        match self.newest {
            NONE => self.oldest = at,
            newest => entries[newest as usize].links(WHICH).newer = at,
        }
        self.newest = at;
    }

    /// Takes an entry out, wherever it stands.
    pub(super) fn remove<T: Linked>(&mut self, entries: &mut [T], at: u32) {
        let Links { older, newer } = std::mem::take(entries[at as usize].links(WHICH));
        match older {
            NONE => self.oldest = newer,
            older => entries[older as usize].links(WHICH).newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => entries[newer as usize].links(WHICH).older = older,
        }
    }
}
