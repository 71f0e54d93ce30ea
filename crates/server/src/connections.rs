//! All connections by their tokens. Those that come one after the other are in different shards.

use std::collections::HashMap;
use std::sync::Arc;

use howdah_net::Token;

use crate::connection::Connection;
use crate::locks::RwLock;

/// So many that events of different connections rarely meet.
const SHARDS: usize = 64;

/// All connections.
pub struct Connections {
    shards: Box<[Shard]>,
}

type Shard = RwLock<HashMap<Token, Arc<Connection>>>;

impl Default for Connections {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| RwLock::default()).collect() }
    }
}

impl Connections {
    /// The connection of a token.
    pub fn get(&self, token: Token) -> Option<Arc<Connection>> {
        self.shard(token).read().get(&token).cloned()
    }

    /// Puts one in.
    pub fn insert(&self, connection: &Arc<Connection>) {
        self.shard(connection.token()).write().insert(connection.token(), Arc::clone(connection));
    }

    /// Takes one out; whether it was there.
    pub fn remove(&self, token: Token) -> bool {
        self.shard(token).write().remove(&token).is_some()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.shards.iter().map(|shard| shard.read().len()).sum()
    }

    /// Whether any is such.
    pub fn any(&self, is_such: impl Fn(&Connection) -> bool) -> bool {
        self.shards.iter().any(|shard| shard.read().values().any(|connection| is_such(connection)))
    }

    /// Shows all of them.
    pub fn each(&self, mut show: impl FnMut(&Arc<Connection>)) {
        self.shards.iter().for_each(|shard| shard.read().values().for_each(&mut show));
    }

    fn shard(&self, token: Token) -> &Shard {
        &self.shards[token.0 as usize % SHARDS]
    }
}
