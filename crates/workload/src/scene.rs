//! What a workload works with, and how one phase of it is timed.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use howdah_vfs::Stability;

use super::control::{Control, Interrupted, Turn};
use super::crew::{self, Job};
use super::file_set::FileSet;
use super::performance::{Deeds, Performance};
use super::plan::{Commit, WorkloadPlan};
use super::progress::{Progress, Unit};
use super::stage::Stage;
use super::target_file::Hand;
use crate::content::Generator;
use crate::counters::{ProcedureCount, since};
use crate::measure::Processor;

/// What a workload works with.
pub(super) struct Scene<'a> {
    pub(super) stage: &'a Stage,
    pub(super) plan: &'a WorkloadPlan,
    pub(super) progress: &'a Progress,
    pub(super) asked: &'a AtomicBool,
}

/// A phase that is timed.
pub(super) struct Phase<'p> {
    pub(super) name: &'static str,
    /// What progress counts, and how much of it there is.
    pub(super) unit: Unit,
    pub(super) total: u64,
    pub(super) time: Option<Duration>,
    pub(super) job: Job<'p>,
    /// Whether there is one thread more than work for them: it is given the last number.
    pub(super) beside: bool,
    /// What else belongs into the time, after all threads are done.
    pub(super) ending: &'p dyn Fn(&mut Deeds) -> Result<()>,
}

/// No ending.
pub(super) fn nothing_more(_: &mut Deeds) -> Result<()> {
    Ok(())
}

impl Scene<'_> {
    pub(super) fn hand(&self) -> Hand<'_> {
        Hand::new(&self.stage.place, Generator::new(self.plan.seed))
    }

    /// An error if somebody asked to stop.
    pub(super) fn heed(&self) -> Result<()> {
        if self.asked.load(Ordering::Relaxed) { Err(Interrupted.into()) } else { Ok(()) }
    }

    /// How stable each write must be.
    pub(super) fn stability(&self) -> Stability {
        if self.plan.commit == Commit::Each { Stability::FileSync } else { Stability::Unstable }
    }

    fn counts(&self) -> Vec<ProcedureCount> {
        self.stage.place.counters.as_ref().map(|counters| counters.counts()).unwrap_or_default()
    }

    /// Does a phase with all threads, and says what it took.
    pub(super) fn time(&self, phase: &Phase<'_>) -> Result<Performance> {
        let label = format!("{} {}", self.plan.workload.name(), phase.name);
        self.progress.begin(label, phase.unit, phase.total, phase.time);
        let ramp = self.plan.ramp.unwrap_or_default();
        let control = Control::new(self.asked, phase.time).with_ramp(ramp).with_gate(self.plan);
        let begin = || (Processor::used(), self.counts());
        let (before, began, mut deeds) =
            crew::run(&control, self.plan.crew() + usize::from(phase.beside), phase.job, begin)?;
        (phase.ending)(&mut deeds)?;
        let took = began.elapsed().saturating_sub(ramp);
        let processor = Processor::used().since(before.0);
        let procedures = since(&self.counts(), &before.1);
        self.progress.end();
        self.heed()?;
        ensure!(!took.is_zero(), "all was done within the ramp of {ramp:?}: more work, or --time, is needed");
        Ok(Performance { phase: phase.name, took, processor: Some(processor), procedures, deeds })
    }

    /// Does something with all threads, outside any time.
    fn untimed(&self, label: &str, total: u64, job: Job<'_>) -> Result<Deeds> {
        self.progress.begin(format!("{} {label}", self.plan.workload.name()), Unit::Bytes, total, None);
        let control = Control::new(self.asked, None).with_gate(self.plan);
        let (_, _, deeds) = crew::run(&control, self.plan.crew(), job, || ())?;
        self.progress.end();
        self.heed()?;
        Ok(deeds)
    }

    /// Writes whatever was never written of these files, and commits it.
    pub(super) fn write_out(&self, set: &FileSet) -> Result<()> {
        let missing = set.files.iter().flat_map(|file| file.unwritten().map(move |range| (file, range)));
        let missing: Vec<_> = missing.collect();
        if missing.is_empty() {
            return Ok(());
        }
        let next = AtomicU64::new(0);
        let total = missing.iter().map(|(_, range)| range.length).sum();
        self.untimed("laying out", total, &|_, turn: &Turn<'_>, _: &mut Deeds| {
            let mut hand = self.hand();
            while turn.goes_on() {
                let Some((file, range)) = missing.get(next.fetch_add(1, Ordering::Relaxed) as usize) else {
                    break;
                };
                turn.measure(range.length, || file.write(&mut hand, *range, Stability::Unstable))?;
                self.progress.add(range.length);
            }
            Ok(())
        })?;
        self.commit(set, &mut Deeds::default())
    }

    /// Commits whatever is not committed yet.
    pub(super) fn commit(&self, set: &FileSet, deeds: &mut Deeds) -> Result<()> {
        let mut hand = self.hand();
        set.files.iter().try_for_each(|file| file.commit(&mut hand, deeds))
    }

    /// Reads everything that was written, compares it, and says how many bytes that were.
    pub(super) fn read_back(&self, set: &FileSet) -> Result<u64> {
        let next = AtomicU64::new(0);
        let total = set.files.iter().map(|file| file.size).sum();
        let deeds = self.untimed("verifying", total, &|_, turn: &Turn<'_>, deeds: &mut Deeds| {
            let mut hand = self.hand();
            while turn.goes_on()
                && let Some(file) = set.files.get(next.fetch_add(1, Ordering::Relaxed) as usize)
            {
                for range in file.written() {
                    if turn.is_over() {
                        return Ok(());
                    }
                    turn.measure(range.length, || file.read(&mut hand, range, true, deeds))?;
                    self.progress.add(range.length);
                }
            }
            Ok(())
        })?;
        Ok(deeds.verified_bytes)
    }
}
