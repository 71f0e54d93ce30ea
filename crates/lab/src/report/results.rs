//! What there is to report: the plan and what was measured of it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};

use crate::plan::{ClaimJudgement, OriginFigure, Plan, judge, seed};
use crate::record::{CellMedians, ResultDirectory, Row, latest, medians, unit};

/// A plan with its rows.
#[derive(Debug)]
pub struct Results {
    /// The plan, as it was read then.
    pub plan: Plan,
    /// One row for each repetition of each cell, in the order of their numbers; of a repeated one the latest.
    pub rows: Vec<Row>,
    /// The same over all repetitions.
    pub cells: Vec<CellMedians>,
    /// What the plan's claims come to.
    pub judgements: Vec<ClaimJudgement>,
    /// Where they are, for time series.
    pub directory: ResultDirectory,
}

impl Results {
    /// Reads a result directory, whatever state its run was left in.
    pub fn read(directory: &ResultDirectory) -> Result<Self> {
        let file = directory.plan_path();
        let plan =
            Plan::parse(&file.to_string_lossy(), &directory.plan_text()?).context("reading the plan")?;
        let rows: Vec<Row> = latest(&directory.rows()?).into_iter().cloned().collect();
        let (cells, judgements) = (medians(&rows), judge(&plan, &rows));
        Ok(Self { plan, rows, cells, judgements, directory: directory.clone() })
    }

    /// Whether the plan's short form was run.
    pub fn quick(&self) -> bool {
        self.rows.first().is_some_and(|row| row.quick)
    }

    /// How many rows a whole run has.
    pub fn rows_wanted(&self) -> usize {
        let cells = self.plan.cells(self.quick()).map_or(0, |cells| cells.len());
        cells * self.plan.repetitions(self.quick()) as usize
    }

    /// The rows of a cell.
    pub fn rows_of(&self, cell: u32) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(move |row| row.cell == cell)
    }

    /// The cells with these levels.
    pub fn cells_with<'a>(
        &'a self,
        levels: &'a BTreeMap<String, String>,
    ) -> impl Iterator<Item = &'a CellMedians> {
        self.cells.iter().filter(|cell| is_of(cell, levels))
    }

    /// The levels of a factor that these cells have, in the plan's order.
    pub fn levels_in(&self, factor: &str, cells: &[&CellMedians]) -> Vec<String> {
        let there: BTreeSet<&String> = cells.iter().filter_map(|cell| cell.factors.get(factor)).collect();
        let known = self.plan.factor(factor).into_iter().flat_map(|factor| factor.labels());
        known.filter(|label| there.iter().any(|level| level == label)).map(str::to_owned).collect()
    }

    /// The factors, in the plan's order, in which these cells differ.
    pub fn differing(&self, cells: &[&CellMedians]) -> Vec<String> {
        let names = self.plan.factors.iter().map(|factor| factor.name.clone());
        names.filter(|name| self.levels_in(name, cells).len() > 1).collect()
    }

    /// "rtt 30ms", for each factor, in the plan's order.
    pub fn levels_of(&self, levels: &BTreeMap<String, String>) -> Vec<String> {
        let level = |name: &String| Some(format!("{name} {}", levels.get(name)?));
        self.plan.factors.iter().filter_map(|factor| level(&factor.name)).collect()
    }

    /// The origin's figures beside a cell.
    pub fn origin_of<'a>(
        &'a self,
        cell: &'a CellMedians,
        figure: &'a str,
    ) -> impl Iterator<Item = &'a OriginFigure> {
        self.plan
            .origin_figures
            .iter()
            .filter(move |origin| origin.figure == figure && is_of(cell, &origin.cells))
    }

    /// Whether chance followed from the plan's seed, and not from one that was given when it was run.
    pub fn has_the_plans_seeds(&self) -> bool {
        self.rows.iter().all(|row| row.seed == seed(self.plan.seed, row.cell, row.repetition))
    }

    /// The figures that the plan is about, in the order in which it names them; throughput if it names none.
    pub fn figures(&self) -> Vec<String> {
        let drawn = self.plan.figures.iter().filter_map(|figure| figure.y.clone());
        let claimed = self.plan.claims.iter().map(|claim| claim.figure.clone());
        let origins = self.plan.origin_figures.iter().map(|origin| origin.figure.clone());
        let mut names: Vec<String> = Vec::new();
        for name in claimed.chain(drawn).chain(origins) {
            if !names.contains(&name) && self.unit(&name).is_some() {
                names.push(name);
            }
        }
        if names.is_empty() && self.unit(THROUGHPUT).is_some() {
            names.push(THROUGHPUT.to_owned());
        }
        names
    }

    /// The unit of a figure; none if no cell has it.
    pub fn unit(&self, figure: &str) -> Option<&str> {
        self.cells.iter().find_map(|cell| Some(cell.figures.get(figure)?.1.as_str()))
    }
}

/// The figure that a cell with a single client has in any case.
pub const THROUGHPUT: &str = "throughput";

fn is_of(cell: &CellMedians, levels: &BTreeMap<String, String>) -> bool {
    levels.iter().all(|(factor, level)| cell.factors.get(factor) == Some(level))
}

/// An origin's figure in the unit of the records; none if nobody knows its unit.
pub fn in_records(origin: &OriginFigure) -> Option<(f64, &'static str)> {
    let (factor, recorded) = match origin.unit.as_str() {
        "B/s" | "bytes/s" => (1.0, unit::BYTES_PER_SECOND),
        "kB/s" | "KB/s" => (1e3, unit::BYTES_PER_SECOND),
        "MB/s" => (1e6, unit::BYTES_PER_SECOND),
        "GB/s" => (1e9, unit::BYTES_PER_SECOND),
        "MiB/s" => (1_048_576.0, unit::BYTES_PER_SECOND),
        "GiB/s" => (1_073_741_824.0, unit::BYTES_PER_SECOND),
        "kb/s" | "Kbit/s" | "kbit/s" => (1e3 / 8.0, unit::BYTES_PER_SECOND),
        "Mb/s" | "Mbit/s" => (1e6 / 8.0, unit::BYTES_PER_SECOND),
        "Gb/s" | "Gbit/s" => (1e9 / 8.0, unit::BYTES_PER_SECOND),
        "s" => (1.0, unit::SECONDS),
        "ms" => (1e-3, unit::SECONDS),
        "us" | "µs" => (1e-6, unit::SECONDS),
        "min" => (60.0, unit::SECONDS),
        "ops/s" => (1.0, unit::OPERATIONS_PER_SECOND),
        "%" => (0.01, unit::PART),
        "" | "count" => (1.0, unit::COUNT),
        _ => return None,
    };
    Some((origin.value * factor, recorded))
}
