//! What can be typed after `cargo xtask trust`.

use std::path::PathBuf;

use super::CAMPAIGNS;

/// Try to break what howdah promises: kills, power cuts, faults; every byte and every name is compared with a model
///
/// It runs in a sandbox (namespaces of its own, a directory of its own), which goes when it ends; what a killed run leaves of
/// its directory is removed by the next. `power-cut` and `faults` need root. What follows from the seed is what is called and
/// when things happen, as far as that is ours to choose; threads and kernels add their own.
#[derive(Debug, Default, clap::Args)]
pub struct Arguments {
    /// Only these; without any, all
    #[arg(value_name = "CAMPAIGN", value_parser = clap::builder::PossibleValuesParser::new(CAMPAIGNS.iter().map(|campaign| campaign.name)))]
    pub campaigns: Vec<String>,

    /// A short form of each: all of them in some two minutes
    #[arg(long)]
    pub quick: bool,

    /// The seed of every choice [default: the time]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// How many kills, cuts or steps, instead of the campaign's own number; of faults, how many seconds each lasts
    #[arg(long, value_name = "N")]
    pub times: Option<u64>,

    /// How long `soak` takes [default: 120, with --quick half of one]
    #[arg(long, value_name = "N", value_parser = minutes)]
    pub minutes: Option<f64>,

    /// Where `soak` leaves its samples, its figure and its report [default: nowhere]
    #[arg(long, value_name = "DIR")]
    pub results: Option<PathBuf>,

    /// Judge and draw again what `soak` left there, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["campaigns", "quick", "seed", "times", "minutes", "results", "binary"])]
    pub report: Option<PathBuf>,

    /// The howdah to try [default: the release binary of this workspace, or the debug one]
    #[arg(long, value_name = "FILE")]
    pub binary: Option<PathBuf>,
}

fn minutes(text: &str) -> Result<f64, String> {
    let minutes = text.parse().ok().filter(|minutes: &f64| (0.25..=7.0 * 24.0 * 60.0).contains(minutes));
    minutes.ok_or_else(|| "minutes from 0.25 to a week of them".to_owned())
}
