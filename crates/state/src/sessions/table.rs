//! All sessions by name.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::LiveSession;
use crate::ids::SessionId;

type Places<S> = Vec<Option<Arc<LiveSession<S>>>>;

/// All sessions by name, for threads that do not hold the state. A connection keeps its last session and need not come here.
#[derive(Debug)]
pub struct SessionTable<S> {
    places: RwLock<Places<S>>,
}

impl<S> Default for SessionTable<S> {
    fn default() -> Self {
        Self { places: RwLock::default() }
    }
}

impl<S> SessionTable<S> {
    /// The session of this name.
    pub fn find(&self, id: SessionId) -> Option<Arc<LiveSession<S>>> {
        self.with(id, Arc::clone)
    }

    /// Shows the session of this name, which stays in the table meanwhile: cheaper than to have it.
    pub fn with<T>(&self, id: SessionId, show: impl FnOnce(&Arc<LiveSession<S>>) -> T) -> Option<T> {
        let places = self.read();
        places.get(id.place())?.as_ref().filter(|session| session.id() == id).map(show)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.read().iter().flatten().count()
    }

    /// Puts in a session that is made for a place.
    pub(crate) fn insert(&self, make: impl FnOnce(u32) -> LiveSession<S>) -> Arc<LiveSession<S>> {
        let mut places = self.write();
        let place = places.iter().position(Option::is_none).unwrap_or(places.len());
        let session = Arc::new(make(place as u32));
        if place == places.len() {
            places.push(None);
        }
        places[place] = Some(session.clone());
        session
    }

    /// Ends a session and takes it out.
    pub(crate) fn remove(&self, id: SessionId) -> Option<Arc<LiveSession<S>>> {
        let mut places = self.write();
        let place = places.get_mut(id.place())?;
        let session = place.take_if(|session| session.id() == id)?;
        session.end();
        Some(session)
    }

    fn read(&self) -> RwLockReadGuard<'_, Places<S>> {
        self.places.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Places<S>> {
        self.places.write().unwrap_or_else(PoisonError::into_inner)
    }
}
