//! `howdah ls`: what was typed.

use clap::Args;

use howdah_daemon::places::Location;

/// List directories, local or at nfs:// URLs
///
/// One name per line, sorted by bytes. A directory with more than 200,000 names needs -U.
#[derive(Debug, Args)]
pub struct LsArguments {
    /// Paths or nfs:// URLs
    #[arg(value_name = "PLACE", default_value = ".")]
    pub places: Vec<Location>,

    /// Also show type, mode, links, owner, group, size and modification time
    #[arg(short, long)]
    pub long: bool,

    /// Also show names that begin with a dot
    #[arg(short, long)]
    pub all: bool,

    /// Do not sort: print names in the order of the server, for directories with more names than ls sorts
    #[arg(short = 'U', long)]
    pub unsorted: bool,

    /// Also list the directories in each directory
    #[arg(short = 'R', long)]
    pub recursive: bool,

    /// Print one JSON object per entry and line, with all attributes, for machines
    #[arg(long)]
    pub json: bool,
}
