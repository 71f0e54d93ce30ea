//! `howdah cat`: what was typed.

use clap::Args;
use clap::builder::RangedU64ValueParser;

use crate::places::Location;

/// Print files, local or at nfs:// URLs, to standard output
///
/// Several reads are on their way at once, and their data comes out in order.
#[derive(Debug, Args)]
pub struct CatArguments {
    /// Paths or nfs:// URLs
    #[arg(value_name = "PLACE", required = true)]
    pub places: Vec<Location>,

    /// Most reads on their way at once
    #[arg(short, long, value_name = "N", default_value_t = 16, value_parser = RangedU64ValueParser::<usize>::new().range(1..=256))]
    pub jobs: usize,
}
