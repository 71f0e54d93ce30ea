//! The cells of a plan: every combination of levels, in a fixed order, each with its number and its seed.

use std::collections::BTreeMap;

use howdah_random::mix;
use toml::{Table, Value};

use super::merge::merge;
use super::{CellSpec, Level, Plan, PlanError};

/// A cell with its levels.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its number in the whole plan, from 1: the same in the short form, and whatever is left out.
    pub number: u32,
    /// The level of each factor.
    pub factors: BTreeMap<String, String>,
    /// What is measured in it.
    pub spec: CellSpec,
}

impl Plan {
    /// All cells, in order: the last factor varies fastest. Those that the plan or its short form leaves out are left out.
    pub fn cells(&self, quick: bool) -> Result<Vec<Cell>, PlanError> {
        let mut base = self.cell.clone();
        if quick {
            merge(&mut base, &self.quick.cell);
        }
        let combinations = self.combinations().into_iter().zip(1..);
        let left_out = |levels: &[_]| self.left_out.iter().any(|left_out| left_out.is_about(levels));
        let kept = combinations.filter(|(levels, _)| !left_out(levels) && (!quick || self.keeps(levels)));
        kept.map(|(levels, number)| self.cell_of(&base, &levels, number)).collect()
    }

    fn combinations(&self) -> Vec<Vec<(&str, &Level)>> {
        self.factors.iter().fold(vec![Vec::new()], |before, factor| {
            let with = |combination: &Vec<_>, level| {
                let mut more = combination.clone();
                more.push((factor.name.as_str(), level));
                more
            };
            before
                .iter()
                .flat_map(|combination| factor.levels.iter().map(|level| with(combination, level)))
                .collect()
        })
    }

    fn keeps(&self, levels: &[(&str, &Level)]) -> bool {
        let kept = |(factor, level): &(&str, &Level)| {
            self.quick.factors.get(*factor).is_none_or(|labels| labels.contains(&level.label))
        };
        levels.iter().all(kept)
    }

    fn cell_of(&self, base: &Table, levels: &[(&str, &Level)], number: u32) -> Result<Cell, PlanError> {
        let mut table = base.clone();
        for (_, level) in levels {
            merge(&mut table, &level.set);
        }
        let named = |(factor, level): &(&str, &Level)| ((*factor).to_owned(), level.label.clone());
        let factors: BTreeMap<String, String> = levels.iter().map(named).collect();
        match Value::Table(table).try_into::<CellSpec>() {
            Ok(spec) => Ok(Cell { number, factors, spec }),
            Err(error) => Err(self.wrong_level(base, levels, &error)),
        }
    }

    /// Which level made the cell unreadable: the first one after which it is.
    fn wrong_level(&self, base: &Table, levels: &[(&str, &Level)], error: &toml::de::Error) -> PlanError {
        let mut table = base.clone();
        let unreadable = levels.iter().find(|(_, level)| {
            merge(&mut table, &level.set);
            Value::Table(table.clone()).try_into::<CellSpec>().is_err()
        });
        let message = error.message().replace('\n', "; ");
        match unreadable {
            Some((factor, level)) => {
                let what = format!("factor \"{factor}\", level \"{}\": {message}", level.label);
                PlanError::at(&self.file, level.line, what)
            }
            None => PlanError { file: self.file.clone(), line: None, what: format!("cell: {message}") },
        }
    }
}

/// What everything random in one repetition of one cell follows from. 32 bits, so that it is easily typed again.
pub fn seed(plan: u64, cell: u32, repetition: u32) -> u64 {
    let mut value = plan;
    for word in [u64::from(cell), u64::from(repetition)] {
        value = mix(value ^ word);
    }
    value >> 32
}

#[cfg(test)]
mod tests {
    use super::super::testing::{TEXT, plan};
    use super::*;

    #[test]
    fn the_last_factor_varies_fastest_and_numbers_stay() {
        let expanded = |quick| -> Vec<(u32, String)> {
            let cells = plan().cells(quick).expect("readable");
            let expanded =
                |cell: &Cell| (cell.number, format!("{} {}", cell.factors["rtt"], cell.factors["buffer"]));
            cells.iter().map(expanded).collect()
        };
        let all = [
            (1, "0ms fixed"),
            (2, "0ms the kernel's"),
            (3, "30ms fixed"),
            (4, "30ms the kernel's"),
            (5, "100ms fixed"),
            (6, "100ms the kernel's"),
        ];
        let all = all.map(|(number, levels)| (number, levels.to_owned()));
        assert_eq!(expanded(false), all);
        assert_eq!(expanded(true), all[2..4]);
        assert_eq!((plan().repetitions(false), plan().repetitions(true)), (3, 1));
    }

    #[test]
    fn what_is_left_out_leaves_a_gap_in_the_numbers() {
        let left_out =
            "[[leave_out]]\nwhere = { rtt = \"30ms\", buffer = \"fixed\" }\nwhy = \"it never ends\"\n[quick]";
        // Claims may not be about cells that are left out.
        let (head, _) = TEXT.split_once("[[claim]]").expect("a claim");
        let text = head.replacen("[quick]", left_out, 1);
        let plan = Plan::parse("plan.toml", &text).expect("a plan");
        let numbers = |quick| plan.cells(quick).expect("readable").iter().map(|cell| cell.number).collect();
        let (all, quick): (Vec<u32>, Vec<u32>) = (numbers(false), numbers(true));
        assert_eq!((all, quick), (vec![1, 2, 4, 5, 6], vec![4]));
        let wrong = text.replacen("buffer = \"fixed\" }\nwhy", "buffer = \"small\" }\nwhy", 1);
        let error = Plan::parse("plan.toml", &wrong).expect_err("no such level");
        assert!(error.to_string().contains("leave_out: factor \"buffer\" has no level \"small\""), "{error}");
    }

    #[test]
    fn levels_are_laid_over_the_cell_and_the_short_form_under_them() {
        let cells = plan().cells(false).expect("readable");
        let wire = &cells[4].spec.all_wires()["path0"];
        assert_eq!(cells[4].spec.clients["main"].options, ["--size", "500M"]);
        assert_eq!(wire.between, ("client".to_owned(), "server".to_owned()));
        assert_eq!(cells[4].spec.hosts["server"].sysctls["net.ipv4.tcp_rmem"].text(), "4096 3158016 3158016");
        assert!(cells[5].spec.hosts.is_empty());
        let quick = plan().cells(true).expect("readable");
        assert_eq!(quick[0].spec.clients["main"].options, ["--size", "50M"]);
    }

    #[test]
    fn every_repetition_has_a_seed_of_its_own() {
        let seeds: std::collections::BTreeSet<u64> =
            (1..=50).flat_map(|cell| (1..=10).map(move |repetition| seed(2008, cell, repetition))).collect();
        assert_eq!(seeds.len(), 500);
        assert!(seeds.iter().all(|&seed| seed < 1 << 32));
        assert_eq!(seed(2008, 7, 1), seed(2008, 7, 1));
    }
}
