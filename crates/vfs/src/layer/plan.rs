//! Which calls go wrong, and how: decided by a seed, so that a run can be repeated.

use parking_lot::Mutex;

use super::Call;
use crate::FsError;
use howdah_random::Random;

/// How a call goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// It is refused, and nothing happens.
    Refuse(FsError),
    /// It happens, but is refused all the same: what a client sees that loses an answer.
    RefuseAfterwards(FsError),
    /// A write takes only a part of the data, at least one byte; other calls go well.
    ShortWrite,
}

/// One way in which calls go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Which call; any, if none is said.
    pub call: Option<Call>,
    /// One call of so many, on average; 1 is every call.
    pub one_in: u64,
    /// How.
    pub kind: FaultKind,
}

/// All ways in which calls go wrong; the first that hits a call counts.
#[derive(Debug)]
pub struct FaultPlan {
    faults: Vec<Fault>,
    random: Mutex<Random>,
}

impl FaultPlan {
    /// These faults, in a pattern that follows from the seed.
    pub fn new(seed: u64, faults: impl Into<Vec<Fault>>) -> Self {
        Self { faults: faults.into(), random: Mutex::new(Random::new(seed)) }
    }

    /// What happens to the next call.
    pub(super) fn next(&self, call: Call) -> Option<FaultKind> {
        let mut random = self.random.lock();
        let applies = |fault: &&Fault| fault.call.is_none_or(|other| other == call);
        let hit = self.faults.iter().filter(applies).find(|fault| random.below(fault.one_in) == 0);
        hit.map(|fault| fault.kind)
    }

    /// How many of `length` bytes a short write takes.
    pub(super) fn part(&self, length: usize) -> usize {
        1 + self.random.lock().below((length as u64).saturating_sub(1)) as usize
    }
}
