//! What all sessions of a client share with its record: the lease, and flags for SEQUENCE.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// `SEQ4_STATUS_RECALLABLE_STATE_REVOKED` (RFC 8881 18.46.3): the client has revoked delegations to free.
const RECALLABLE_STATE_REVOKED: u32 = 0x40;

/// What all sessions of a client share with its record.
#[derive(Debug, Default)]
pub struct ClientShared {
    heard_nanoseconds: AtomicU64,
    flags: AtomicU32,
    /// Bytes of its replies that are kept.
    kept: AtomicUsize,
    /// Bytes of its sessions and their slots.
    held: AtomicUsize,
    /// Its sessions get no more slots.
    is_full: AtomicBool,
}

impl ClientShared {
    /// A client that was heard now.
    pub fn heard_at(now: Duration) -> Self {
        let shared = Self::default();
        shared.renew(now);
        shared
    }

    /// The client was heard.
    pub fn renew(&self, now: Duration) {
        self.heard_nanoseconds.store(now.as_nanos() as u64, Ordering::Relaxed);
    }

    /// Counts so many bytes of replies, if it then has no more than `most`.
    pub fn keep(&self, bytes: usize, most: usize) -> bool {
        let fits =
            self.kept.fetch_add(bytes, Ordering::Relaxed).checked_add(bytes).is_some_and(|all| all <= most);
        if !fits {
            self.forget(bytes);
        }
        fits
    }

    /// Counts them no more.
    pub fn forget(&self, bytes: usize) {
        self.kept.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// So many bytes more are held for its sessions.
    pub fn hold(&self, bytes: usize) {
        self.held.fetch_add(bytes, Ordering::Relaxed);
    }

    /// So many less.
    pub fn release(&self, bytes: usize) {
        self.held.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Bytes of its sessions, slots and kept replies.
    pub fn bytes(&self) -> usize {
        self.held.load(Ordering::Relaxed) + self.kept.load(Ordering::Relaxed)
    }

    /// Whether its sessions may have more slots.
    pub fn may_grow(&self) -> bool {
        !self.is_full.load(Ordering::Relaxed)
    }

    /// Whether they may from now on.
    pub fn set_may_grow(&self, may: bool) {
        self.is_full.store(!may, Ordering::Relaxed);
    }

    /// How long it has been silent.
    pub fn silence(&self, now: Duration) -> Duration {
        now.saturating_sub(Duration::from_nanos(self.heard_nanoseconds.load(Ordering::Relaxed)))
    }

    /// `SEQ4_STATUS_*` bits that hold for the client.
    pub fn flags(&self) -> u32 {
        self.flags.load(Ordering::Relaxed)
    }

    /// Says in every answer to the client whether it has revoked delegations.
    pub fn set_revoked(&self, has_revoked: bool) {
        self.change_flags(if has_revoked { RECALLABLE_STATE_REVOKED } else { 0 }, RECALLABLE_STATE_REVOKED);
    }

    /// Sets and clears bits.
    pub fn change_flags(&self, set: u32, clear: u32) {
        let _ = self
            .flags
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |flags| Some((flags & !clear) | set));
    }
}
