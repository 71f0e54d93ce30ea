//! All sessions by name.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::LiveSession;
use crate::ids::SessionId;

/// So many that calls of different sessions rarely meet.
const SHARDS: usize = 64;

type Places<S> = Vec<Option<Arc<LiveSession<S>>>>;

/// All sessions by name, for threads that do not hold the state.
#[derive(Debug)]
pub struct SessionTable<S> {
    /// The session of a place is in the shard that is its remainder.
    shards: Box<[RwLock<Places<S>>]>,
}

impl<S> Default for SessionTable<S> {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| RwLock::default()).collect() }
    }
}

impl<S> SessionTable<S> {
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

    /// Puts in a session that is made for a place. For who has the state: nobody else puts in or takes out.
    pub(crate) fn insert(&self, make: impl FnOnce(u32) -> LiveSession<S>) -> Arc<LiveSession<S>> {
        let free = |places: &Places<S>| places.iter().position(Option::is_none).unwrap_or(places.len());
        let all = self.shards.iter().map(|shard| free(&read(shard))).zip(0..);
        let (row, shard) = all.min().expect("there are shards");
        let session = Arc::new(make((row * SHARDS + shard) as u32));
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
