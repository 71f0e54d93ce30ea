//! CoDel, "controlled delay" (RFC 8289): drops from its front when packets have waited too long for too long, the more
//! often the longer that lasts.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use super::Queue;
use super::waiting::QueuedPackets;
use crate::{Packet, Segments};

/// How long packets may wait in a standing queue (RFC 8289 4.2).
pub const TARGET: Duration = Duration::from_millis(5);
/// For how long that may be exceeded before it counts: a round trip of usual paths (RFC 8289 4.3).
pub const INTERVAL: Duration = Duration::from_millis(100);

/// A queue that CoDel manages; drop-tail too if it outgrows its room, which it is not meant to.
#[derive(Debug)]
pub struct CoDel<B> {
    target: Duration,
    interval: Duration,
    waiting: QueuedPackets<B>,
    /// The largest frame so far: a queue of one is no standing queue.
    largest: usize,
    /// When the time above the target will have been too long, or was.
    too_long_at: Option<Instant>,
    dropping: bool,
    /// When to drop the next one while dropping, or when that would have been.
    drop_next: Option<Instant>,
    /// Drops since dropping began, and what it was when it last began.
    count: u32,
    began_at_count: u32,
}

impl<B: Segments> CoDel<B> {
    /// With the usual target and interval, and room for so many bytes.
    pub fn new(room: usize) -> Self {
        Self::with(TARGET, INTERVAL, room)
    }

    /// With that target and that interval.
    pub fn with(target: Duration, interval: Duration, room: usize) -> Self {
        Self {
            target,
            interval,
            waiting: QueuedPackets::new(room, usize::MAX),
            largest: 0,
            too_long_at: None,
            dropping: false,
            drop_next: None,
            count: 0,
            began_at_count: 0,
        }
    }

    /// Has the first one waited too long, for too long a time (`dodequeue` of the RFC)?
    fn may_drop(&mut self, now: Instant) -> bool {
        let Some((since, first)) = self.waiting.first() else {
            self.too_long_at = None;
            return false;
        };
        let frame = if first.segments > 1 { first.frame_bytes } else { first.bytes };
        if now - *since < self.target || self.waiting.bytes() - frame <= self.largest {
            self.too_long_at = None;
            return false;
        }
        now >= *self.too_long_at.get_or_insert(now + self.interval)
    }

    fn drop_one(&mut self, dropped: &mut dyn FnMut(Packet<B>)) {
        if let Some(packet) = self.waiting.take(1) {
            dropped(packet);
        }
    }

    /// The more were dropped, the sooner the next one is (`control_law` of the RFC).
    fn schedule(&mut self, after: Instant) {
        self.drop_next = Some(after + self.interval.div_f64(f64::from(self.count).sqrt()));
    }

    /// Goes on dropping, or stops.
    fn go_on(&mut self, now: Instant, mut may_drop: bool, dropped: &mut dyn FnMut(Packet<B>)) {
        while let Some(due) = self.drop_next.filter(|due| may_drop && *due <= now) {
            self.drop_one(dropped);
            self.count += 1;
            may_drop = self.may_drop(now);
            if may_drop {
                self.schedule(due);
            }
        }
        self.dropping = may_drop;
    }

    /// Begins to drop; where it stopped only lately, nearly as often as it did then.
    fn begin(&mut self, now: Instant, dropped: &mut dyn FnMut(Packet<B>)) {
        self.drop_one(dropped);
        self.may_drop(now);
        self.dropping = true;
        let since = self.count - self.began_at_count;
        let lately = self.drop_next.is_some_and(|next| now < next + 16 * self.interval);
        self.count = if lately && since > 1 { since } else { 1 };
        self.schedule(now);
        self.began_at_count = self.count;
    }
}

impl<B: Debug + Send + Segments> Queue<B> for CoDel<B> {
    fn offer(&mut self, now: Instant, packet: Packet<B>, dropped: &mut dyn FnMut(Packet<B>)) {
        self.largest = self.largest.max(packet.frame_bytes);
        if let Some(rest) = self.waiting.add(now, packet) {
            dropped(rest);
        }
    }

    fn take(&mut self, now: Instant, most: usize, dropped: &mut dyn FnMut(Packet<B>)) -> Option<Packet<B>> {
        let may_drop = self.may_drop(now);
        if self.dropping {
            self.go_on(now, may_drop, dropped);
        } else if may_drop {
            self.begin(now, dropped);
        }
        self.waiting.take(most)
    }
}
