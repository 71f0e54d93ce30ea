//! How to be awake when a packet is due. The kernel wakes a sleeper late, by what it takes to wake up a processor that rests;
//! so we ask to be woken earlier by as much as it is usually late, and stay awake for the rest. Pure: the caller sleeps, and
//! says how it went.

use std::time::{Duration, Instant};

/// We ask to be woken earlier by no more than this, and what is later than that was not a processor's waking up: somebody
/// else was running there, and staying awake would be in their way.
const EARLIEST: Duration = Duration::from_micros(200);

/// Of all time, so much may be spent awake with nothing to do.
const AWAKE_PART: u32 = 8;

/// What may be saved up of that: enough for a train of packets after a rest.
const SAVED_MOST: Duration = Duration::from_millis(2);

/// What to do until a packet is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rest {
    /// Sleep until then, or as long as it takes, unless a packet comes in.
    Sleep(Option<Instant>),
    /// Stay awake, and look again.
    Watch,
}

/// What was learned of this machine's sleep, and what staying awake has cost.
#[derive(Debug)]
pub struct Vigil {
    /// How late we are woken: rarely later.
    oversleep: Duration,
    /// Time that may still be spent awake.
    saved: Duration,
    looked: Instant,
    watching: bool,
}

impl Vigil {
    /// From now on.
    pub fn new(now: Instant) -> Self {
        Self { oversleep: EARLIEST / 4, saved: Duration::ZERO, looked: now, watching: false }
    }

    /// Nothing is to be done before `due`.
    pub fn rest(&mut self, now: Instant, due: Option<Instant>) -> Rest {
        self.account(now);
        let Some(due) = due else { return Rest::Sleep(None) };
        let wake = due.checked_sub(self.oversleep).unwrap_or(now);
        let left = due.saturating_duration_since(now);
        self.watching = wake <= now && !left.is_zero() && left <= self.saved;
        match self.watching {
            true => Rest::Watch,
            // A thread that cannot pay for the time until then sleeps until the end of it.
            false if wake <= now || self.oversleep > self.saved => Rest::Sleep(Some(due)),
            false => Rest::Sleep(Some(wake)),
        }
    }

    /// Something was done, or slept, since the last look: only time that was spent watching is paid for.
    fn account(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(std::mem::replace(&mut self.looked, now));
        let spent = if std::mem::take(&mut self.watching) { passed } else { Duration::ZERO };
        self.saved = (self.saved + passed / AWAKE_PART).saturating_sub(spent).min(SAVED_MOST);
    }

    /// Nothing came in, and the sleep that was to last until `asked` lasted until `now`.
    pub fn woken(&mut self, asked: Instant, now: Instant) {
        let late = now.saturating_duration_since(asked);
        if late > EARLIEST {
            return;
        }
        // Quickly up and slowly down: near the top of what happens.
        self.oversleep = match late.checked_sub(self.oversleep) {
            Some(more) => self.oversleep + more / 2,
            None => self.oversleep - (self.oversleep - late) / 64,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a look costs.
    const LOOK: Duration = Duration::from_nanos(500);

    /// A packet is due so often, on a machine that wakes us so late. How late the later half of them left at most, and the
    /// part of all time that was spent awake.
    fn live(every: Duration, oversleep: Duration, packets: u32) -> (Duration, f64) {
        let start = Instant::now();
        let mut vigil = Vigil::new(start);
        let (mut now, mut latest, mut awake) = (start, Duration::ZERO, Duration::ZERO);
        for number in 1..=packets {
            let due = start + every * number;
            while now < due {
                match vigil.rest(now, Some(due)) {
                    Rest::Watch => {
                        now += LOOK;
                        awake += LOOK;
                    }
                    Rest::Sleep(until) => {
                        let until = until.expect("a packet is due");
                        now = now.max(until) + oversleep;
                        vigil.woken(until, now);
                    }
                }
            }
            if number > packets / 2 {
                latest = latest.max(now - due);
            }
        }
        (latest, awake.as_secs_f64() / (now - start).as_secs_f64())
    }

    #[test]
    fn a_packet_now_and_then_leaves_when_it_is_due() {
        for oversleep in [0, 3, 50, 120].map(Duration::from_micros) {
            let (latest, awake) = live(Duration::from_millis(1), oversleep, 200);
            assert!(latest <= Duration::from_micros(1), "{latest:?} with {oversleep:?}");
            assert!(awake <= 0.125, "{awake} with {oversleep:?}");
        }
    }

    #[test]
    fn staying_awake_costs_an_eighth_of_the_time_at_most() {
        for (every, oversleep) in [(100, 60), (60, 60), (150, 100), (20, 10)] {
            let [every, oversleep] = [every, oversleep].map(Duration::from_micros);
            let (_, awake) = live(every, oversleep, 20_000);
            assert!(awake <= 0.13, "{awake} with {every:?} and {oversleep:?}");
        }
    }

    #[test]
    fn somebody_elses_turn_is_not_waited_out_awake() {
        let (_, awake) = live(Duration::from_millis(5), Duration::from_millis(3), 200);
        assert!(awake < 0.02, "{awake}");
    }

    #[test]
    fn with_nothing_due_it_sleeps() {
        let now = Instant::now();
        let mut vigil = Vigil::new(now);
        assert_eq!(vigil.rest(now, None), Rest::Sleep(None));
        // A turn that ended early: an end that has come must be noticed.
        let later = now + Duration::from_secs(1);
        assert_eq!(vigil.rest(later, Some(later)), Rest::Sleep(Some(later)));
    }
}
