//! `howdah lab report`: what was typed.

use std::path::PathBuf;

use clap::Args;

/// Write the report of results again: DIR/report.html, and each figure as DIR/figures/*.svg
///
/// `howdah lab run` does so at its end. Use this for an earlier run, also one that was interrupted or still runs, and after
/// changes to captions, figures or claims in DIR/plan.toml. It prints the path of the page, and opens nothing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReportArguments {
    /// The result directory [default: the latest in lab-results]
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

const EXAMPLES: &str = "\
Examples:
  howdah lab report                                            Of the latest results
  howdah lab report lab-results/buffers-2008-20261122-040000   Of these

Exit code: 0 written, whatever the results say, 1 could not, 2 wrong arguments, or DIR holds no results.
";
