//! The calls that are not answered yet, by index and by xid. Room once taken is used again.

use std::collections::HashMap;

use super::entry::Entry;

/// An entry, as queues remember it: the index may hold another call by now.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    pub(super) index: usize,
    pub(super) xid: u32,
}

/// All calls that are not answered yet.
#[derive(Debug)]
pub(super) struct Table<C> {
    entries: Vec<Option<Entry<C>>>,
    free: Vec<usize>,
    by_xid: HashMap<u32, usize>,
}

impl<C> Table<C> {
    pub(super) fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new(), by_xid: HashMap::new() }
    }

    pub(super) fn insert(&mut self, entry: Entry<C>) -> Ticket {
        let xid = entry.new.xid;
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() - 1
        });
        self.entries[index] = Some(entry);
        let before = self.by_xid.insert(xid, index);
        debug_assert!(before.is_none(), "xid {xid:#x} is in use");
        Ticket { index, xid }
    }

    pub(super) fn find(&self, xid: u32) -> Option<usize> {
        self.by_xid.get(&xid).copied()
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Entry<C>> {
        let entry = self.entries.get_mut(index)?.take()?;
        self.by_xid.remove(&entry.new.xid);
        self.free.push(index);
        Some(entry)
    }

    pub(super) fn get(&self, index: usize) -> Option<&Entry<C>> {
        self.entries.get(index)?.as_ref()
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Entry<C>> {
        self.entries.get_mut(index)?.as_mut()
    }

    /// The entry of a ticket, if it is still that one.
    pub(super) fn of(&self, ticket: Ticket) -> Option<&Entry<C>> {
        self.get(ticket.index).filter(|entry| entry.new.xid == ticket.xid)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<C>> {
        self.entries.iter().flatten()
    }

    /// Indices that may be in use.
    pub(super) fn indices(&self) -> std::ops::Range<usize> {
        0..self.entries.len()
    }

    pub(super) fn len(&self) -> usize {
        self.by_xid.len()
    }
}
