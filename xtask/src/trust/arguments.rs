//! What can be typed after `cargo xtask trust`.

use std::path::PathBuf;

use super::CAMPAIGNS;

/// Try to break what howdah promises: kills, power cuts, faults; every byte and every name is compared with a model
///
/// It runs in a sandbox (namespaces of its own, a directory of its own), which goes when it ends; what a killed run leaves of
/// its directory is removed by the next. `power-cut` and `faults` need root. What follows from the seed is what is called and
/// when things happen, as far as that is ours to choose; threads and kernels add their own.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Only these; without any, all
    #[arg(value_name = "CAMPAIGN", value_parser = clap::builder::PossibleValuesParser::new(CAMPAIGNS.iter().map(|campaign| campaign.name)))]
    pub campaigns: Vec<String>,

    /// A short form of each: all of them in two minutes
    #[arg(long)]
    pub quick: bool,

    /// The seed of every choice [default: the time]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// How many kills, cuts or steps, instead of the campaign's own number
    #[arg(long, value_name = "N")]
    pub times: Option<u64>,

    /// The howdah to try [default: the release binary of this workspace, or the debug one]
    #[arg(long, value_name = "FILE")]
    pub binary: Option<PathBuf>,
}
