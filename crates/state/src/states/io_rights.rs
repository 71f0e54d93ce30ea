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
    /// To read, to write.
    pub access: ShareAccess,
    /// By this right.
    pub permit: IoPermit,
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
        let shard = self.shard(client, index).read().unwrap_or_else(PoisonError::into_inner);
        let right = shard.get(&(client, index))?;
        let is_now = stateid.seqid == 0 || stateid.seqid == right.seqid;
        (is_now && right.key == *key && right.access.allows(io.needs())).then_some(right.permit)
    }

    /// Sets what a state allows; `None`: it is gone.
    pub(crate) fn set(&self, client: ClientId, index: u32, right: Option<IoRight<K>>) {
        let mut shard = self.shard(client, index).write().unwrap_or_else(PoisonError::into_inner);
        match right {
            Some(right) => drop(shard.insert((client, index), right)),
            None => {
                shard.remove(&(client, index));
                if shard.capacity() > 1024 && shard.len() < shard.capacity() / 8 {
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
