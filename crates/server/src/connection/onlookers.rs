//! Which threads look at a connection: each has a list of those that moved something of late.

use std::sync::atomic::{AtomicU8, Ordering};

/// A thread that looks at connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onlooker {
    /// Ends connections that hold what they do not use.
    Watch = 1,
    /// Sizes them.
    Sizing = 2,
}

const ALL: u8 = Onlooker::Watch as u8 | Onlooker::Sizing as u8;
const ENDED: u8 = 4;

/// Those that have a connection on their list, a bit each.
#[derive(Debug, Default)]
pub struct Onlookers(AtomicU8);

impl Onlookers {
    /// Whether all have it: then a worker has nothing to do about it.
    pub fn is_on_all(&self) -> bool {
        self.0.load(Ordering::Relaxed) & ALL == ALL
    }

    /// Puts it on a list; says whether it was not there.
    pub fn put(&self, of: Onlooker) -> bool {
        self.0.fetch_or(of as u8, Ordering::SeqCst) & of as u8 == 0
    }

    /// Takes it off a list: the next bytes that come put it there again.
    pub fn strike(&self, of: Onlooker) {
        self.0.fetch_and(!(of as u8), Ordering::SeqCst);
    }

    /// The connection has ended: nobody is to look at it any more.
    pub fn end(&self) {
        self.0.fetch_or(ENDED, Ordering::SeqCst);
    }

    /// Whether it has.
    pub fn has_ended(&self) -> bool {
        self.0.load(Ordering::SeqCst) & ENDED != 0
    }
}
