//! Locks of processes of the server's own host, and what those see of NFS. The kernel alone knows them: the caller that asks it
//! passes the state what is in the way, so that owners of NFS are denied by it and wait for it as for any other lock.

use std::hash::Hash;
use std::time::Duration;

use super::NfsState;
use crate::effects::{LockGrant, MirrorPiece};
use crate::files::LockWish;
use crate::ids::{ByteRange, LockKind, LockOwner};

impl<K: Clone + Eq + Hash, S> NfsState<K, S> {
    /// What NFS owners together hold of these bytes, for the kernel: pieces that cover them, ascending. And whether they hold
    /// anything of the file.
    pub fn held(&self, key: &K, range: ByteRange) -> (Vec<MirrorPiece>, bool) {
        self.files.held(key, range)
    }

    /// Of these bytes local processes were seen to hold that part so, or nothing. Those who waited for the rest may have their turn.
    pub fn set_local(
        &mut self,
        now: Duration,
        key: &K,
        range: ByteRange,
        found: Option<(ByteRange, LockKind)>,
    ) {
        self.files.set_range(key, &LockOwner::Local, range, None, &mut self.effects);
        if let Some((part, kind)) = found.and_then(|(part, kind)| Some((part.intersection(range)?, kind))) {
            self.files.set_range(key, &LockOwner::Local, part, Some(kind), &mut self.effects);
        }
        self.wake(now, key);
    }

    /// What local processes were seen to hold.
    pub fn local_locks(&self) -> impl Iterator<Item = (&K, ByteRange, LockKind)> {
        let of_local = self.files.locks().filter(|(_, (owner, ..))| **owner == LockOwner::Local);
        of_local.map(|(key, (_, range, kind))| (key, range, kind))
    }

    /// What local processes were seen to hold of a file.
    pub fn local_locks_of(&self, key: &K) -> Vec<(ByteRange, LockKind)> {
        self.files.within(key, &LockOwner::Local, ByteRange::ALL)
    }

    /// Takes a grant back that a local process is in the way of, and lets its owner wait for it again. Set what is in the way
    /// before ([`Self::set_local`]).
    pub fn wait_again(&mut self, now: Duration, grant: &LockGrant<K>) {
        self.refuse(now, grant);
        let LockGrant { owner, key, range, kind, .. } = grant;
        let wish = LockWish { key, owner, range: *range, kind: *kind };
        self.files.remember(&wish, now, self.settings.bounds.waiters_of_client);
    }
}
