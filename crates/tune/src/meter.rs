//! Sums over a whole life, and over the last whole period of it.

use std::time::Duration;

use crate::account::Account;

/// How long a period is: longer than the interval of any connection that is judged, short enough to see what a change did.
pub const PERIOD: Duration = Duration::from_secs(10);

/// Keeps both. Periods begin at the same moments for all.
#[derive(Debug, Clone, Default)]
pub struct Meter {
    total: Account,
    /// The total when the present period began, and what the one before brought.
    at_start: Account,
    last: Account,
    period: u64,
}

impl Meter {
    /// The sums, to add to.
    pub fn at(&mut self, now: Duration) -> &mut Account {
        let period = period(now);
        if period > self.period {
            self.last = self.last_whole(period);
            self.at_start = self.total.clone();
            self.period = period;
        }
        &mut self.total
    }

    /// Since the beginning.
    pub fn total(&self) -> &Account {
        &self.total
    }

    /// In the last whole period before `now`.
    pub fn last(&self, now: Duration) -> Account {
        self.last_whole(period(now).max(self.period))
    }

    /// Adds another's sums to both.
    pub fn merge(&mut self, now: Duration, other: &Self) {
        let (total, last) = (other.total(), other.last(now));
        self.at(now).merge(total);
        // What came before this period must not show as part of it.
        let before = total.minus(&other.since_start(now));
        self.at_start.merge(&before);
        self.last.merge(&last);
    }

    fn since_start(&self, now: Duration) -> Account {
        if period(now) > self.period { Account::default() } else { self.total.minus(&self.at_start) }
    }

    /// What the period before that one brought.
    fn last_whole(&self, period: u64) -> Account {
        match period - self.period {
            0 => self.last.clone(),
            1 => self.total.minus(&self.at_start),
            _ => Account::default(),
        }
    }
}

fn period(now: Duration) -> u64 {
    now.as_secs() / PERIOD.as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Duration {
        Duration::from_secs(second)
    }

    fn grown(meter: &mut Meter, second: u64, count: u64) {
        meter.at(at(second)).events.grown += count;
    }

    #[test]
    fn the_last_period_is_told_until_the_next_is_over() {
        let mut meter = Meter::default();
        grown(&mut meter, 3, 1);
        grown(&mut meter, 9, 2);
        assert_eq!(meter.last(at(9)).events.grown, 0, "it is not over");
        assert_eq!(meter.last(at(10)).events.grown, 3);
        grown(&mut meter, 15, 4);
        assert_eq!((meter.last(at(19)).events.grown, meter.last(at(20)).events.grown), (3, 4));
        assert_eq!(meter.last(at(30)).events.grown, 0, "nothing happened");
        assert_eq!(meter.total().events.grown, 7);
    }

    #[test]
    fn what_is_merged_counts_where_it_belongs() {
        let (mut one, mut other) = (Meter::default(), Meter::default());
        grown(&mut one, 5, 1);
        grown(&mut other, 5, 10);
        grown(&mut other, 15, 100);
        one.merge(at(16), &other);
        assert_eq!(one.total().events.grown, 111);
        assert_eq!(one.last(at(16)).events.grown, 11);
        assert_eq!(one.last(at(20)).events.grown, 100);
    }

    #[test]
    fn what_is_merged_after_a_pause_is_no_part_of_the_present_period() {
        let (mut one, mut other) = (Meter::default(), Meter::default());
        grown(&mut other, 5, 10);
        one.merge(at(16), &other);
        assert_eq!((one.last(at(16)).events.grown, one.last(at(20)).events.grown), (10, 0));
    }
}
