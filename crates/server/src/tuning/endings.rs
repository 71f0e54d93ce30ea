//! What connections had moved when they ended. The thread that sizes connections looks at each now and then, so that it
//! misses what passed after its last look, and all of a connection that was short.

use std::time::{Duration, Instant};

use crate::locks::Mutex;
use howdah_net::Token;
use howdah_tune::{Gauges, Sample};

use crate::Peer;
use crate::connection::Connection;

/// Endings that nobody has taken yet.
#[derive(Debug, Default)]
pub struct Endings {
    /// None while nobody takes them.
    list: Mutex<Option<Vec<Ending>>>,
}

/// A connection that ended.
#[derive(Debug)]
pub struct Ending {
    pub token: Token,
    pub peer: Peer,
    /// When it was accepted.
    pub opened: Instant,
    /// The last look at it, with no gauges; none if the kernel did not answer.
    pub last: Option<Sample>,
}

impl Endings {
    /// From now on somebody takes them.
    pub fn open(&self) {
        self.list.lock().get_or_insert_default();
    }

    /// A connection ended.
    pub fn add(&self, now: Duration, connection: &Connection) {
        let mut list = self.list.lock();
        let Some(list) = list.as_mut() else { return };
        let last = connection.stream().sample(now, &Gauges::default()).ok();
        let (token, peer, opened) = (connection.token(), connection.peer().clone(), connection.opened());
        list.push(Ending { token, peer, opened, last });
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.lock().as_ref().is_none_or(Vec::is_empty)
    }

    /// Those since the last time.
    pub fn take(&self) -> Vec<Ending> {
        self.list.lock().as_mut().map(std::mem::take).unwrap_or_default()
    }
}
