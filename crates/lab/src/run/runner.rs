//! The order of a run: each job, its row, its observer, until all are done or somebody asks to stop.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::cell::{self, CellRecord};
use super::commit::commit;
use super::topology::{line_rate, round_trip};
use super::{Job, Stop};
use crate::plan::Plan;
use crate::record::{Outcome, ResultDirectory, Row, SeriesLine};
use crate::sandbox::LabSandbox;
use howdah_workload::measure::Machine;

/// Sees how far a run is.
pub trait RunObserver {
    /// A job begins.
    fn begins(&mut self, upcoming: &Upcoming<'_>);

    /// It ended.
    fn ended(&mut self, row: &Row);
}

/// A job that begins.
#[derive(Debug)]
pub struct Upcoming<'a> {
    /// The job.
    pub job: &'a Job,
    /// Which one it is, from 1.
    pub number: usize,
    /// Of so many.
    pub of: usize,
    /// What is left of the whole, as far as the jobs before show.
    pub left: Option<Duration>,
}

/// Runs a plan into a directory.
#[derive(Debug)]
pub struct Runner<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// Whether it is its short form.
    pub quick: bool,
    /// What is run.
    pub jobs: Vec<Job>,
    /// Where results go.
    pub results: &'a ResultDirectory,
    /// This program.
    pub howdah: PathBuf,
    /// Where it runs.
    pub sandbox: &'a LabSandbox,
    /// Whether to end.
    pub stop: Stop,
}

impl Runner<'_> {
    /// Runs all jobs; those that came to their end in this directory before are not run again. A job that was interrupted
    /// leaves no row. A job during which other programs kept the machine busy is run once more.
    pub fn run(&self, observer: &mut dyn RunObserver) -> Result<()> {
        let done = self.results.rows()?;
        if done.iter().any(|row| row.quick != self.quick) {
            let other = if self.quick { "whole" } else { "short" };
            bail!("{} has results of the plan's {other} form", self.results.path().display());
        }
        let is_done = |job: &Job| done.iter().any(|row| row.is_ok() && is_of(row, job));
        let jobs: Vec<&Job> = self.jobs.iter().filter(|job| !is_done(job)).collect();
        let facts = Facts { machine: Machine::this(), commit: commit() };
        let began = Instant::now();
        for (index, job) in jobs.iter().enumerate() {
            if self.stop.is_asked() {
                break;
            }
            let each = (index > 0).then(|| began.elapsed() / index as u32);
            let left = each.map(|each| each * (jobs.len() - index) as u32);
            observer.begins(&Upcoming { job, number: index + 1, of: jobs.len(), left });
            let (row, series) = self.row(job, &facts)?;
            if self.stop.is_asked() && !row.is_ok() {
                break;
            }
            self.keep(&row, &series)?;
            observer.ended(&row);
            if row.disturbed().is_some() && !self.stop.is_asked() {
                observer.begins(&Upcoming { job, number: index + 1, of: jobs.len(), left });
                let (again, series) = self.row(job, &facts)?;
                if self.stop.is_asked() && !again.is_ok() {
                    break;
                }
                if replaces(&again, &row) {
                    self.keep(&again, &series)?;
                }
                observer.ended(&again);
            }
        }
        Ok(())
    }

    /// Adds a row to the results. Of one job the last row counts.
    fn keep(&self, row: &Row, series: &[SeriesLine]) -> Result<()> {
        if let Some(name) = &row.series {
            self.results.write_series(name, series)?;
        }
        self.results.append(row)
    }

    fn row(&self, job: &Job, facts: &Facts) -> Result<(Row, Vec<SeriesLine>)> {
        let started = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let began = Instant::now();
        let logs = self.results.logs(job.cell.number, job.repetition)?;
        let logs = std::path::absolute(&logs).context("where the logs are")?;
        let temporary = tempfile::Builder::new().prefix("cell-").tempdir_in(self.sandbox.directory());
        let temporary = temporary.context("making a directory for the cell")?;
        let place = cell::place(job, &self.howdah, temporary.path(), &logs);
        let mut record = CellRecord::default();
        let outcome = match cell::run(job, &place, self.sandbox, &self.stop, &mut record) {
            Ok(()) => Outcome::Ok,
            Err(error) => Outcome::Failed(format!("{error:#}")),
        };
        let CellRecord { named: (figures, latencies), commands, link, series, other_load } = record;
        let name = ResultDirectory::series_name(job.cell.number, job.repetition);
        let row = Row {
            plan: self.plan.name.clone(),
            quick: self.quick,
            cell: job.cell.number,
            repetition: job.repetition,
            seed: job.seed,
            factors: job.cell.factors.clone(),
            outcome,
            started,
            seconds: began.elapsed().as_secs_f64(),
            other_load,
            commands,
            line_rate_bytes_per_second: line_rate(&job.cell.spec),
            round_trip_seconds: round_trip(&job.cell.spec).as_secs_f64(),
            figures,
            latencies,
            link,
            series: (!series.is_empty()).then_some(name),
            machine: facts.machine.clone(),
            commit: facts.commit.clone(),
            howdah: env!("CARGO_PKG_VERSION").to_owned(),
        };
        Ok((row, series))
    }
}

/// What is the same in every row of a run.
struct Facts {
    machine: Machine,
    commit: Option<String>,
}

/// Whether a second measurement of a job counts in place of the first, which others disturbed.
fn replaces(again: &Row, first: &Row) -> bool {
    let share = |row: &Row| row.other_load.map_or(0.0, |load| load.share);
    !first.is_ok() || (again.is_ok() && share(again) < share(first))
}

fn is_of(row: &Row, job: &Job) -> bool {
    (row.cell, row.repetition, row.seed) == (job.cell.number, job.repetition, job.seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::testing::row;
    use howdah_workload::measure::OtherLoad;

    #[test]
    fn the_calmer_measurement_counts_if_it_came_to_its_end() {
        let with = |share, is_ok| {
            let outcome = if is_ok { Outcome::Ok } else { Outcome::Failed("it hung".to_owned()) };
            Row { other_load: Some(OtherLoad { seconds: 1.0, share }), outcome, ..row(1, 1) }
        };
        for (first, again, replaced) in [
            (with(0.3, true), with(0.01, true), true),
            (with(0.3, true), with(0.2, true), true),
            (with(0.3, true), with(0.4, true), false),
            (with(0.3, true), with(0.01, false), false),
            (with(0.3, false), with(0.4, false), true),
            (with(0.3, false), with(0.4, true), true),
        ] {
            assert_eq!(replaces(&again, &first), replaced, "{:?} {:?}", first.other_load, again.other_load);
        }
    }
}
