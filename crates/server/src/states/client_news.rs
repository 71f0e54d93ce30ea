//! Who calls NFSv4 clients back.

use howdah_state::{ClientId, StateId};

use super::file_key::FileKey;

/// Receives the news for NFSv4 clients. Called without the lock on the state.
pub trait ClientNews: Send + Sync {
    /// A lock owner of a client may try again for a lock that it waits for.
    fn lock_is_free(&self, client: ClientId, owner: &[u8], file: &FileKey);

    /// A client is to give its delegation of a file back.
    fn recall(&self, client: ClientId, delegation: StateId, file: &FileKey);

    /// A client gave its delegation back, or lost it. Recalls that were not sent are dropped.
    fn returned(&self, client: ClientId, file: &FileKey);

    /// A client ended, with all its sessions.
    fn ended(&self, client: ClientId);
}
