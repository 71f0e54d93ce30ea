//! A connection as TCP makes one of a path that loses and reorders: in order, whole, and late.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use howdah_link::{Delay, Element, Jitter, Packet, Path, Random, Segments};

/// From a loss to the next try.
const AGAIN: Duration = Duration::from_millis(300);

/// What travels: a number among those of its stream, and an xid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Segment(u64, u32);

/// Nothing here cuts or damages it.
impl Segments for Segment {
    fn split_first(&mut self, _: u32) -> Self {
        unreachable!("each is whole")
    }

    fn corrupt(&mut self, _: &mut Random) {
        unreachable!("no path here damages")
    }
}

/// One direction of a connection.
pub struct Stream {
    path: Path<Segment>,
    sent: u64,
    /// Lost: to be sent again at a time.
    lost: VecDeque<(Duration, Segment)>,
    /// Came before those in front of them did.
    early: BTreeMap<u64, u32>,
    taken: u64,
}

impl Stream {
    pub fn new(delay: Duration, seed: u64) -> Self {
        let jitter = Jitter::new(delay / 4, seed).overtaking();
        let path = Path::new().then(Delay::new(delay)).then(jitter);
        Self { path, sent: 0, lost: VecDeque::new(), early: BTreeMap::new(), taken: 0 }
    }

    /// Messages that are on their way.
    pub fn under_way(&self) -> u64 {
        self.sent - self.taken
    }

    pub fn send(&mut self, xid: u32, (start, now): (Instant, Duration), is_lost: bool) {
        let segment = Segment(self.sent, xid);
        self.sent += 1;
        self.push(segment, (start, now), is_lost);
    }

    /// Sends again what was lost, unless the path is gone.
    pub fn send_again(&mut self, time: (Instant, Duration), is_lost: impl Fn() -> bool) {
        while self.lost.front().is_some_and(|(at, _)| *at <= time.1) {
            let (_, segment) = self.lost.pop_front().expect("looked");
            self.push(segment, time, is_lost());
        }
    }

    fn push(&mut self, segment: Segment, (start, now): (Instant, Duration), is_lost: bool) {
        if is_lost {
            self.lost.push_back((now + AGAIN, segment));
        } else {
            self.path.push(start + now, Packet::whole(1000, segment));
        }
    }

    /// The next message that came, in the order in which they were sent.
    pub fn receive(&mut self, (start, now): (Instant, Duration)) -> Option<u32> {
        while let Some((_, packet)) = self.path.poll(start + now) {
            let Segment(number, xid) = packet.body;
            self.early.insert(number, xid);
        }
        let next = self.early.remove(&self.taken)?;
        self.taken += 1;
        Some(next)
    }
}
