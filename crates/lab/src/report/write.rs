//! The report as files: the page, and each figure for itself.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::chart::standalone;
use super::figures::{Drawn, draw};
use super::page::page;
use super::results::Results;
use crate::record::ResultDirectory;

/// Letters of a figure's file name.
const NAME: usize = 60;

/// Writes `report.html` and `figures/*.svg` of a result directory, and says where the page is. Also of a run that was
/// interrupted, that failed in part, or that has not measured anything yet; what is missing is said in it.
pub fn write(directory: &ResultDirectory) -> Result<PathBuf> {
    let results = Results::read(directory)?;
    let figures: Vec<Drawn> = results.plan.figures.iter().map(|figure| draw(&results, figure)).collect();
    write_figures(&directory.figures_path(), &figures)?;
    let path = directory.report_path();
    write_whole(&path, &page(&results, &figures))?;
    Ok(path)
}

/// Those of an earlier report are taken away first, as there may have been more.
fn write_figures(path: &Path, figures: &[Drawn]) -> Result<()> {
    fs::create_dir_all(path).with_context(|| format!("making {}", path.display()))?;
    for entry in fs::read_dir(path).with_context(|| format!("reading {}", path.display()))? {
        let old = entry.with_context(|| format!("reading {}", path.display()))?.path();
        if old.extension().is_some_and(|extension| extension == "svg") {
            fs::remove_file(&old).with_context(|| format!("removing {}", old.display()))?;
        }
    }
    for (figure, number) in figures.iter().zip(1..) {
        if let Some(chart) = &figure.chart {
            write_whole(&path.join(name(number, &chart.title)), &standalone(chart))?;
        }
    }
    Ok(())
}

/// A reader meanwhile sees the old one or the new one. Control characters, which programs write into their logs, are allowed in
/// no markup.
fn write_whole(path: &Path, text: &str) -> Result<()> {
    let kept = |letter: &char| !letter.is_control() || ['\n', '\t'].contains(letter);
    let beside = path.with_extension("part");
    let text: String = text.chars().filter(kept).collect();
    fs::write(&beside, text).with_context(|| format!("writing {}", beside.display()))?;
    fs::rename(&beside, path).with_context(|| format!("writing {}", path.display()))
}

/// `01-throughput-against-rtt.svg`.
fn name(number: usize, title: &str) -> String {
    let mut words = String::new();
    for letter in title.chars().flat_map(char::to_lowercase).take(NAME) {
        match letter {
            'a'..='z' | '0'..='9' => words.push(letter),
            _ if words.ends_with('-') || words.is_empty() => {}
            _ => words.push('-'),
        }
    }
    format!("{number:02}-{}.svg", words.trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_plain() {
        for (title, wanted) in [
            ("Throughput against rtt", "01-throughput-against-rtt.svg"),
            ("../<b>ä</b>\u{0}", "01-b-b.svg"),
            ("", "01-.svg"),
        ] {
            assert_eq!(name(1, title), wanted);
        }
        assert!(name(2, &"long ".repeat(100)).len() < 70);
    }
}
