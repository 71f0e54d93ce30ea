//! A near connection and the far one that belongs to it, and what is counted of them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use howdah_net::{Connection, RelayEnd, Stream};
use howdah_tune::Sample;
use parking_lot::Mutex;

use crate::places::Admitted;

/// The two, and their figures.
#[derive(Debug)]
pub struct RelayedPair {
    /// Its name; later ones have higher numbers.
    pub number: u64,
    /// To the client.
    pub near: Stream,
    /// To the server.
    pub far: Connection,
    /// The program of its first call, if it began with one.
    pub program: Option<u32>,
    /// When it was made.
    pub opened: Instant,
    /// From the client to the server.
    pub out: Way,
    /// From the server to the client.
    pub back: Way,
    /// What was last seen of the near connection, and of the far one.
    pub seen: Mutex<[Option<Sample>; 2]>,
    /// Gives its place back.
    _place: Admitted,
}

/// What is counted of one direction.
#[derive(Debug, Default)]
pub struct Way {
    bytes: AtomicU64,
    /// Nanoseconds in which the sink took nothing though something was there.
    held_up: AtomicU64,
    splices: AtomicBool,
    is_ended: AtomicBool,
}

impl RelayedPair {
    /// A new one.
    pub fn new(number: u64, near: Stream, far: Connection, program: Option<u32>, place: Admitted) -> Self {
        // A server takes calls of a connection that ended in order for done, and answers them anew where they come again.
        near.reset_if_lost(true);
        far.reset_if_lost(true);
        Self {
            number,
            near,
            far,
            program,
            opened: Instant::now(),
            out: Way::default(),
            back: Way::default(),
            seen: Mutex::default(),
            _place: place,
        }
    }

    /// Bytes carried so far, in both directions.
    pub fn carried(&self) -> u64 {
        self.out.bytes() + self.back.bytes()
    }

    /// Whether one side has ended, and the other has not.
    pub fn is_half_closed(&self) -> bool {
        self.out.is_ended() != self.back.is_ended()
    }

    /// Both have ended in order: what their sockets still hold is sent.
    pub fn let_go(&self) {
        self.near.reset_if_lost(false);
        self.far.reset_if_lost(false);
    }

    /// Ends both by a reset.
    pub fn cut(&self) {
        self.near.reset();
        self.far.reset();
    }
}

impl Way {
    /// So much more was carried.
    pub fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// For so long the sink took nothing.
    pub fn add_held_up(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.held_up.fetch_add(nanoseconds, Ordering::Relaxed);
    }

    /// How it is carried, and whether its source has ended.
    pub fn note(&self, splices: bool, is_ended: bool) {
        self.splices.store(splices, Ordering::Relaxed);
        self.is_ended.store(is_ended, Ordering::Relaxed);
    }

    /// Bytes carried so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Time in which the sink took nothing though something was there.
    pub fn held_up(&self) -> Duration {
        Duration::from_nanos(self.held_up.load(Ordering::Relaxed))
    }

    /// Whether the kernel moves the bytes alone.
    pub fn splices(&self) -> bool {
        self.splices.load(Ordering::Relaxed)
    }

    /// Whether its source has ended.
    pub fn is_ended(&self) -> bool {
        self.is_ended.load(Ordering::Relaxed)
    }
}
