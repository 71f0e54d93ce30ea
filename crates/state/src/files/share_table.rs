//! Who has which file open (RFC 8881 9.7).

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::host_files::HostFiles;
use super::lapsed::{Lapsed, in_the_way};
use super::shares::{FileShares, ShareHolder, ShareMode};
use super::usage::{Party, Usage};
use crate::error::StateError;
use crate::ids::{ClientId, HostId, ShareAccess};
use crate::memory;

/// The opens and shares of all files.
#[derive(Debug)]
pub struct ShareTable<K> {
    files: HashMap<K, FileShares>,
    hosts: HostFiles<K>,
    /// Shares of hosts.
    usage: Usage,
    /// Deny modes of opens.
    restrictions: Arc<AtomicUsize>,
}

impl<K> Default for ShareTable<K> {
    fn default() -> Self {
        let (files, hosts, usage, restrictions) = Default::default();
        Self { files, hosts, usage, restrictions }
    }
}

impl<K: Clone + Eq + Hash> ShareTable<K> {
    /// Whether a holder may have a file so: if those clients end that are returned.
    ///
    /// # Errors
    ///
    /// [`StateError::ShareDenied`].
    pub fn may_share(
        &self,
        key: &K,
        holder: &ShareHolder,
        mode: ShareMode,
        lapsed: Lapsed<'_>,
    ) -> Result<Vec<ClientId>, StateError> {
        let Some(file) = self.files.get(key) else { return Ok(Vec::new()) };
        let others = file.conflicts(holder, mode);
        in_the_way(others, |holder| holder.client(), lapsed).map_err(|_| StateError::ShareDenied)
    }

    /// Whether I/O without an open may run: if those clients end that are returned. NLM's shares are advice among their like, since
    /// I/O of NFSv3 does not say whose it is.
    ///
    /// # Errors
    ///
    /// [`StateError::Locked`].
    pub fn may_access(
        &self,
        key: &K,
        access: ShareAccess,
        lapsed: Lapsed<'_>,
    ) -> Result<Vec<ClientId>, StateError> {
        let Some(file) = self.files.get(key) else { return Ok(Vec::new()) };
        let opens = file.denying(access).filter_map(ShareHolder::client);
        in_the_way(opens, |client| Some(*client), lapsed).map_err(|_| StateError::Locked)
    }

    /// Sets what a holder has of a file.
    pub fn set(&mut self, key: &K, holder: &ShareHolder, mode: Option<ShareMode>) {
        if mode.is_none() && !self.files.contains_key(key) {
            return;
        }
        let file = self.files.entry(key.clone()).or_default();
        let before = file.set(holder, mode);
        match holder {
            // Before the lock on all state is let go, so that a client with an answer finds it counted.
            ShareHolder::Open(_) => {
                let restricts = |mode: Option<ShareMode>| usize::from(mode.is_some_and(ShareMode::denies));
                self.restrictions.fetch_add(restricts(mode), Ordering::Relaxed);
                self.restrictions.fetch_sub(restricts(before), Ordering::Relaxed);
            }
            ShareHolder::Nlm(owner) => {
                let growth = isize::from(mode.is_some()) - isize::from(before.is_some());
                self.usage.add(Party::Host(owner.host), growth, memory::SHARE + owner.oh.len());
                self.hosts.set(owner.host, key, file.of_host(owner.host).next().is_some());
            }
        }
        if file.is_empty() {
            self.files.remove(key);
        }
    }

    /// Ends all shares of a host.
    pub fn end_host(&mut self, host: HostId) {
        for key in self.hosts.of(host) {
            let owners: Vec<_> =
                self.files.get(&key).into_iter().flat_map(|file| file.of_host(host)).cloned().collect();
            owners.into_iter().for_each(|owner| self.set(&key, &ShareHolder::Nlm(owner), None));
        }
    }

    /// Whether anybody has a file open for writing, or keeps others from reading it.
    pub fn excludes_delegations(&self, key: &K) -> bool {
        self.files.get(key).is_some_and(|file| file.modes().any(ShareMode::excludes_delegations))
    }

    /// Deny modes of opens: while there are none, NFSv3 need not ask.
    pub fn restrictions(&self) -> Arc<AtomicUsize> {
        self.restrictions.clone()
    }

    /// Shares that hosts have.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    /// Files that somebody has open.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.files.keys()
    }

    /// Gives memory back once most of what there was is gone.
    pub fn shrink(&mut self) {
        super::usage::shrink(&mut self.files);
    }
}
