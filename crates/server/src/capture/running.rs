//! A capture that runs: where workers put calls, when it ends, and what is counted of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::time::Duration;

use crate::locks::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::kept::Kept;
use super::limits::{CAPTURE_PATIENCE as PATIENCE, CAPTURE_WAITING_MAX, Limits};
use super::reader::CaptureReader;
use crate::counts::Moment;
use crate::programs::Listed;
use howdah_capture::{Call, Names, Why};

/// One capture.
pub struct Running {
    number: u64,
    limits: Limits,
    began: Moment,
    ends: Moment,
    /// When somebody asked for its calls last, in nanoseconds of [`Moment`].
    asked: AtomicU64,
    calls: SyncSender<Kept>,
    taken: AtomicU64,
    dropped: AtomicU64,
    left_out: AtomicU64,
    /// Why it ended, as [`why`] numbers it; 0: it runs.
    ended: AtomicU8,
    /// When it ended.
    ended_at: AtomicU64,
    reader: Mutex<CaptureReader>,
}

/// How a capture stands.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CaptureState")]
pub struct State {
    /// Which capture it is: no other one of this host since it was started has this number.
    pub capture: u64,
    /// Whether it runs.
    pub run: bool,
    /// Why it does not.
    pub ended: Option<Why>,
    /// How names are written.
    pub names: Names,
    /// How long it has run.
    pub seconds: f64,
    /// It ends after so long.
    pub seconds_most: f64,
    /// It ends after so many calls.
    pub calls_most: u64,
    /// Calls that were taken.
    pub taken: u64,
    /// Calls that came while too many waited to be read out: they are lost.
    pub dropped: u64,
    /// What is no call of NFS, or was answered from memory as a repetition, or makes no sense.
    pub left_out: u64,
}

impl Running {
    /// One that begins now.
    pub fn new(limits: Limits, now: Moment, procedures: Arc<[Listed]>) -> Self {
        let (calls, waiting) = sync_channel(CAPTURE_WAITING_MAX);
        let length = (limits.seconds * 1e9) as u64;
        Self {
            number: now.nanoseconds() / 1000,
            limits,
            began: now,
            ends: Moment::at(now.nanoseconds().saturating_add(length)),
            asked: AtomicU64::new(now.nanoseconds()),
            calls,
            taken: AtomicU64::new(0),
            dropped: AtomicU64::new(0),
            left_out: AtomicU64::new(0),
            ended: AtomicU8::new(0),
            ended_at: AtomicU64::new(0),
            reader: Mutex::new(CaptureReader::new(waiting, limits.names, now, procedures)),
        }
    }

    /// A worker brings a call, and goes on at once; says whether more is wanted.
    pub fn bring(&self, kept: Option<Kept>) -> bool {
        let Some(kept) = kept else {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return true;
        };
        if kept.arrived > self.ends {
            self.end(Why::Time, kept.arrived);
            return false;
        }
        let now = kept.ready;
        match self.calls.try_send(kept) {
            Ok(()) if self.taken.fetch_add(1, Ordering::Relaxed) + 1 >= self.limits.calls => {
                self.end(Why::Calls, now);
                false
            }
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                true
            }
        }
    }

    /// It ends, unless it has.
    pub fn end(&self, why: Why, now: Moment) {
        if self.ended.compare_exchange(0, number(why), Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            self.ended_at.store(now.nanoseconds(), Ordering::SeqCst);
        }
    }

    /// Whether it has ended.
    pub fn is_over(&self) -> bool {
        self.ended.load(Ordering::SeqCst) != 0
    }

    /// Whether its time is over, or nobody cares for it: why it is to end.
    pub fn is_due(&self, now: Moment) -> Option<Why> {
        let of_time = (now > self.ends).then_some(Why::Time);
        of_time.or_else(|| self.is_abandoned(now).then_some(Why::Abandoned))
    }

    /// Whether nobody has asked for its calls for long.
    fn is_abandoned(&self, now: Moment) -> bool {
        self.unasked(now) > PATIENCE
    }

    /// Whether nobody has for so long that nobody will: a reader that was stopped for a while and asks again finds why it
    /// ended.
    pub fn is_forgotten(&self, now: Moment) -> bool {
        self.unasked(now) > 2 * PATIENCE
    }

    fn unasked(&self, now: Moment) -> Duration {
        let asked = Moment::at(self.asked.load(Ordering::Relaxed));
        Duration::from_nanos(now.since(asked))
    }

    /// Whether it is the one that somebody means: that with this number, or whichever there is.
    pub fn is_meant(&self, number: Option<u64>) -> bool {
        number.is_none_or(|number| number == self.number)
    }

    /// Its calls after those that somebody has, and how many there are up to the last of them.
    pub fn calls(&self, after: u64, now: Moment) -> (u64, Vec<Call>) {
        self.asked.store(now.nanoseconds(), Ordering::Relaxed);
        self.reader.lock().calls(after, &self.left_out)
    }

    /// How it stands.
    pub fn state(&self, now: Moment) -> State {
        let ended = why(self.ended.load(Ordering::SeqCst));
        let end = ended.map_or(now, |_| Moment::at(self.ended_at.load(Ordering::SeqCst)));
        State {
            capture: self.number,
            run: ended.is_none(),
            ended,
            names: self.limits.names,
            seconds: Duration::from_nanos(end.since(self.began)).as_secs_f64(),
            seconds_most: self.limits.seconds,
            calls_most: self.limits.calls,
            taken: self.taken.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            left_out: self.left_out.load(Ordering::Relaxed),
        }
    }
}

/// Reasons in the order of their numbers, from 1.
const REASONS: [Why; 6] = [Why::Time, Why::Calls, Why::Bytes, Why::Asked, Why::Abandoned, Why::Server];

fn number(why: Why) -> u8 {
    REASONS.iter().position(|reason| *reason == why).map_or(0, |place| place as u8 + 1)
}

fn why(number: u8) -> Option<Why> {
    REASONS.get(usize::from(number).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::procedures;

    #[test]
    fn what_nobody_asks_for_ends_and_is_forgotten_later() {
        let patience = PATIENCE.as_nanos() as u64;
        let at = |nanoseconds| Moment::at(1_000_000_000 + nanoseconds);
        let running =
            Running::new(Limits { seconds: 3600.0, calls: 1, names: Names::Hashed }, at(0), procedures());
        assert_eq!((running.is_due(at(patience)), running.is_forgotten(at(2 * patience))), (None, false));
        assert_eq!(running.is_due(at(patience + 1)), Some(Why::Abandoned));
        assert!(running.is_forgotten(at(2 * patience + 1)));
        running.calls(0, at(patience));
        assert_eq!((running.is_due(at(2 * patience)), running.is_forgotten(at(3 * patience))), (None, false));
        running.end(Why::Abandoned, at(2 * patience + 1));
        assert_eq!(
            running.state(at(4 * patience)).ended,
            Some(Why::Abandoned),
            "a reader that asks again gets the reason"
        );
    }
}
