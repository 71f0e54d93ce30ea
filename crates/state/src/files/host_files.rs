//! The files in which each NLM host has locks, shares or waiting requests.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::ids::HostId;

/// The files in which each NLM host has locks, shares or waiting requests.
#[derive(Debug)]
pub(super) struct HostFiles<K> {
    keys: HashMap<HostId, HashSet<K>>,
}

impl<K> Default for HostFiles<K> {
    fn default() -> Self {
        Self { keys: HashMap::new() }
    }
}

impl<K: Clone + Eq + Hash> HostFiles<K> {
    /// Whether a host has something of a file, or nothing any more.
    pub(super) fn set(&mut self, host: HostId, key: &K, has_something: bool) {
        if has_something {
            self.keys.entry(host).or_default().insert(key.clone());
        } else if let Some(keys) = self.keys.get_mut(&host) {
            keys.remove(key);
            if keys.is_empty() {
                self.keys.remove(&host);
            }
        }
    }

    /// The files of a host.
    pub(super) fn of(&self, host: HostId) -> Vec<K> {
        self.keys.get(&host).into_iter().flatten().cloned().collect()
    }
}
