//! One connection, sample after sample: what limits it now.

use super::capped::with_caps;
use super::explain::Found;
use super::history::History;
use super::server::{in_cipher, with_encryption};
use super::steady::Steady;
use super::{Direction, Explanation, Judgement, Verdict, receiving, sending};
use crate::{Interval, Sample};

/// Judges one connection.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    last: Option<Sample>,
    sending: History,
    receiving: History,
    said_of_sending: Steady,
    said_of_receiving: Steady,
    in_cipher: f64,
}

impl Judge {
    /// Takes the next sample; the verdicts on the time since the last one. `unsent_mark`: how much the socket may hold
    /// unsent.
    pub fn on_sample(&mut self, sample: Sample, unsent_mark: u64) -> Option<Judgement> {
        let before = self.last.replace(sample)?;
        let interval = Interval { before: &before, after: self.last.as_ref()? };
        let (sent, received) = (sending::seen(&interval), receiving::seen(&interval));
        self.sending.learn(&interval, &sent);
        self.receiving.learn(&interval, &received);
        let encrypted = |verdict| with_encryption(&interval, verdict);
        let sending = encrypted(sending::judge(&interval, &self.sending, unsent_mark));
        let sending = with_caps(&interval, sending, sent.rate);
        let receiving = encrypted(receiving::judge(&interval, &self.receiving));
        let receiving = with_caps(&interval, receiving, received.rate);
        self.in_cipher = in_cipher(&interval);
        // Nothing came while calls were being carried out: that says nothing of a client.
        let counts = receiving != Verdict::Idle || !sending::executes(&interval);
        Some(Judgement {
            sending: self.said_of_sending.say(interval.after.at, sending, true),
            receiving: self.said_of_receiving.say(interval.after.at, receiving, counts),
            sent_per_second: sent.rate,
            received_per_second: received.rate,
        })
    }

    /// What it said last, in a sentence.
    pub fn explain(&self, judgement: &Judgement) -> Option<Explanation> {
        let sample = self.last.as_ref()?;
        let history = match judgement.direction() {
            Direction::Reads => &self.sending,
            Direction::Writes => &self.receiving,
        };
        let found = Found {
            loss_in: history.loss_in(),
            peer_takes_less: self.sending.peer_takes_less(sample),
            in_cipher: self.in_cipher,
        };
        Some(Explanation::of(judgement, sample, found))
    }

    /// The last sample taken.
    pub fn last(&self) -> Option<&Sample> {
        self.last.as_ref()
    }
}
