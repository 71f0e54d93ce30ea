//! One connection, sample after sample: what limits it now.

use super::history::History;
use super::{Verdict, receiving, sending};
use crate::{Interval, Sample};

/// The verdicts on an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// Of replies, READ for the most part.
    pub sending: Verdict,
    /// Of calls, WRITE for the most part.
    pub receiving: Verdict,
    /// Bytes per second that left us.
    pub sent_per_second: f64,
    /// Bytes per second that came to us.
    pub received_per_second: f64,
}

impl Judgement {
    /// The word for the whole connection: that of the direction that moves more.
    pub fn verdict(&self) -> Verdict {
        if self.received_per_second > self.sent_per_second { self.receiving } else { self.sending }
    }
}

/// Judges one connection.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    last: Option<Sample>,
    sending: History,
    receiving: History,
}

impl Judge {
    /// Takes the next sample; the verdicts on the time since the last one. `unsent_mark`: how much the socket may hold
    /// unsent.
    pub fn on_sample(&mut self, sample: Sample, unsent_mark: u64) -> Option<Judgement> {
        let before = self.last.replace(sample)?;
        let interval = Interval { before: &before, after: self.last.as_ref()? };
        let sent = interval.rate(|sample| sample.sending.sent);
        let received = interval.rate(|sample| sample.receiving.received);
        self.sending.learn(&interval, sent, interval.lost() > 0);
        self.receiving.learn(&interval, received, receiving::lost(&interval));
        Some(Judgement {
            sending: sending::judge(&interval, &self.sending, unsent_mark),
            receiving: receiving::judge(&interval, &self.receiving),
            sent_per_second: sent,
            received_per_second: received,
        })
    }

    /// The last sample taken.
    pub fn last(&self) -> Option<&Sample> {
        self.last.as_ref()
    }
}
