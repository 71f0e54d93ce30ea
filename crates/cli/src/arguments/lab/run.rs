//! `howdah lab run`: what was typed.

use std::path::PathBuf;

use clap::Args;

/// Run an experiment: every cell of a plan, with results, a report and conclusions
///
/// Shows progress, and at the end a table of medians next to the original figures, and whether each claim of the plan held. A
/// cell that fails is reported and recorded; the others still run. Ctrl-C stops cleanly and keeps the results; the same command
/// with --to DIR resumes from there.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LabRunArguments {
    /// The plan: a name that `howdah lab list` shows, or a file
    #[arg(value_name = "PLAN")]
    pub plan: String,

    /// The plan's short form, of under two minutes
    #[arg(long)]
    pub quick: bool,

    /// Directory for results [default: lab-results/PLAN-DATE-TIME]; an interrupted run in it is resumed
    #[arg(long, value_name = "DIR")]
    pub to: Option<PathBuf>,

    /// Only this cell, by its number in the table and in every row
    #[arg(long, value_name = "N")]
    pub cell: Option<u32>,

    /// Only cells with this level of a factor; may be given several times
    #[arg(long, value_name = "FACTOR=LEVEL", value_parser = parse_level)]
    pub only: Vec<(String, String)>,

    /// How often each cell is measured [default: as the plan says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: Option<u32>,

    /// Random seed [default: as the plan says]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Only check the plan, and list its cells and their commands
    #[arg(long)]
    pub dry_run: bool,

    /// Print nothing but errors; the exit code says how it ended
    #[arg(short, long)]
    pub quiet: bool,

    /// Print one JSON object at the end, for machines: where results are, and whether each claim held
    #[arg(long, conflicts_with = "dry_run")]
    pub json: bool,
}

fn parse_level(text: &str) -> Result<(String, String), String> {
    let (factor, level) = text.split_once('=').ok_or("it is FACTOR=LEVEL, as rtt=30ms")?;
    Ok((factor.to_owned(), level.to_owned()))
}

const EXAMPLES: &str = "\
Examples:
  howdah lab run buffers-2008 --quick          A plan that is built in, short
  howdah lab run mine.toml --to results        A plan of your own
  howdah lab run buffers-2008 --cell 7         One cell alone, as it was in the table
  howdah lab run buffers-2008 --only rtt=30ms  Some of its cells

Exit code: 0 all cells ran and all claims that could be judged held, 1 could not run or was interrupted, 2 wrong arguments
or plan, 3 a cell failed, 4 all cells ran and a claim did not hold.
";
