//! A line that is down at times: whatever comes then is lost.

use std::time::{Duration, Instant};

use crate::at_once::{AtOnce, Rule};
use crate::{Counters, Packet};

/// Up for a while and then down for a while, from the first packet on.
#[derive(Debug)]
pub struct Outages {
    down: Duration,
    every: Duration,
    began: Option<Instant>,
}

impl Outages {
    /// Down for the last `down` of `every`, which is longer.
    pub fn new<B>(down: Duration, every: Duration) -> AtOnce<B, Self> {
        assert!(down < every, "a line that is never up is none");
        AtOnce::by(Self { down, every, began: None })
    }

    fn is_down(&mut self, now: Instant) -> bool {
        let since = now - *self.began.get_or_insert(now);
        let into = since.as_nanos() % self.every.as_nanos();
        into >= (self.every - self.down).as_nanos()
    }
}

impl<B> Rule<B> for Outages {
    const NAME: &'static str = "schedule";

    fn meet(
        &mut self,
        now: Instant,
        packet: Packet<B>,
        counters: &mut Counters,
        mut pass: impl FnMut(Packet<B>),
    ) {
        if self.is_down(now) {
            counters.dropped.count(&packet);
        } else {
            pass(packet);
        }
    }
}
