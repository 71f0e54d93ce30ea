//! All lanes of a channel: which of them are used, and which carries a call.

use std::ops::{Index, IndexMut};
use std::time::Duration;

use super::lane::Lane;
use super::small_lane::{SmallLane, WORTH_IT};
use crate::client::Class;
use crate::client::lanes::{Growth, first_to_deliver};

/// Which lanes a channel may have.
#[derive(Debug)]
pub struct LanePlan {
    /// The most for all calls.
    pub most: usize,
    /// Whether there may be one more for small calls; it has the number behind the last.
    pub has_small: bool,
    /// How many are used, and when there are more or fewer.
    pub growth: Growth,
}

/// The lanes.
#[derive(Debug)]
pub(super) struct AllLanes {
    all: Vec<Lane>,
    /// So many of the first ones may be used for all calls, and are.
    most: usize,
    used: usize,
    small: Option<SmallLane>,
    pub(super) growth: Growth,
}

impl AllLanes {
    /// Lanes that are not connected.
    pub(super) fn new(plan: LanePlan) -> Self {
        let LanePlan { most, has_small, growth } = plan;
        let used = growth.lanes().clamp(1, most.max(1));
        let mut all: Vec<_> = (0..most + usize::from(has_small)).map(|_| Lane::default()).collect();
        let small = has_small.then(|| SmallLane::new(most));
        if let Some(small) = &small {
            // Like any new one it takes calls once it has answered a first one.
            all[small.lane].is_suspect = true;
        }
        Self { all, most, used, small, growth }
    }

    /// Those that are used, for all calls.
    pub(super) fn used(&self) -> &[Lane] {
        &self.all[..self.used.min(self.all.len())]
    }

    /// The numbers of those that are used, that for small calls among them.
    pub(super) fn used_numbers(&self) -> impl Iterator<Item = usize> + use<> {
        let small = self.small.as_ref().filter(|small| small.is_used).map(|small| small.lane);
        (0..self.used().len()).chain(small)
    }

    /// The number of all: some were used, or may be.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether a lane is used.
    pub(super) fn uses(&self, lane: usize) -> bool {
        match &self.small {
            Some(small) if small.lane == lane => small.is_used,
            _ => lane < self.used,
        }
    }

    /// The number of the lane for small calls, if it is used.
    pub(super) fn small(&self) -> Option<usize> {
        self.small.as_ref().filter(|small| small.is_used).map(|small| small.lane)
    }

    /// From now on as many are used as their growth says; gives how many were, if that is another number.
    pub(super) fn follow_growth(&mut self) -> Option<usize> {
        let (before, wanted) = (self.used, self.growth.lanes().clamp(1, self.most.max(1)));
        for lane in self.all.iter_mut().take(wanted).skip(before) {
            // It takes calls once it has answered a first one.
            lane.is_suspect = true;
            lane.meter.begin_beside_others();
        }
        self.used = wanted;
        (wanted != before).then_some(before)
    }

    /// No other than the first is used from now on.
    pub(super) fn keep_first(&mut self) {
        self.growth.end_at_one();
        self.small = None;
    }

    /// A connection that was being tried was not taken, or closed before anything came over it.
    pub(super) fn on_refusal(&mut self, lane: usize, now: Duration) {
        let is_suspect = self.all[lane].is_suspect;
        match &mut self.small {
            Some(small) if small.lane == lane && is_suspect => small.on_refusal(now),
            Some(small) if small.lane == lane => {}
            _ if lane > 0 && is_suspect && !self.growth.is_fixed() => self.growth.on_refusal(),
            _ => {}
        }
    }

    /// The lane for a call of so many bytes: that which delivers it first. `bulk_takes` says how long the bulk in flight takes
    /// to arrive. Returns whether the lane for small calls is used from now on.
    pub(super) fn choose(
        &mut self,
        (volume, class): (usize, Class),
        bulk_takes: impl FnOnce() -> Duration,
        now: Duration,
    ) -> (Option<usize>, bool) {
        let first = match self.used().len() {
            0 => return (None, false),
            1 => 0,
            _ => self.first_to_deliver(volume, |_| true).unwrap_or(0),
        };
        let Some(small) = self.small.as_mut().filter(|_| !class.is_bulk()) else {
            return (Some(first), false);
        };
        if !self.all[first].meter.is_busy() || bulk_takes() < WORTH_IT {
            return (Some(first), false);
        }
        if small.is_used && self.all[small.lane].delivers() {
            return (Some(small.lane), false);
        }
        (Some(first), small.want(now))
    }

    /// The lane, of those that are used and `may`, that delivers a call of so many bytes first.
    pub(super) fn first_to_deliver(&self, volume: usize, may: impl Fn(usize) -> bool) -> Option<usize> {
        let candidates: Vec<_> =
            self.used().iter().enumerate().map(|(number, lane)| lane.as_candidate(may(number))).collect();
        first_to_deliver(volume, &candidates)
    }

    /// When something was last received on a lane other than this.
    pub(super) fn others_heard(&self, lane: usize) -> Option<Duration> {
        let others = self.all.iter().enumerate().filter(|(number, _)| *number != lane);
        others.filter_map(|(_, other)| other.live()).map(|link| link.heard).max()
    }
}

impl Index<usize> for AllLanes {
    type Output = Lane;

    fn index(&self, lane: usize) -> &Lane {
        &self.all[lane]
    }
}

impl IndexMut<usize> for AllLanes {
    fn index_mut(&mut self, lane: usize) -> &mut Lane {
        &mut self.all[lane]
    }
}
