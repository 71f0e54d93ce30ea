//! Small calls beside bulk, on the same mount: how long they take while it fills the path.

use std::time::{Duration, Instant};

use anyhow::Result;
use parking_lot::Mutex;

use super::control::Turn;
use super::file_set::FileSet;
use super::performance::{Deeds, Performance};
use super::plan::WorkloadPlan;
use super::scene::Scene;

/// One thread more than the work has, if the plan wants one, and what it did.
pub(super) struct Beside {
    number: usize,
    every: Option<Duration>,
    deeds: Mutex<Deeds>,
}

impl Beside {
    pub(super) fn of(plan: &WorkloadPlan) -> Self {
        Self { number: plan.crew(), every: plan.beside, deeds: Mutex::default() }
    }

    pub(super) fn is_wanted(&self) -> bool {
        self.every.is_some()
    }

    /// Whether the thread of this number is the one.
    pub(super) fn is_number(&self, number: usize) -> bool {
        number == self.number
    }

    /// Asks for the attributes of the first file until all is over: one call at a time, begun so often, or right after the
    /// one before if that took longer.
    pub(super) fn look(&self, scene: &Scene<'_>, set: &FileSet, turn: &Turn<'_>) -> Result<()> {
        let (Some(every), Some(file)) = (self.every, set.files.first()) else { return Ok(()) };
        let hand = scene.hand();
        let mut deeds = Deeds::default();
        while !turn.is_over() {
            let began = Instant::now();
            file.look(&hand)?;
            if turn.counts() {
                deeds.operation(began);
            }
            turn.rest(every.saturating_sub(began.elapsed()));
        }
        self.deeds.lock().add(&deeds);
        Ok(())
    }

    /// The phase, and these calls as another one.
    pub(super) fn with(self, performance: Performance) -> Vec<Performance> {
        match self.every {
            None => vec![performance],
            Some(_) => {
                let beside = performance.part("beside", self.deeds.into_inner());
                vec![performance, beside]
            }
        }
    }
}
