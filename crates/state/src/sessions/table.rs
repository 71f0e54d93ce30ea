//! All sessions by name.

use std::hash::Hasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use siphasher::sip::SipHasher24;

use super::budget::ReplyBudget;
use super::{ClientShared, LiveSession};
use crate::ids::{ClientId, SessionId};
use crate::settings::StateSettings;

/// So many that calls of different sessions rarely meet.
const SHARDS: usize = 64;

type Places<S> = Vec<Option<Arc<LiveSession<S>>>>;

/// All sessions by name, for threads that do not hold the state.
#[derive(Debug)]
pub struct SessionTable<S> {
    /// The session of a place is in the shard that is its remainder.
    shards: Box<[RwLock<Places<S>>]>,
    budget: Arc<ReplyBudget>,
    seed: u64,
    made: AtomicU64,
}

impl<S> SessionTable<S> {
    /// None yet.
    pub(crate) fn new(settings: &StateSettings) -> Self {
        let bounds = &settings.bounds;
        Self {
            shards: (0..SHARDS).map(|_| RwLock::default()).collect(),
            budget: Arc::new(ReplyBudget::new(bounds.cached_bytes, bounds.cached_bytes_of_client)),
            seed: settings.seed,
            made: AtomicU64::new(0),
        }
    }

    /// The session of this name.
    pub fn find(&self, id: SessionId) -> Option<Arc<LiveSession<S>>> {
        self.with(id, Arc::clone)
    }

    /// Shows the session of this name, which stays in the table meanwhile: cheaper than to have it.
    pub fn with<T>(&self, id: SessionId, show: impl FnOnce(&Arc<LiveSession<S>>) -> T) -> Option<T> {
        let places = read(&self.shards[id.place() % SHARDS]);
        places.get(id.place() / SHARDS)?.as_ref().filter(|session| session.id() == id).map(show)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.shards.iter().map(|shard| read(shard).iter().flatten().count()).sum()
    }

    /// Bytes of replies that are kept for retries, of all sessions.
    pub fn cached_bytes(&self) -> usize {
        self.budget.kept()
    }

    /// Makes a session of a client with so many slots. For the thread that has the state: no other one puts in or takes out.
    pub(crate) fn add(
        &self,
        client: ClientId,
        shared: &Arc<ClientShared>,
        slots: u32,
        data: S,
    ) -> Arc<LiveSession<S>> {
        // A keyed hash: a client with a session must not find out the ids of others.
        let mut hasher = SipHasher24::new_with_keys(self.seed, !self.seed);
        hasher.write_u64(self.made.fetch_add(1, Ordering::Relaxed) + 1);
        let free = |places: &Places<S>| places.iter().position(Option::is_none).unwrap_or(places.len());
        let all = self.shards.iter().map(|shard| free(&read(shard))).zip(0..);
        let (row, shard) = all.min().expect("there are shards");
        let id = SessionId::new((row * SHARDS + shard) as u32, client.epoch(), hasher.finish());
        let (shared, budget) = (shared.clone(), self.budget.clone());
        let session = Arc::new(LiveSession::new((id, client), shared, slots, budget, data));
        let mut places = self.shards[shard].write().unwrap_or_else(PoisonError::into_inner);
        let length = places.len().max(row + 1);
        places.resize(length, None);
        places[row] = Some(session.clone());
        session
    }

    /// Ends a session and takes it out.
    pub(crate) fn remove(&self, id: SessionId) -> Option<Arc<LiveSession<S>>> {
        let mut places = self.shards[id.place() % SHARDS].write().unwrap_or_else(PoisonError::into_inner);
        let session = places.get_mut(id.place() / SHARDS)?.take_if(|session| session.id() == id)?;
        session.end();
        Some(session)
    }
}

fn read<S>(shard: &RwLock<Places<S>>) -> RwLockReadGuard<'_, Places<S>> {
    shard.read().unwrap_or_else(PoisonError::into_inner)
}
