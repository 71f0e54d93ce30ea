//! Where a run leaves what was seen, line by line while it goes on, and what becomes of it: a verdict, a figure, a table for a page.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};

use super::figure;
use super::load::Load;
use super::record::{Did, Run, Sample};
use super::verdict::{HEAD, Judged, judge, unjudged};
use crate::trust::campaign::Verdict;

/// What the files are called.
const RUN: &str = "run.json";
const SAMPLES: &str = "samples.jsonl";
const FIGURE: &str = "long-run.svg";
const TABLE: &str = "long-run.md";

/// A run, and the directory of its files.
pub struct Results {
    /// The run as a whole.
    pub run: Run,
    directory: PathBuf,
    samples: Vec<Sample>,
    lines: File,
}

impl Results {
    /// Begins to write; a run that was there before is replaced.
    pub fn begin(directory: &Path, run: Run) -> Result<Self> {
        let directory = std::path::absolute(directory).context("asking for the current directory")?;
        fs::create_dir_all(&directory).with_context(|| format!("making {}", directory.display()))?;
        let path = directory.join(SAMPLES);
        let lines = File::create(&path).with_context(|| format!("making {}", path.display()))?;
        let began = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let results = Self { run: Run { began, ..run }, directory, samples: Vec::new(), lines };
        results.write_run()?;
        Ok(results)
    }

    /// Another look; what is known of the run is written too, so that a run that is cut short can be reported.
    pub fn add(&mut self, sample: Sample, load: &Load) -> Result<()> {
        serde_json::to_writer(&mut self.lines, &sample).context("writing a sample")?;
        self.lines.write_all(b"\n").context("writing a sample")?;
        self.samples.push(sample);
        (self.run.did, self.run.broken) = (load.did(), load.broken());
        self.write_run()
    }

    fn write_run(&self) -> Result<()> {
        let path = self.directory.join(RUN);
        let text = serde_json::to_string_pretty(&self.run).context("writing of the run")?;
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    }

    /// The verdict, with the figure and the table.
    pub fn conclude(mut self) -> Result<Verdict> {
        self.run.broken.extend(idle(&self.run.did));
        self.write_run()?;
        conclude(&self.directory, &self.run, &self.samples)
    }
}

/// The verdict on a run of an earlier time, or of one that goes on, drawn and printed again.
pub fn report(directory: &Path) -> Result<Verdict> {
    let read = |name: &str| {
        let path = directory.join(name);
        fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    };
    let run: Run = serde_json::from_str(&read(RUN)?).with_context(|| format!("reading {RUN}"))?;
    let lines = read(SAMPLES)?;
    let samples =
        lines.lines().map(|line| serde_json::from_str(line).with_context(|| format!("reading {SAMPLES}")));
    conclude(directory, &run, &samples.collect::<Result<Vec<Sample>>>()?)
}

fn conclude(directory: &Path, run: &Run, samples: &[Sample]) -> Result<Verdict> {
    let judged = judge(samples);
    let figures = [Some(figures(run, samples)), unjudged(&judged)];
    let figures = figures.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let rows: Vec<[String; 6]> = judged.iter().map(Judged::cells).collect();
    let write = |name: &str, text: String| {
        let path = directory.join(name);
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))
    };
    write(FIGURE, figure::draw(samples))?;
    write(TABLE, format!("{figures}.\n\n{}", markdown(&rows)))?;
    let grows = judged.iter().filter(|judged| !judged.is_flat());
    let grows = grows.map(|judged| format!("{} grows, {}: {}", judged.name, judged.over, judged.cells()[3]));
    Ok(Verdict {
        figures,
        broken: run.broken.iter().cloned().chain(grows).collect(),
        table: plain(&rows),
        ..Verdict::default()
    })
}

/// What was to be done, and never was.
fn idle(did: &Did) -> impl Iterator<Item = String> {
    let done = [("call", did.calls), ("copy", did.copies), ("stream", did.streamed)];
    done.into_iter().filter(|(_, times)| *times == 0).map(|(what, _)| format!("no {what} came to anything"))
}

/// What was done and seen, in a sentence.
fn figures(run: &Run, samples: &[Sample]) -> String {
    let (did, packets) = (&run.did, &run.packets);
    let seconds = samples.last().map_or(0.0, |last| last.at);
    let used = samples.last().map_or(0.0, |last| last.client.processor) / seconds.max(1.0);
    format!(
        "{:.0} min, {} restarts: {} calls judged ({} answered as a second run is), {} copies, {} MB in streams, {} MB compared \
         at restarts, {} wrong; of {} packets {} lost, {} repeated, {} corrupted, {} overtaken; clients and path took {:.0} % of a processor",
        seconds / 60.0,
        run.restarts,
        did.calls,
        did.second_answers,
        did.copies,
        did.streamed / 1_000_000,
        did.compared / 1_000_000,
        run.broken.len(),
        packets.arrived,
        packets.lost,
        packets.repeated,
        packets.corrupted,
        packets.overtaken,
        used * 100.0,
    )
}

fn markdown(rows: &[[String; 6]]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head = line(&HEAD.map(str::to_owned)) + &line(&HEAD.map(|_| "---".to_owned()));
    rows.iter().fold(head, |text, row| text + &line(row))
}

fn plain(rows: &[[String; 6]]) -> Vec<String> {
    if rows.is_empty() {
        return Vec::new();
    }
    let head = HEAD.map(str::to_owned);
    let all: Vec<&[String; 6]> = std::iter::once(&head).chain(rows).collect();
    let width = |place: usize| all.iter().map(|row| row[place].chars().count()).max().unwrap_or(0);
    let line = |row: &&[String; 6]| {
        let cells = row.iter().enumerate().map(|(place, cell)| format!("{cell:<0$}", width(place)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_that_did_nothing_is_no_pass() {
        let did = Did { calls: 7, streamed: 1 << 20, ..Did::default() };
        assert_eq!(idle(&did).collect::<Vec<_>>(), ["no copy came to anything"]);
        assert_eq!(idle(&Did { copies: 1, ..did }).count(), 0);
    }
}
