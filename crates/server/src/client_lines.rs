//! Calls of ours over connections that clients opened: records among the replies.

use std::sync::{Arc, Weak};

use howdah_net::{Interest, Token};

use crate::Reply;
use crate::back_channel::SendRecord;
use crate::shared::{Shared, Source};

/// The connections of a server.
pub struct ClientLines {
    shared: Weak<Shared>,
}

impl ClientLines {
    /// Those of this server.
    pub fn new(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::downgrade(shared) }
    }
}

impl SendRecord for ClientLines {
    fn send(&self, line: Token, message: &[u8]) {
        let Some(shared) = self.shared.upgrade() else { return };
        let Source::Connection(connection) = shared.source(line) else { return };
        let mut record = Reply::with_buffer(Vec::new());
        record.bytes_mut().extend_from_slice(message);
        connection.push(record);
        shared.moved(&connection);
        // A worker sends it: what waits before it may be a file on storage that hangs, and other clients are called by us, too.
        let armed = connection.arm(&shared.poller, Interest { readable: false, writable: true });
        if let Err(error) = armed {
            shared.close(&connection, &error);
        }
    }
}
