//! What a run came to.

use crate::plan::{ClaimJudgement, Plan, judge};
use crate::record::{Row, medians};

/// What a run came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Ended {
    /// Repetitions of cells that came to their end.
    pub ok: usize,
    /// Those that did not.
    pub failed: usize,
    /// What the rows say of each claim.
    pub judgements: Vec<ClaimJudgement>,
}

/// Counts, and judges.
pub fn conclude(plan: &Plan, rows: &[Row]) -> Ended {
    let cells = medians(rows);
    Ended {
        ok: cells.iter().map(|cell| cell.ok).sum(),
        failed: cells.iter().map(|cell| cell.failures.len()).sum(),
        judgements: judge(plan, rows),
    }
}

impl Ended {
    /// Whether a claim did not hold. One whose cells were not measured did not fail to hold.
    pub fn has_refuted(&self) -> bool {
        self.judgements.iter().any(|judgement| judgement.held == Some(false))
    }
}
