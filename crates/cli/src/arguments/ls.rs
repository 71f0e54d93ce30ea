//! `howdah ls`: what was typed.

use clap::Args;

use crate::places::Location;

/// List directories, local or at nfs:// URLs
///
/// Names in the order of their bytes, one a line. A directory with more than 200,000 names needs -U.
#[derive(Debug, Args)]
pub struct LsArguments {
    /// Paths or nfs:// URLs
    #[arg(value_name = "PLACE", default_value = ".")]
    pub places: Vec<Location>,

    /// Show kind, mode, links, owner, group, size and time of change, too
    #[arg(short, long)]
    pub long: bool,

    /// Show names that begin with a dot, too
    #[arg(short, long)]
    pub all: bool,

    /// Do not sort: print names as the server lists them. For directories with more names than ls sorts
    #[arg(short = 'U', long)]
    pub unsorted: bool,

    /// List the directories in each directory, too
    #[arg(short = 'R', long)]
    pub recursive: bool,

    /// Print one JSON object per entry and line, with all attributes, for machines
    #[arg(long)]
    pub json: bool,
}
