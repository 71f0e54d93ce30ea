//! `howdah nics`: what was typed.

use std::time::Duration;

use clap::Args;

use super::quantity::parse_time;

/// Show what each network interface of this host carries: rate, packets, their size, how full the link is, errors and drops
///
/// As nicstat does. Without --interval it looks for one second. Interfaces that carry nothing are left out, unless they are named.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct NicsArguments {
    /// Only these interfaces
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// Show it again and again, after so long
    #[arg(long, value_name = "SECONDS", value_parser = parse_time)]
    pub interval: Option<Duration>,

    /// End after so many intervals
    #[arg(long, value_name = "N", requires = "interval", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// Draw rates as bars, of the link's speed, or where there is none of the highest rate so far
    #[arg(long, conflicts_with = "json")]
    pub plot: bool,

    /// Print JSON, for machines: an object per interval, on one line
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "\
Examples:
  howdah nics
  howdah nics eth0 eth1 --interval 2 --plot
  howdah nics --interval 10 --count 1 --json | jq '.interfaces[] | {name, used}'

used is the share of the link's speed that the busier way takes, or both together where
the link is half duplex; virtual interfaces have no speed. err and drop are packets per
second; drops that grow with the rate want larger rings (ethtool -g NAME shows them,
ethtool -G NAME rx N sets them), or more CPUs.

Exit code: 0 it was shown, 1 the kernel does not show interfaces here, 2 wrong
arguments, 3 no interface has such a name.
";
