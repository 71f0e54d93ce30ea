//! Runs all cases and reports how they ended.

use std::fmt;

use super::{Case, Outcome, Subject, cases};

/// How all cases ended.
#[derive(Debug)]
pub struct Report {
    /// Each case with its end, in the order of the suite.
    pub outcomes: Vec<(&'static Case, Outcome)>,
}

/// Runs every case, each on a subject of its own.
pub fn run(make: &dyn Fn() -> Subject) -> Report {
    Report { outcomes: cases().map(|case| (case, case.run(&make()))).collect() }
}

impl Report {
    /// Whether no case failed.
    pub fn is_success(&self) -> bool {
        self.failures().next().is_none()
    }

    /// The cases that failed, each with what was wrong.
    pub fn failures(&self) -> impl Iterator<Item = (&'static Case, &str)> {
        self.outcomes.iter().filter_map(|(case, outcome)| match outcome {
            Outcome::Failed(what) => Some((*case, what.as_str())),
            _ => None,
        })
    }

    /// The cases that the subject cannot run, each with the reason.
    pub fn skipped(&self) -> impl Iterator<Item = (&'static Case, &str)> {
        self.outcomes.iter().filter_map(|(case, outcome)| match outcome {
            Outcome::Skipped(why) => Some((*case, why.as_str())),
            _ => None,
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (failed, skipped) = (self.failures().count(), self.skipped().count());
        let passed = self.outcomes.len() - failed - skipped;
        writeln!(formatter, "{passed} passed, {failed} failed, {skipped} skipped")?;
        self.failures().try_for_each(|(case, what)| writeln!(formatter, "FAILED {case}: {what}"))?;
        self.skipped().try_for_each(|(case, why)| writeln!(formatter, "skipped {case}: {why}"))
    }
}
