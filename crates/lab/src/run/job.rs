//! What a run consists of: cells and their repetitions, in order, as far as they are chosen.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use crate::plan::{Cell, Plan, seed};

/// One repetition of one cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// The cell.
    pub cell: Cell,
    /// Which repetition, from 1.
    pub repetition: u32,
    /// What everything random in it follows from.
    pub seed: u64,
}

/// What of a plan is run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Selection {
    /// The short form.
    pub quick: bool,
    /// One cell alone, by its number.
    pub cell: Option<u32>,
    /// Only these levels.
    pub only: BTreeMap<String, Vec<String>>,
    /// How often, if not as the plan says.
    pub repetitions: Option<u32>,
    /// What everything random follows from, if not what the plan says.
    pub seed: Option<u64>,
}

/// All that is chosen: every cell once, then every cell again, so that a slow hour of the machine is not one cell's alone.
pub fn jobs(plan: &Plan, selection: &Selection) -> Result<Vec<Job>> {
    check(plan, selection)?;
    let mut cells = plan.cells(selection.quick)?;
    cells.retain(|cell| selection.cell.is_none_or(|number| cell.number == number));
    cells.retain(|cell| selection.only.iter().all(|(factor, levels)| levels.contains(&cell.factors[factor])));
    if cells.is_empty() {
        let form = if selection.quick { " of the short form" } else { "" };
        bail!("no cell{form} is chosen; `--dry-run` lists them");
    }
    let repetitions = selection.repetitions.unwrap_or(plan.repetitions(selection.quick));
    let base = selection.seed.unwrap_or(plan.seed);
    let job = |cell: &Cell, repetition| Job {
        cell: cell.clone(),
        repetition,
        seed: seed(base, cell.number, repetition),
    };
    Ok((1..=repetitions).flat_map(|repetition| cells.iter().map(move |cell| job(cell, repetition))).collect())
}

fn check(plan: &Plan, selection: &Selection) -> Result<()> {
    for (name, levels) in &selection.only {
        let Some(factor) = plan.factor(name) else {
            let known: Vec<&str> = plan.factors.iter().map(|factor| factor.name.as_str()).collect();
            bail!("no factor is called \"{name}\"; there are: {}", known.join(", "));
        };
        if let Some(level) = levels.iter().find(|level| !factor.has(level)) {
            let known: Vec<&str> = factor.labels().collect();
            bail!("factor \"{name}\" has no level \"{level}\"; it has: {}", known.join(", "));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::testing::plan;

    fn selected(selection: &Selection) -> Vec<(u32, u32)> {
        let jobs = jobs(&plan(), selection).expect("chosen");
        jobs.iter().map(|job| (job.cell.number, job.repetition)).collect()
    }

    fn only(factor: &str, level: &str) -> BTreeMap<String, Vec<String>> {
        [(factor.to_owned(), vec![level.to_owned()])].into()
    }

    #[test]
    fn every_cell_comes_once_before_any_comes_again() {
        let all = Selection::default();
        assert_eq!(selected(&all)[..7], [(1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (1, 2)]);
        assert_eq!(selected(&all).len(), 18);
        assert_eq!(selected(&Selection { quick: true, ..all.clone() }), [(3, 1), (4, 1)]);
        assert_eq!(selected(&Selection { cell: Some(5), ..all.clone() }), [(5, 1), (5, 2), (5, 3)]);
        let chosen = Selection { only: only("buffer", "fixed"), repetitions: Some(1), ..all };
        assert_eq!(selected(&chosen), [(1, 1), (3, 1), (5, 1)]);
    }

    #[test]
    fn what_is_not_there_is_said() {
        for (selection, says) in [
            (Selection { cell: Some(9), ..Selection::default() }, "no cell is chosen"),
            (Selection { only: only("speed", "1"), ..Selection::default() }, "there are: rtt, buffer"),
            (Selection { only: only("rtt", "1ms"), ..Selection::default() }, "it has: 0ms, 30ms, 100ms"),
        ] {
            let error = jobs(&plan(), &selection).expect_err(says).to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_cell_alone_has_the_seed_that_it_has_among_others() {
        let all = jobs(&plan(), &Selection::default()).expect("chosen");
        let alone = jobs(&plan(), &Selection { cell: Some(5), ..Selection::default() }).expect("chosen");
        assert_eq!(alone[1], all[10]);
        let other = Selection { seed: Some(1), ..Selection::default() };
        assert_ne!(jobs(&plan(), &other).expect("chosen")[0].seed, all[0].seed);
    }
}
