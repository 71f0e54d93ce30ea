//! What a run would do: its cells, and the commands in each.

use std::path::Path;

use howdah_lab::run::{Job, planned_commands};

use crate::commands::Failure;
use crate::commands::bench::quoted;

/// Each cell once, with its levels and its commands. Directories that a run makes stand as words in capitals.
pub fn dry_run(jobs: &[Job]) -> Result<String, Failure> {
    let mut text = String::new();
    for job in jobs.iter().filter(|job| job.repetition == jobs[0].repetition) {
        let levels: Vec<String> =
            job.cell.factors.iter().map(|(factor, level)| format!("{factor} {level}")).collect();
        text.push_str(&format!("cell {}: {}\n", job.cell.number, levels.join(", ")));
        for command in planned_commands(job, Path::new("howdah"))? {
            let words: Vec<String> = command.command.iter().map(|word| quoted(word)).collect();
            text.push_str(&format!("  {:<8} {}\n", command.host, words.join(" ")));
        }
    }
    let cells = jobs.iter().filter(|job| job.repetition == jobs[0].repetition).count();
    text.push_str(&format!("{cells} cells, {} runs\n", jobs.len()));
    Ok(text)
}
