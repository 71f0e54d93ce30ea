//! What the ladder comes to.

use serde::Serialize;

use crate::{Figure, Finding, Remedy, Rung};

/// How a rung is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing in it limits.
    Healthy,
    /// Something in it limits.
    Limits,
    /// There is nothing to look at.
    Absent,
    /// It could not be looked at.
    NotMeasured,
}

/// One rung.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RungReport {
    /// Which.
    pub rung: Rung,
    /// How it is.
    pub verdict: Verdict,
    /// What was seen.
    pub figures: Vec<Figure>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// What could not be found out, and why.
    pub could_not: Vec<String>,
}

/// All rungs that were looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// From below.
    pub rungs: Vec<RungReport>,
}

impl RungReport {
    /// One that was looked at.
    pub fn seen(rung: Rung, figures: Vec<Figure>, findings: Vec<Finding>) -> Self {
        let limits = findings.iter().any(|finding| finding.is_fault);
        let verdict = if limits { Verdict::Limits } else { Verdict::Healthy };
        Self { rung, verdict, figures, findings, could_not: Vec::new() }
    }

    /// One that could not be, and why.
    pub fn not_measured(rung: Rung, why: impl Into<String>) -> Self {
        Self::without(rung, Verdict::NotMeasured, why.into())
    }

    /// One with nothing in it.
    pub fn absent(rung: Rung, what: impl Into<String>) -> Self {
        Self::without(rung, Verdict::Absent, what.into())
    }

    fn without(rung: Rung, verdict: Verdict, why: String) -> Self {
        Self { rung, verdict, figures: Vec::new(), findings: Vec::new(), could_not: vec![why] }
    }

    /// The first thing in it that limits.
    pub fn fault(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.is_fault)
    }
}

impl Report {
    /// The first rung that limits, and what in it does.
    pub fn limiting(&self) -> Option<(Rung, &Finding)> {
        self.rungs.iter().find_map(|rung| Some((rung.rung, rung.fault()?)))
    }

    /// The last rung of which something is worth knowing: notes of lower rungs explain it.
    pub fn note(&self) -> Option<(Rung, &Finding)> {
        self.rungs.iter().rev().find_map(|rung| Some((rung.rung, rung.findings.first()?)))
    }

    /// Whether a rung could not be looked at.
    pub fn is_partial(&self) -> bool {
        self.rungs.iter().any(|rung| rung.verdict == Verdict::NotMeasured)
    }

    /// What would mend what was found, each thing once, from below.
    pub fn remedies(&self) -> Vec<&Remedy> {
        let mut all: Vec<&Remedy> = Vec::new();
        let found = self.rungs.iter().flat_map(|rung| &rung.findings).flat_map(|finding| &finding.remedies);
        for remedy in found {
            if !all.iter().any(|known| known.is_same_as(remedy)) {
                all.push(remedy);
            }
        }
        all
    }
}
