//! `howdah nics`: what was typed.

use std::time::Duration;

use clap::Args;

use howdah_config::quantity::parse_time;

/// Show the traffic of each network interface of this host: rate, packets, their size, link utilization, errors and drops
///
/// Like nicstat. Without --interval it measures for one second. Interfaces without traffic are left out, unless you name them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct NicsArguments {
    /// Only these interfaces
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,

    /// Repeat at this interval
    #[arg(long, value_name = "SECONDS", value_parser = parse_time)]
    pub interval: Option<Duration>,

    /// Stop after this many intervals
    #[arg(long, value_name = "N", requires = "interval", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,

    /// Draw rates as bars, relative to the link's speed or, if it has none, to the highest rate so far
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

used is the utilization of the link in its busier direction, or in both directions together
if it is half duplex. Virtual interfaces have no speed. err and drop are packets per second.
If drops grow with the rate, use larger rings (ethtool -g NAME shows them, ethtool -G NAME
rx N sets them) or more CPUs.

Exit code: 0 success, 1 the kernel shows no interfaces here, 2 wrong arguments, 3 no interface
has such a name.
";
