//! What stateids allow, for threads that do not hold the state: READ and WRITE look here first.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::ids::{ClientId, IoKind, IoPermit, ShareAccess, StateId};

/// So many that READs and WRITEs by different stateids rarely meet.
const SHARDS: usize = 64;

/// What stateids of all clients allow now. A change is seen here before the lock on the state is let go that it was made under.
#[derive(Debug)]
pub struct IoRights<K> {
    shards: Box<[Shard<K>]>,
}

type Shard<K> = RwLock<HashMap<(ClientId, u32), IoRight<K>>>;

/// What one stateid allows.
#[derive(Debug)]
pub struct IoRight<K> {
    /// On this file.
    pub key: K,
    /// At this change of the state.
    pub seqid: u32,
    /// What it allows there.
    pub allows: Allows,
}

/// What a stateid allows.
#[derive(Debug, Clone, Copy)]
pub enum Allows {
    /// To read, to write, by this right.
    Access(ShareAccess, IoPermit),
    /// What this open of the same client does: then nothing changes for the locks under an open when it changes.
    AsOpen(u32),
}

impl<K> Default for IoRights<K> {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| RwLock::default()).collect() }
    }
}

impl<K: Eq> IoRights<K> {
    /// The right by which I/O on a file may run. `None`: ask the state, which knows special stateids, and why one is refused.
    pub fn permit(&self, client: ClientId, stateid: StateId, key: &K, io: IoKind) -> Option<IoPermit> {
        let (epoch, number, index) = stateid.parts();
        if ClientId::new(epoch, number) != client {
            return None;
        }
        let of_file = |right: &IoRight<K>| {
            let is_now = stateid.seqid == 0 || stateid.seqid == right.seqid;
            (is_now && right.key == *key).then_some(right.allows)
        };
        let allows = match self.get(client, index, of_file)? {
            Allows::AsOpen(open) => self.get(client, open, |right| Some(right.allows))?,
            allows @ Allows::Access(..) => allows,
        };
        match allows {
            Allows::Access(access, permit) if access.allows(io.needs()) => Some(permit),
            _ => None,
        }
    }

    /// Looks at what a state allows, with one lock at a time.
    fn get<T>(&self, client: ClientId, index: u32, look: impl FnOnce(&IoRight<K>) -> Option<T>) -> Option<T> {
        let shard = self.shard(client, index).read().unwrap_or_else(PoisonError::into_inner);
        look(shard.get(&(client, index))?)
    }

    /// Sets what a state allows; `None`: it is gone.
    pub(crate) fn set(&self, client: ClientId, index: u32, right: Option<IoRight<K>>) {
        let mut shard = self.shard(client, index).write().unwrap_or_else(PoisonError::into_inner);
        match right {
            Some(right) => drop(shard.insert((client, index), right)),
            None => {
                shard.remove(&(client, index));
                if shard.capacity() > 64 && shard.len() < shard.capacity() / 4 {
                    let most = 2 * shard.len();
                    shard.shrink_to(most);
                }
            }
        }
    }

    /// How many states allow anything.
    pub fn count(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().unwrap_or_else(PoisonError::into_inner).len()).sum()
    }

    /// A client's states have numbers one after the other.
    fn shard(&self, client: ClientId, index: u32) -> &Shard<K> {
        &self.shards[client.number().wrapping_add(index) as usize % SHARDS]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::OpenId;

    #[test]
    fn locks_allow_what_their_open_does_now() {
        let (rights, client) = (IoRights::default(), ClientId::new(1, 1));
        let open = IoPermit::Open(OpenId { client, index: 1 });
        let set = |index, allows| rights.set(client, index, Some(IoRight { key: "file", seqid: 1, allows }));
        let may_write = || rights.permit(client, StateId::new(1, 1, 2, 1), &"file", IoKind::Write);
        set(2, Allows::AsOpen(1));
        assert_eq!(may_write(), None, "without the open");
        for (access, permit) in
            [(ShareAccess::READ, None), (ShareAccess::BOTH, Some(open)), (ShareAccess::READ, None)]
        {
            set(1, Allows::Access(access, open));
            assert_eq!(may_write(), permit, "{access:?}");
        }
    }
}
