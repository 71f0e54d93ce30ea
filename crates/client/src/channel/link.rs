//! One connection of a lane, from its making to its end.

use std::sync::atomic::{AtomicBool, Ordering};

use howdah_net::Connection;
use howdah_rpc::client::Peer;
use parking_lot::Mutex;

/// The longest reply that is taken, in bytes: the most bulk data, and room for a large listing's worth.
const RECORD_MAX: usize = howdah_wire::limits::DATA_MAX as usize + (1 << 20);

/// A connection.
pub(super) struct Link {
    /// Which connection of the channel it is, from 1.
    pub(super) number: u64,
    pub(super) connection: Connection,
    /// The thread that holds this leads: it receives for all.
    pub(super) peer: Mutex<Peer>,
    is_broken: AtomicBool,
    /// A reply came in part.
    is_mid_reply: AtomicBool,
    /// The server may call over it at any time.
    may_bring_calls: AtomicBool,
}

impl Link {
    /// A connection that was just made.
    pub(super) fn new(connection: Connection, number: u64) -> Self {
        let (is_broken, is_mid_reply, may_bring_calls) = Default::default();
        let peer = Mutex::new(Peer::new(RECORD_MAX));
        Self { number, connection, peer, is_broken, is_mid_reply, may_bring_calls }
    }

    /// Nobody needs it any more, and all its calls are answered: it ends in order.
    pub(super) fn end(&self) {
        self.is_broken.store(true, Ordering::SeqCst);
        self.connection.shut_down();
    }

    /// It is of no use any more; threads that receive or send are woken. It is reset: its calls are sent on another connection,
    /// and a server must not take them for new ones, as it may if this one ended in order.
    pub(super) fn break_off(&self) {
        self.is_broken.store(true, Ordering::SeqCst);
        self.connection.cut();
    }

    /// Whether it is of no use any more.
    pub(super) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::SeqCst)
    }

    /// From now on the server may call over it at any time, or does not any more.
    pub(super) fn expect_calls(&self, may_bring_calls: bool) {
        self.may_bring_calls.store(may_bring_calls, Ordering::SeqCst);
    }

    /// Whether the server may call over it at any time.
    pub(super) fn may_bring_calls(&self) -> bool {
        self.may_bring_calls.load(Ordering::SeqCst)
    }

    /// Whether the last that was received ended in the middle of a reply.
    pub(super) fn set_mid_reply(&self, is_mid_reply: bool) {
        self.is_mid_reply.store(is_mid_reply, Ordering::Relaxed);
    }

    /// The same.
    pub(super) fn is_mid_reply(&self) -> bool {
        self.is_mid_reply.load(Ordering::Relaxed)
    }
}
