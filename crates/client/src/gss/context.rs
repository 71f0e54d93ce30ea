//! A context that a user and a server have.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use howdah_gss::{GssContext, LucidContext};

/// From this sequence number on there is to be another context: calls that are sent again need numbers, too, and there are none from
/// 2^31 on (RFC 2203 5.3.3.1).
const SEQUENCE_DUE: u32 = 0x7000_0000;

/// A context. Threads and lanes share it.
#[derive(Debug)]
pub(super) struct ClientContext {
    pub(super) keys: GssContext,
    /// The server's name of it.
    pub(super) handle: Vec<u8>,
    next_sequence: AtomicU32,
    /// Seconds since 1970.
    renew_at: u64,
    expiry: u64,
    is_refused: AtomicBool,
}

/// What a context is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContextAge {
    /// Calls.
    Fresh,
    /// Calls, while another is made.
    RenewalDue,
    /// Nothing.
    Over,
}

impl ClientContext {
    /// The context that the server knows by this handle, from now on.
    pub(super) fn new(lucid: &LucidContext, keys: GssContext, handle: Vec<u8>) -> Self {
        let now = seconds_now();
        // The library says nothing of a ticket without an end.
        let expiry = if lucid.expiry == 0 { u64::MAX } else { lucid.expiry };
        let renew_at = now.saturating_add(expiry.saturating_sub(now) / 4 * 3);
        let next_sequence = AtomicU32::new(1);
        Self { keys, handle, next_sequence, renew_at, expiry, is_refused: AtomicBool::new(false) }
    }

    /// The number of a sending.
    pub(super) fn next_sequence(&self) -> u32 {
        self.next_sequence.fetch_add(1, Ordering::Relaxed)
    }

    /// The server says that it does not know it.
    pub(super) fn refuse(&self) {
        self.is_refused.store(true, Ordering::Relaxed);
    }

    /// What it is good for now.
    pub(super) fn age(&self) -> ContextAge {
        let now = seconds_now();
        let is_used_up = self.next_sequence.load(Ordering::Relaxed) >= SEQUENCE_DUE;
        if self.is_refused.load(Ordering::Relaxed) || now >= self.expiry || is_used_up {
            ContextAge::Over
        } else if now >= self.renew_at {
            ContextAge::RenewalDue
        } else {
            ContextAge::Fresh
        }
    }
}

/// Seconds since 1970.
fn seconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use howdah_gss::{ContextSide, SessionKey};

    use super::*;

    fn context(lifetime: u64) -> ClientContext {
        let key = SessionKey::new(17, &[7; 16]).expect("a key");
        let expiry = seconds_now() + lifetime;
        let side = ContextSide::Initiator;
        let lucid = LucidContext { side, key, acceptor_subkey: true, send_sequence: 0, expiry };
        ClientContext::new(&lucid, GssContext::new(&lucid), vec![1])
    }

    #[test]
    fn a_context_is_renewed_in_time_and_never_used_after_its_ticket() {
        assert_eq!(context(3600).age(), ContextAge::Fresh);
        assert_eq!(context(0).age(), ContextAge::Over);
        let mut due = context(3600);
        due.renew_at = seconds_now();
        assert_eq!(due.age(), ContextAge::RenewalDue);
        let used_up = context(3600);
        used_up.next_sequence.store(SEQUENCE_DUE, Ordering::Relaxed);
        assert_eq!(used_up.age(), ContextAge::Over);
        let refused = context(3600);
        refused.refuse();
        assert_eq!(refused.age(), ContextAge::Over);
    }
}
