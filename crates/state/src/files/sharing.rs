//! Opens and shares, in the table of files (RFC 8881 9.7).

use std::hash::Hash;
use std::sync::atomic::Ordering;

use super::table::in_the_way;
use super::{FileTable, Lapsed, Party, ShareHolder, ShareMode};
use crate::error::StateError;
use crate::ids::{ClientId, HostId, LockKind, NlmOwner, ShareAccess, ShareDeny};
use crate::memory;

impl<K: Clone + Eq + Hash> FileTable<K> {
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
        let others = file.shares.conflicts(holder, mode);
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
        let opens = file.shares.denying(access).filter_map(ShareHolder::client);
        in_the_way(opens, |client| Some(*client), lapsed).map_err(|_| StateError::Locked)
    }

    /// Whether anybody writes a file, has locked any of it for writing or waits to, or keeps others from reading it.
    pub fn excludes_delegations(&self, key: &K) -> bool {
        self.files.get(key).is_some_and(|file| {
            file.shares.modes().any(ShareMode::excludes_delegations)
                || file.locks.all().any(|(_, _, kind)| kind == LockKind::Write)
                || file.waiters.iter().any(|waiter| waiter.kind == LockKind::Write)
        })
    }

    /// Sets what a holder has of a file.
    pub fn set_share(&mut self, key: &K, holder: ShareHolder, mode: Option<ShareMode>) {
        let host = host(&holder);
        if mode.is_none() && !self.files.contains_key(key) {
            return;
        }
        let shares = &mut self.file_mut(key).shares;
        let before = shares.mode(&holder);
        let name = holder.name_length();
        let restricts = |mode: Option<ShareMode>| {
            usize::from(host.is_none() && mode.is_some_and(|mode| mode.deny != ShareDeny::NONE))
        };
        shares.set(holder, mode);
        // Before the lock on all state is let go, so that a client with an answer finds it counted.
        self.restrictions.fetch_add(restricts(mode), Ordering::Relaxed);
        self.restrictions.fetch_sub(restricts(before), Ordering::Relaxed);
        if let Some(host) = host {
            let growth = isize::from(mode.is_some()) - isize::from(before.is_some());
            self.shares.add(Party::Host(host), growth);
            self.bytes.add(Party::Host(host), growth * (memory::SHARE + name) as isize);
        }
        match mode {
            Some(_) => self.enlist(host, key),
            None => self.tidy(host, key),
        }
    }

    /// Shares that a host has of a file.
    pub fn shares_of_host(&self, key: &K, host: HostId) -> Vec<NlmOwner> {
        let file = self.files.get(key);
        file.into_iter().flat_map(|file| file.shares.of_host(host)).cloned().collect()
    }
}

fn host(holder: &ShareHolder) -> Option<HostId> {
    match holder {
        ShareHolder::Open(_) => None,
        ShareHolder::Nlm(owner) => Some(owner.host),
    }
}
