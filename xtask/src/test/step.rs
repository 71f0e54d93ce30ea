//! What a step is and what it reports.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::workspace::Workspace;

/// A part of the test command.
pub struct Step {
    /// What to call it on the command line.
    pub name: &'static str,
    /// What it covers.
    pub about: &'static str,
    /// Does it.
    pub run: fn(&Context) -> Result<Report>,
}

/// What every step knows.
pub struct Context {
    /// Where things are.
    pub workspace: Workspace,
    /// Short sizes.
    pub quick: bool,
}

/// What a step did.
#[derive(Debug, Default)]
pub struct Report {
    /// Tests or scenarios that passed.
    pub passed: usize,
    /// That failed.
    pub failed: usize,
    /// That did not run.
    pub skipped: usize,
    /// Why tests were skipped, and how many for each reason.
    pub reasons: BTreeMap<String, usize>,
    /// For a person: a cause of failure, a reason for skipping a step, or what was done.
    pub remarks: Vec<String>,
    /// What those that failed said, printed again at the end.
    pub causes: Vec<String>,
}

impl Report {
    /// One thing, done.
    pub fn passed(remark: impl Into<String>) -> Self {
        Self { passed: 1, remarks: vec![remark.into()], ..Self::default() }
    }

    /// One thing, failed.
    pub fn failed(remark: impl Into<String>) -> Self {
        Self { failed: 1, remarks: vec![remark.into()], ..Self::default() }
    }

    /// One thing, not done.
    pub fn skipped(remark: impl Into<String>) -> Self {
        Self { skipped: 1, remarks: vec![remark.into()], ..Self::default() }
    }

    /// Adds another's counts and remarks.
    pub fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
        for (why, count) in other.reasons {
            *self.reasons.entry(why).or_default() += count;
        }
        self.remarks.extend(other.remarks);
        self.causes.extend(other.causes);
    }
}
