//! What a lane delivers: how long a small call takes, and how many bytes per second while it has some to deliver.

use std::time::Duration;

use super::growth::{SETTLING, SETTLING_ROUND_TRIPS};

/// Over how long a time the rate is taken: what is older counts half.
const MEMORY: Duration = Duration::from_secs(1);
/// The weight of a new sample of the round trip.
const WEIGHT: f64 = 1.0 / 8.0;

/// Measures one lane. `now` is the time since any fixed moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct LaneMeter {
    /// Bytes of bulk calls that are under way.
    outstanding: usize,
    delivered: f64,
    busy: Duration,
    looked: Duration,
    trip: f64,
    deviation: f64,
    /// How long a lane that was added beside others has been busy; none once it has settled.
    settling: Option<Duration>,
}

impl LaneMeter {
    /// A lane that has carried nothing.
    pub const UNMEASURED: Self = Self {
        outstanding: 0,
        delivered: 0.0,
        busy: Duration::ZERO,
        looked: Duration::ZERO,
        trip: 0.0,
        deviation: 0.0,
        settling: None,
    };

    /// The lane was added beside others that deliver. Until it has settled, its rate counts as that of the fastest: its
    /// connection starts slowly, and by that rate it would get too few calls to grow.
    pub fn begin_beside_others(&mut self) {
        (self.delivered, self.busy, self.settling) = (0.0, Duration::ZERO, Some(Duration::ZERO));
    }

    /// A call that moves so many bytes is under way.
    pub fn on_start(&mut self, now: Duration, bytes: usize) {
        self.look(now);
        self.outstanding += bytes;
    }

    /// Such a call is over; it was under way for so long if it was answered.
    pub fn on_finish(&mut self, now: Duration, bytes: usize, took: Option<Duration>) {
        self.look(now);
        self.outstanding = self.outstanding.saturating_sub(bytes);
        let Some(took) = took else { return };
        self.delivered += bytes as f64;
        if bytes == 0 {
            let (took, first) = (took.as_secs_f64(), self.trip == 0.0);
            let error = if first { 0.0 } else { took - self.trip };
            self.trip = if first { took } else { self.trip + WEIGHT * error };
            self.deviation += WEIGHT * (error.abs() - self.deviation);
        }
    }

    /// How long a small call takes, smoothed.
    pub fn round_trip(&self) -> Option<Duration> {
        (self.trip > 0.0).then(|| Duration::from_secs_f64(self.trip))
    }

    /// How long a small call takes at most as a rule.
    pub fn usual(&self) -> Duration {
        Duration::from_secs_f64(self.trip + 4.0 * self.deviation)
    }

    /// Bytes per second while busy; 0 before anything was measured.
    pub fn rate(&self) -> f64 {
        if self.busy.is_zero() { 0.0 } else { self.delivered / self.busy.as_secs_f64() }
    }

    /// When a call that moves so many bytes would be done if it started now. A lane that was not measured yet, or has not settled, is
    /// taken to deliver `otherwise` bytes per second.
    pub fn delivery(&self, bytes: usize, otherwise: f64) -> Duration {
        let rate = match self.rate() {
            0.0 => otherwise,
            rate if self.settling.is_some() => rate.max(otherwise),
            rate => rate,
        };
        let seconds = self.trip + (self.outstanding + bytes) as f64 / rate.max(1.0);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }

    /// Whether bulk is under way.
    pub fn is_busy(&self) -> bool {
        self.outstanding > 0
    }

    fn look(&mut self, now: Duration) {
        if self.outstanding > 0 {
            let time = now.saturating_sub(self.looked);
            self.busy += time;
            let enough = SETTLING.as_secs_f64().max(self.trip * f64::from(SETTLING_ROUND_TRIPS));
            let settling = self.settling.map(|settling| settling + time);
            self.settling = settling.filter(|settling| settling.as_secs_f64() < enough);
        }
        self.looked = self.looked.max(now);
        if self.busy > MEMORY {
            self.busy /= 2;
            self.delivered /= 2.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    /// A lane that carries one bulk call at a time, each for so long.
    fn measured(bytes: usize, each: Duration) -> LaneMeter {
        let (mut meter, mut now) = (LaneMeter::default(), Duration::ZERO);
        for _ in 0..100 {
            meter.on_start(now, bytes);
            now += each;
            meter.on_finish(now, bytes, Some(each));
            // Idle time counts for nothing.
            now += each;
        }
        meter
    }

    #[test]
    fn the_rate_is_that_of_the_busy_time() {
        let meter = measured(1_000_000, 10 * MILLISECOND);
        assert!((meter.rate() - 1e8).abs() < 1e6, "{}", meter.rate());
    }

    #[test]
    fn the_faster_lane_is_chosen_until_it_has_more_to_do() {
        let (mut fast, slow) = (measured(1_000_000, 10 * MILLISECOND), measured(1_000_000, 45 * MILLISECOND));
        let mut on_fast = 0;
        while fast.delivery(1_000_000, 1e9) <= slow.delivery(1_000_000, 1e9) {
            fast.on_start(Duration::from_secs(4), 1_000_000);
            on_fast += 1;
        }
        assert_eq!(on_fast, 4);
    }

    #[test]
    fn a_new_lane_gets_calls_until_it_has_settled() {
        let (mut new, mut now) = (LaneMeter::default(), Duration::ZERO);
        new.begin_beside_others();
        let mut call = |took: Duration| {
            let expected = new.delivery(1_000_000, 1e8);
            new.on_start(now, 1_000_000);
            now += took;
            new.on_finish(now, 1_000_000, Some(took));
            expected
        };
        // Its first calls take long.
        let slow = [400, 300, 300].map(|took| call(took * MILLISECOND));
        assert_eq!(slow, [10 * MILLISECOND; 3]);
        let settled = [300, 300, 300, 300].map(|took| call(took * MILLISECOND));
        assert_eq!(settled[..3], [10 * MILLISECOND; 3]);
        assert!(call(300 * MILLISECOND) > 100 * MILLISECOND, "it is as slow as it seemed");
    }

    #[test]
    fn a_small_call_goes_where_no_bulk_is_in_its_way() {
        let (mut busy, idle) = (measured(1_000_000, 10 * MILLISECOND), LaneMeter::default());
        busy.on_start(Duration::from_secs(4), 1_000_000);
        assert!(idle.delivery(0, 1e9) < busy.delivery(0, 1e9));
    }
}
