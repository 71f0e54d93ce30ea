//! How a scenario ended, and the line that says so.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How a scenario ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// As it should, with the figures it noted.
    Passed {
        /// What the job said with `note`.
        notes: Vec<String>,
    },
    /// As it should not.
    Failed {
        /// Step, subject, cause.
        reason: String,
        /// Where everything it wrote is kept.
        kept: Option<PathBuf>,
    },
    /// It failed, and the table says why it must.
    FailedAsExpected {
        /// The table's reason.
        reason: &'static str,
    },
    /// It cannot run here.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// How many ended how.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// As they should, expected failures too.
    pub passed: usize,
    /// As they should not.
    pub failed: usize,
    /// Not run.
    pub skipped: usize,
}

impl Tally {
    /// Counts one.
    pub fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Passed { .. } | Outcome::FailedAsExpected { .. } => self.passed += 1,
            Outcome::Failed { .. } => self.failed += 1,
            Outcome::Skipped { .. } => self.skipped += 1,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

impl Outcome {
    /// Turns the outcome around where the table expects a failure: an unexpected pass fails too.
    pub fn against(self, expected_failure: Option<&'static str>) -> Self {
        match (expected_failure, self) {
            (Some(reason), Self::Failed { .. }) => Self::FailedAsExpected { reason },
            (Some(reason), Self::Passed { .. }) => Self::Failed {
                reason: format!("passed, but the table expects a failure ({reason}): take that out"),
                kept: None,
            },
            (_, outcome) => outcome,
        }
    }

    /// The line for people.
    pub fn line(&self, name: &str, took: Duration) -> String {
        let seconds = took.as_secs_f64();
        let (word, detail) = match self {
            Self::Passed { notes } => ("PASS", notes.join("; ")),
            Self::Failed { reason, kept: None } => ("FAIL", reason.clone()),
            Self::Failed { reason, kept: Some(path) } => {
                ("FAIL", format!("{reason}\n      kept: {}", path.display()))
            }
            Self::FailedAsExpected { reason } => ("PASS", format!("fails as expected: {reason}")),
            Self::Skipped { reason } => ("SKIP", reason.clone()),
        };
        format!("{word}  {name:<24} {seconds:>6.1} s  {detail}").trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Tally};

    #[test]
    fn an_unexpected_pass_is_a_failure() {
        let mut tally = Tally::default();
        tally.count(&Outcome::Passed { notes: vec![] }.against(Some("a bug")));
        tally.count(&Outcome::Failed { reason: "it broke".into(), kept: None }.against(Some("a bug")));
        tally.count(&Outcome::Skipped { reason: "no kernel".into() }.against(Some("a bug")));
        assert_eq!(tally.to_string(), "1 passed, 1 failed, 1 skipped");
    }
}
