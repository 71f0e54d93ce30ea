//! What was counted between two looks: for those who want rates.

use std::collections::BTreeMap;
use std::time::Duration;

use super::counted::{Bucket, Latency, Procedure};
use crate::counts;

impl Procedure {
    /// What was counted since an earlier look; all of it if the server was started anew meanwhile.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        if before.calls > self.calls {
            return self.clone();
        }
        let errors = self.errors.iter().map(|(name, count)| {
            (name.clone(), count.saturating_sub(before.errors.get(name).copied().unwrap_or_default()))
        });
        Self {
            program: self.program.clone(),
            version: self.version,
            procedure: self.procedure.clone(),
            calls: self.calls - before.calls,
            replayed: self.replayed.saturating_sub(before.replayed),
            unanswered: self.unanswered.saturating_sub(before.unanswered),
            errors: errors.filter(|(_, count)| *count > 0).collect(),
            received: self.received.saturating_sub(before.received),
            sent: self.sent.saturating_sub(before.sent),
            storage_seconds: (self.storage_seconds - before.storage_seconds).max(0.0),
            latency: self.latency.since(&before.latency),
        }
    }

    /// Both together, whatever they are called.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.replayed += other.replayed;
        self.unanswered += other.unanswered;
        for (name, count) in &other.errors {
            *self.errors.entry(name.clone()).or_default() += count;
        }
        self.received += other.received;
        self.sent += other.sent;
        self.storage_seconds += other.storage_seconds;
        self.latency = self.latency.with(&other.latency, |one, two| one + two);
        self.latency.seconds += other.latency.seconds;
    }
}

impl Latency {
    /// Of these figures.
    pub(super) fn of(latency: &counts::Latency) -> Self {
        let quantile = |part| latency.quantile(part).map(|time| time.as_secs_f64());
        let seconds = |nanoseconds| Duration::from_nanos(nanoseconds).as_secs_f64();
        let buckets = latency.buckets.iter().enumerate().filter(|(_, calls)| **calls > 0);
        Self {
            calls: latency.count(),
            seconds: seconds(latency.sum),
            p50_seconds: quantile(0.5),
            p90_seconds: quantile(0.9),
            p99_seconds: quantile(0.99),
            buckets: buckets
                .map(|(place, &calls)| Bucket {
                    below_seconds: counts::upper_bound(place).map(seconds),
                    calls,
                })
                .collect(),
        }
    }

    /// The mean; none of nothing.
    pub fn mean_seconds(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.seconds / self.calls as f64)
    }

    fn since(&self, before: &Self) -> Self {
        let seconds = (self.seconds - before.seconds).max(0.0);
        Self { seconds, ..self.with(before, u64::saturating_sub) }
    }

    /// The buckets of both, put together in that way; the sum of the seconds is left as it is.
    fn with(&self, other: &Self, put: impl Fn(u64, u64) -> u64) -> Self {
        let mut places: BTreeMap<usize, (u64, u64)> = BTreeMap::new();
        self.buckets.iter().for_each(|bucket| places.entry(place(bucket)).or_default().0 = bucket.calls);
        other.buckets.iter().for_each(|bucket| places.entry(place(bucket)).or_default().1 = bucket.calls);
        let mut latency = counts::Latency::default();
        places.into_iter().for_each(|(place, (one, two))| latency.buckets[place] = put(one, two));
        Self { seconds: self.seconds, ..Self::of(&latency) }
    }
}

/// Where a bucket stands among all.
fn place(bucket: &Bucket) -> usize {
    let end = bucket.below_seconds.map_or(u64::MAX, |seconds| (seconds * 1e9).round() as u64);
    counts::bucket(end.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn procedure(calls: u64, buckets: &[(Option<f64>, u64)]) -> Procedure {
        let buckets = buckets.iter().map(|&(below_seconds, calls)| Bucket { below_seconds, calls }).collect();
        let latency = Latency { calls, seconds: calls as f64 * 1e-3, buckets, ..Latency::default() };
        let errors = [("NOENT".to_owned(), calls / 2)].into();
        Procedure { calls, errors, received: calls * 100, latency, ..Procedure::default() }
    }

    #[test]
    fn the_difference_has_quantiles_of_its_own() {
        let (fast, slow) = (Some(counts::upper_bound(20)), Some(counts::upper_bound(90)));
        let bound = |end: Option<Option<u64>>| end.flatten().map(|end| end as f64 / 1e9);
        let (fast, slow) = (bound(fast), bound(slow));
        let before = procedure(10, &[(fast, 10)]);
        let after = procedure(20, &[(fast, 11), (slow, 8), (None, 1)]);
        let since = after.since(&before);
        assert_eq!((since.calls, since.received, since.errors["NOENT"]), (10, 1000, 5));
        assert_eq!(since.latency.calls, 10);
        assert!((since.latency.mean_seconds().expect("some") - 1e-3).abs() < 1e-9);
        let p50 = since.latency.p50_seconds.expect("some");
        assert!(p50 <= slow.expect("an end") && p50 >= slow.expect("an end") / 1.2, "{p50}");
        assert!(since.latency.p99_seconds.expect("some") > 100.0);
        let mut sum = since.clone();
        sum.add(&before);
        assert_eq!((sum.calls, sum.latency.buckets), (after.calls, after.latency.buckets.clone()));
        assert_eq!(before.since(&after), before, "it was started anew");
    }
}
