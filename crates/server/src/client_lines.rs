//! Calls of ours over connections that clients opened: records among the replies.

use std::sync::{Arc, Weak};

use howdah_net::Token;
use parking_lot::Mutex;

use crate::Reply;
use crate::back_channel::SendRecord;
use crate::counts::Clerk;
use crate::shared::{Shared, Source};
use crate::spare::Spare;

/// The connections of a server.
pub struct ClientLines {
    shared: Weak<Shared>,
    /// For sending; whoever sends takes what others queued along.
    hands: Mutex<(Spare, Clerk)>,
}

impl ClientLines {
    /// Those of this server.
    pub fn new(shared: &Arc<Shared>) -> Self {
        let clerk = shared.service.dispatcher.counts.clerk_beside();
        Self { shared: Arc::downgrade(shared), hands: Mutex::new((Spare::default(), clerk)) }
    }
}

impl SendRecord for ClientLines {
    fn send(&self, line: Token, message: &[u8]) {
        let Some(shared) = self.shared.upgrade() else { return };
        let Source::Connection(connection) = shared.source(line) else { return };
        let mut record = Reply::with_buffer(Vec::new());
        record.bytes_mut().extend_from_slice(message);
        connection.push(record);
        let flushed = {
            let (spare, clerk) = &mut *self.hands.lock();
            connection.flush(&shared.poller, spare, clerk)
        };
        if let Err(error) = flushed {
            shared.close(&connection, &error);
        }
    }
}
