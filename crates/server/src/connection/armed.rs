//! What a socket is armed for. Workers arm it for more and events disarm it, all at once and without a lock; the poller knows at least
//! what is wanted, in the end.

use std::io;

use howdah_net::{Interest, Ready};

use crate::sync::atomic::{AtomicU8, Ordering};

const READABLE: u8 = 1;
const WRITABLE: u8 = 2;

/// What a socket is armed for. `tell` tells the poller; several threads may call it at once, each what holds as far as it
/// knows.
pub struct Armed(AtomicU8);

impl Armed {
    /// For bytes that come, as a socket is that was just added to the poller.
    pub fn readable() -> Self {
        Self(AtomicU8::new(READABLE))
    }

    /// Arms it for one more event.
    pub fn add(&self, more: Interest, tell: impl FnMut(Interest) -> io::Result<()>) -> io::Result<()> {
        self.0.fetch_or(bits(more), Ordering::SeqCst);
        self.apply(tell)
    }

    /// An event came, which disarmed the socket: arms it again for what did not happen.
    pub fn on_event(&self, ready: Ready, tell: impl FnMut(Interest) -> io::Result<()>) -> io::Result<()> {
        let fired = bits(Interest { readable: ready.readable, writable: ready.writable });
        if self.0.fetch_and(!fired, Ordering::SeqCst) & !fired == 0 {
            return Ok(());
        }
        self.apply(tell)
    }

    /// Tells the poller. No lock is held meanwhile: the event that this lets through wakes another worker, which would run into
    /// it. If two do this at once, the later call may tell the older state, so each looks again; that the socket is armed for too
    /// much does no harm.
    fn apply(&self, mut tell: impl FnMut(Interest) -> io::Result<()>) -> io::Result<()> {
        loop {
            let wanted = self.0.load(Ordering::SeqCst);
            tell(Interest { readable: wanted & READABLE != 0, writable: wanted & WRITABLE != 0 })?;
            if self.0.load(Ordering::SeqCst) & !wanted == 0 {
                return Ok(());
            }
        }
    }
}

fn bits(interest: Interest) -> u8 {
    u8::from(interest.readable) * READABLE + u8::from(interest.writable) * WRITABLE
}
