//! All files of which somebody has something.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::range_locks::HeldLock;
use super::waiters::Waiter;
use super::{NfsFile, Party, Usage};
use crate::ids::{ClientId, HostId, LockOwner};

/// Whether a client's lease has passed, so that its state ends when somebody else wants it.
pub type Lapsed<'l> = &'l dyn Fn(ClientId) -> bool;

/// All files of which somebody has something.
#[derive(Debug)]
pub struct FileTable<K> {
    pub(super) files: HashMap<K, NfsFile>,
    /// Files of which a host has something.
    pub(super) hosts: HashMap<HostId, HashSet<K>>,
    /// Files with waiters.
    pub(super) waiting: HashSet<K>,
    /// Bytes of ranges, shares and waits.
    pub(super) bytes: Usage,
    /// Ranges that are locked.
    pub(super) ranges: Usage,
    /// Shares of hosts.
    pub(super) shares: Usage,
    /// Locks that are waited for.
    pub(super) waits: Usage,
    /// The files of which an owner waits for locks: one for each.
    pub(super) waits_of_owner: HashMap<LockOwner, Vec<K>>,
    /// Deny modes of opens.
    pub(super) restrictions: Arc<AtomicUsize>,
}

impl<K> Default for FileTable<K> {
    fn default() -> Self {
        Self {
            files: HashMap::new(),
            hosts: HashMap::new(),
            waiting: HashSet::new(),
            bytes: Usage::default(),
            ranges: Usage::default(),
            shares: Usage::default(),
            waits: Usage::default(),
            waits_of_owner: HashMap::new(),
            restrictions: Arc::default(),
        }
    }
}

impl<K: Clone + Eq + Hash> FileTable<K> {
    /// Deny modes of opens: while there are none, NFSv3 need not ask.
    pub fn restrictions(&self) -> Arc<AtomicUsize> {
        self.restrictions.clone()
    }

    /// Ranges that a client or host has locked.
    pub fn ranges_of(&self, party: Party) -> usize {
        self.ranges.of(party)
    }

    /// Bytes of memory of what a client or host has locked, shares and waits for.
    pub fn bytes_of(&self, party: Party) -> usize {
        self.bytes.of(party)
    }

    /// Gives memory back once most of what there was is gone.
    pub fn shrink(&mut self) {
        const KEPT: usize = 1 << 16;
        if self.files.capacity() > KEPT && self.files.len() < self.files.capacity() / 8 {
            self.files.shrink_to(2 * self.files.len());
        }
    }

    /// Shares that a host has.
    pub fn shares_of(&self, host: HostId) -> usize {
        self.shares.of(Party::Host(host))
    }

    /// Whether a host has anything of any file.
    pub fn has_host(&self, host: HostId) -> bool {
        self.hosts.contains_key(&host)
    }

    /// Files of which a host has something.
    pub fn keys_of_host(&self, host: HostId) -> Vec<K> {
        self.hosts.get(&host).into_iter().flatten().cloned().collect()
    }

    /// All locks.
    pub fn locks(&self) -> impl Iterator<Item = (&K, HeldLock<'_>)> {
        self.files.iter().flat_map(|(key, file)| file.locks.all().map(move |lock| (key, lock)))
    }

    /// All waiters, with their file.
    pub fn waiters(&self) -> impl Iterator<Item = (&K, &NfsFile, &Waiter)> {
        let files = self.waiting.iter().filter_map(|key| self.files.get_key_value(key));
        files.flat_map(|(key, file)| file.waiters.iter().map(move |waiter| (key, file, waiter)))
    }

    /// All files.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.files.keys()
    }

    /// The file, which somebody is to have something of.
    pub(super) fn file_mut(&mut self, key: &K) -> &mut NfsFile {
        self.files.entry(key.clone()).or_default()
    }

    /// After a host was given something of a file.
    pub(super) fn enlist(&mut self, host: Option<HostId>, key: &K) {
        if let Some(host) = host {
            self.hosts.entry(host).or_default().insert(key.clone());
        }
    }

    /// After something of a file was taken from a host, or from a client.
    pub(super) fn tidy(&mut self, host: Option<HostId>, key: &K) {
        let Some(file) = self.files.get(key) else { return };
        if file.waiters.is_empty() {
            self.waiting.remove(key);
        }
        if let Some(host) = host.filter(|host| !file.has_host(*host))
            && let Some(keys) = self.hosts.get_mut(&host)
        {
            keys.remove(key);
            if keys.is_empty() {
                self.hosts.remove(&host);
            }
        }
        if file.is_empty() {
            self.files.remove(key);
        }
    }
}

/// Who of those in the way has to go first, if each may; else the first who may not.
pub(super) fn in_the_way<T>(
    those: impl Iterator<Item = T>,
    client: impl Fn(&T) -> Option<ClientId>,
    lapsed: Lapsed<'_>,
) -> Result<Vec<ClientId>, T> {
    let mut first = Vec::new();
    for one in those {
        match client(&one).filter(|client| lapsed(*client)) {
            Some(client) if first.contains(&client) => {}
            Some(client) => first.push(client),
            None => return Err(one),
        }
    }
    Ok(first)
}
