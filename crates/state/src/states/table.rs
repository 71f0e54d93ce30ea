//! The states of all clients.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use super::{ClientStates, IoRights};
use crate::error::StateError;
use crate::ids::ClientId;

/// The states of all clients.
#[derive(Debug)]
pub struct StateTable<K> {
    of_client: HashMap<ClientId, ClientStates<K>>,
    rights: Arc<IoRights<K>>,
}

impl<K> Default for StateTable<K> {
    fn default() -> Self {
        Self { of_client: HashMap::new(), rights: Arc::default() }
    }
}

impl<K: Clone + Eq + Hash> StateTable<K> {
    /// What the stateids of all clients allow.
    pub fn rights(&self) -> &Arc<IoRights<K>> {
        &self.rights
    }

    /// Those of a client. [`StateError::BadStateId`] if it has none.
    pub fn of(&self, client: ClientId) -> Result<&ClientStates<K>, StateError> {
        self.of_client.get(&client).ok_or(StateError::BadStateId)
    }

    /// The same, to be changed.
    pub fn of_mut(&mut self, client: ClientId) -> Result<&mut ClientStates<K>, StateError> {
        self.of_client.get_mut(&client).ok_or(StateError::BadStateId)
    }

    /// Those of a client that is to have some.
    pub fn of_new(&mut self, client: ClientId) -> &mut ClientStates<K> {
        let rights = &self.rights;
        self.of_client.entry(client).or_insert_with(|| ClientStates::new(client, Arc::clone(rights)))
    }

    /// Whether a client has opens, and so perhaps locks, or delegations.
    pub fn has_any(&self, client: ClientId) -> bool {
        self.of(client).is_ok_and(|states| states.count() > states.count_revoked())
    }

    /// Takes those of a client out.
    pub fn remove(&mut self, client: ClientId) -> Option<ClientStates<K>> {
        self.of_client.remove(&client)
    }
}
