//! What looks at a connection add up to until the next point is due.

use std::time::Duration;

use howdah_tune::{Judgement, Sample, Verdict};

use super::point::Past;

/// Who is not looked at for so long moved nothing: what is found then has moved just now.
pub const RESTED: Duration = Duration::from_secs(2);

/// Sums since a point.
#[derive(Debug, Clone, Default)]
pub struct Gathered {
    since: Duration,
    last: Duration,
    sent: u64,
    received: u64,
    flight: u64,
    /// Time under each verdict; there are few in so short a time.
    verdicts: Vec<(Verdict, Duration)>,
}

impl Gathered {
    /// Nothing since this look.
    pub fn start(&mut self, sample: &Sample) {
        self.since = sample.at;
        self.last = sample.at;
        self.sent = sample.sending.sent_once();
        self.received = sample.receiving.received;
        self.flight = 0;
        self.verdicts.clear();
    }

    /// A look. Of one that rested, all that has moved is taken to have moved within `step`.
    pub fn add(&mut self, sample: &Sample, judgement: Option<&Judgement>, step: Duration) {
        if sample.at.saturating_sub(self.last) > RESTED.max(2 * step) {
            self.last = sample.at.saturating_sub(step);
            self.since = self.last;
        }
        let time = sample.at.saturating_sub(self.last);
        self.last = sample.at;
        self.flight = self.flight.max(sample.sending.flight);
        if let Some(verdict) = judgement.map(Judgement::verdict) {
            match self.verdicts.iter_mut().find(|(known, _)| *known == verdict) {
                Some((_, sum)) => *sum += time,
                None => self.verdicts.push((verdict, time)),
            }
        }
    }

    /// How long it is since the last point.
    pub fn length(&self) -> Duration {
        self.last.saturating_sub(self.since)
    }

    /// What it comes to at this look.
    pub fn past(&self, sample: &Sample) -> Past {
        let seconds = self.length().as_secs_f64().max(1e-3);
        Past {
            sent_per_second: sample.sending.sent_once().saturating_sub(self.sent) as f64 / seconds,
            received_per_second: sample.receiving.received.saturating_sub(self.received) as f64 / seconds,
            flight: self.flight,
            verdict: self.verdicts.iter().max_by_key(|(_, time)| *time).map(|(verdict, _)| *verdict),
        }
    }

    /// Bytes that it has on the heap.
    pub fn heap(&self) -> usize {
        self.verdicts.capacity() * size_of::<(Verdict, Duration)>()
    }
}
