//! What a lane has of sockets and threads: its connection, who waits there, and what wakes its thread.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use howdah_rpc::client::SealBuffer;
use parking_lot::Mutex;

use super::call::Call;
use super::evidence::Evidence;
use super::link::Link;
use super::second::Second;
use super::wakeup::Wakeup;

/// A lane.
pub(super) struct Lane {
    pub(super) index: usize,
    /// The server's addresses, and which of them it connects to: another one after each failure.
    addresses: Arc<[SocketAddr]>,
    at: AtomicUsize,
    link: Mutex<Option<Arc<Link>>>,
    /// Held by who sends.
    pub(super) desk: Mutex<SealBuffer>,
    /// Replies to calls of the server, to be sent.
    pub(super) replies: Mutex<VecDeque<Vec<u8>>>,
    /// Calls of the threads that wait for another one to receive.
    pub(super) followers: Mutex<Vec<Arc<Call>>>,
    /// Somebody waits who cannot receive: the lane's thread must.
    pub(super) is_urgent: AtomicBool,
    /// What limits it now, if it is known.
    pub(super) evidence: Mutex<Option<Evidence>>,
    /// Another connection, for when the path below its own is lost.
    pub(super) second: Second,
    /// Wakes its thread.
    pub(super) wakeup: Wakeup,
    /// Whether it has a thread.
    pub(super) has_thread: AtomicBool,
}

impl Lane {
    /// A lane that is not connected.
    pub(super) fn new(index: usize, addresses: Arc<[SocketAddr]>) -> Self {
        Self {
            index,
            addresses,
            at: AtomicUsize::new(index),
            link: Mutex::default(),
            desk: Mutex::default(),
            replies: Mutex::default(),
            followers: Mutex::default(),
            is_urgent: AtomicBool::new(false),
            evidence: Mutex::default(),
            second: Second::default(),
            wakeup: Wakeup::default(),
            has_thread: AtomicBool::new(false),
        }
    }

    /// Whereto it connects.
    pub(super) fn address(&self) -> SocketAddr {
        self.address_after(0)
    }

    /// Whereto it would connect after so many failures.
    pub(super) fn address_after(&self, failures: usize) -> SocketAddr {
        self.addresses[self.at.load(Ordering::Relaxed).wrapping_add(failures) % self.addresses.len()]
    }

    /// It is connected there now.
    pub(super) fn set_address(&self, address: SocketAddr) {
        if let Some(at) = self.addresses.iter().position(|one| *one == address) {
            self.at.store(at, Ordering::Relaxed);
        }
    }

    /// Nobody is there: it tries the next address.
    pub(super) fn turn_away(&self) {
        self.at.fetch_add(1, Ordering::Relaxed);
    }

    /// Its connection.
    pub(super) fn link(&self) -> Option<Arc<Link>> {
        self.link.lock().clone()
    }

    /// Its connection, if that is of use.
    pub(super) fn live_link(&self) -> Option<Arc<Link>> {
        self.link().filter(|link| !link.is_broken())
    }

    /// It has another connection now, or none.
    pub(super) fn set_link(&self, link: Option<Arc<Link>>) {
        self.replies.lock().clear();
        *self.link.lock() = link;
    }

    /// Whether somebody could lead who does not yet.
    pub(super) fn lacks_leader(&self) -> bool {
        self.live_link().is_some_and(|link| !link.peer.is_locked())
    }

    /// A thread waits that another one receives for, or that is not a thread that can.
    pub(super) fn hurry(&self) {
        self.is_urgent.store(true, Ordering::SeqCst);
        self.wakeup.wake();
    }
}
