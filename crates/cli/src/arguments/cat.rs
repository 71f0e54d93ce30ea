//! `howdah cat`: what was typed.

use clap::Args;
use clap::builder::RangedU64ValueParser;

use howdah_daemon::places::Location;

/// Print files, local or at nfs:// URLs, to standard output
///
/// Keeps as many reads in flight as the path to the server needs, and prints their data in order.
#[derive(Debug, Args)]
pub struct CatArguments {
    /// Paths or nfs:// URLs
    #[arg(value_name = "PLACE", required = true)]
    pub places: Vec<Location>,

    /// Reads in flight [default: as many as the path needs]
    #[arg(short, long, value_name = "N", value_parser = RangedU64ValueParser::<usize>::new().range(1..=256))]
    pub jobs: Option<usize>,
}
