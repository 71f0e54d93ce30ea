//! The curve of one connection: points of the last two minutes, and what has come since the last of them.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Duration;

use howdah_tune::{Judgement, Sample};

use super::gathered::Gathered;
use super::point::Point;

/// Points for which room is made at a time: little for those who come and go.
const GROWTH: usize = 16;
/// A look comes a little before or after the moment it is due at.
const EARLY: Duration = Duration::from_millis(50);

/// One connection's.
#[derive(Debug)]
pub struct Series {
    client: SocketAddr,
    server: SocketAddr,
    points: VecDeque<Point>,
    /// None before the first look.
    gathered: Option<Gathered>,
    /// When it closed.
    closed: Option<Duration>,
}

impl Series {
    /// Nothing yet.
    pub fn new(client: SocketAddr, server: SocketAddr) -> Self {
        Self { client, server, points: VecDeque::new(), gathered: None, closed: None }
    }

    /// A look; it makes a point if one is due.
    pub fn look(&mut self, sample: &Sample, judgement: Option<&Judgement>, step: Duration, most: usize) {
        let Some(gathered) = &mut self.gathered else {
            self.gathered.insert(Gathered::default()).start(sample);
            return;
        };
        gathered.add(sample, judgement, step);
        if gathered.length() + EARLY < step {
            return;
        }
        let point = Point::new(sample, &gathered.past(sample));
        gathered.start(sample);
        while self.points.len() >= most.max(1) {
            self.points.pop_front();
        }
        if self.points.len() == self.points.capacity() {
            self.points.reserve_exact(GROWTH);
        }
        self.points.push_back(point);
    }

    /// Forgets what was before `since`, and gives back the room that is not needed any more.
    pub fn forget_before(&mut self, since: Duration, most: usize) {
        let is_old = |point: &Point| point.at() < since;
        while self.points.front().is_some_and(is_old) || self.points.len() > most.max(1) {
            self.points.pop_front();
        }
        if self.points.capacity() > 2 * self.points.len() + GROWTH {
            self.points.shrink_to(self.points.len() + GROWTH / 2);
        }
    }

    /// The connection is gone.
    pub fn close(&mut self, now: Duration) {
        self.closed = Some(now);
        self.gathered = None;
    }

    /// Whether it is gone, and nothing is left to report of it.
    pub fn is_over(&self) -> bool {
        self.closed.is_some() && self.points.is_empty()
    }

    /// Whether the connection is there.
    pub fn is_open(&self) -> bool {
        self.closed.is_none()
    }

    /// Whether it closed after `since`.
    pub fn closed_after(&self, since: Duration) -> bool {
        self.closed.is_some_and(|closed| closed > since)
    }

    /// The two ends.
    pub fn ends(&self) -> (SocketAddr, SocketAddr) {
        (self.client, self.server)
    }

    /// The points after `since`, oldest first.
    pub fn after(&self, since: Duration) -> impl Iterator<Item = &Point> {
        let first = self.points.partition_point(|point| point.at() <= since);
        self.points.range(first..)
    }

    /// Bytes that it has on the heap.
    pub fn heap(&self) -> usize {
        self.points.capacity() * size_of::<Point>() + self.gathered.as_ref().map_or(0, Gathered::heap)
    }
}
