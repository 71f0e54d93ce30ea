//! How much each client and host has, for bounds.

use std::collections::HashMap;
use std::hash::Hash;

use crate::ids::{ClientId, HostId, LockOwner};

/// A client or a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Party {
    /// A client of NFSv4.
    Client(ClientId),
    /// A host of NLM.
    Host(HostId),
    /// The server's own host.
    Local,
}

impl From<&LockOwner> for Party {
    fn from(owner: &LockOwner) -> Self {
        match owner {
            LockOwner::V4 { client, .. } => Self::Client(*client),
            LockOwner::Nlm(owner) => Self::Host(owner.host),
            LockOwner::Local => Self::Local,
        }
    }
}

/// How many of something each has, and how much memory that takes.
#[derive(Debug, Default)]
pub struct Usage {
    of: HashMap<Party, (usize, usize)>,
}

impl Usage {
    /// How many a client or host has.
    pub fn count(&self, party: Party) -> usize {
        self.of.get(&party).map_or(0, |(count, _)| *count)
    }

    /// Bytes of memory of what it has.
    pub fn bytes(&self, party: Party) -> usize {
        self.of.get(&party).map_or(0, |(_, bytes)| *bytes)
    }

    /// Some more, or fewer, of so many bytes each.
    pub fn add(&mut self, party: Party, by: isize, each: usize) {
        let (count, bytes) = self.of.entry(party).or_default();
        *count = count.saturating_add_signed(by);
        *bytes = bytes.saturating_add_signed(by * each as isize);
        if *count == 0 {
            self.of.remove(&party);
        }
    }
}

/// Gives memory of a table back once most of what there was is gone.
pub fn shrink<K: Eq + Hash, V>(files: &mut HashMap<K, V>) {
    const KEPT: usize = 1 << 16;
    if files.capacity() > KEPT && files.len() < files.capacity() / 8 {
        files.shrink_to(2 * files.len());
    }
}
