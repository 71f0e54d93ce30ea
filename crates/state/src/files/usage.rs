//! How much each client and host has, for bounds.

use std::collections::HashMap;

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

/// How many of something each has.
#[derive(Debug, Default)]
pub struct Usage {
    counts: HashMap<Party, usize>,
}

impl Usage {
    /// How many a client or host has.
    pub fn of(&self, party: Party) -> usize {
        self.counts.get(&party).copied().unwrap_or(0)
    }

    /// Some more, or fewer.
    pub fn add(&mut self, party: Party, by: isize) {
        let count = self.of(party).saturating_add_signed(by);
        if count == 0 {
            self.counts.remove(&party);
        } else {
            self.counts.insert(party, count);
        }
    }
}
