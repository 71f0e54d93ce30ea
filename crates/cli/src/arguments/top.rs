//! `howdah top`: what was typed.

use std::time::Duration;

use clap::Args;
use howdah_config::quantity::parse_time;
use howdah_top::Kind;

use super::AskedArguments;

/// Watch a running server: exports, clients and connections with their throughput and bottleneck
///
/// On a terminal it refreshes the screen; ? explains keys and words. Elsewhere, or with TERM=dumb, it prints lines. NO_COLOR is
/// respected. If the server stops, top reports it and retries until the server is back.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TopArguments {
    /// The table to show first; with plain lines the only one [default: clients; plain lines: all]
    #[arg(value_name = "TABLE", value_enum)]
    pub table: Option<Kind>,

    /// Refresh interval
    #[arg(long, value_name = "SECONDS", value_parser = parse_time, default_value = "2")]
    pub interval: Duration,

    /// Only rows that contain this text
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub filter: String,

    /// Sort TABLE by this column, largest first; with - in front, smallest first
    #[arg(long, value_name = "COLUMN", requires = "table", allow_hyphen_values = true)]
    pub sort: Option<String>,

    /// Print plain lines, even on a terminal
    #[arg(long)]
    pub lines: bool,

    /// Show one interval and exit
    #[arg(long)]
    pub once: bool,

    /// Print JSON: one object per interval, on one line
    #[arg(long, conflicts_with = "lines")]
    pub json: bool,

    /// Which server.
    #[command(flatten)]
    pub asked: AskedArguments,
}

const EXAMPLES: &str = "\
Examples:
  howdah top
      Clients, the busiest first; tab goes to connections and exports, q ends.
  howdah top connections --filter 10.0.0.7 --sort RTT
      The connections of one client, that with the longest round trip first.
  howdah top --once clients | head
      Traffic of two seconds, in lines.
  howdah top --once --json | jq -r '.clients[] | \"\\(.client) \\(.verdict)\"'
      A word for each client, for a script.

Exit code: 0 success, 1 no server runs or it does not answer, 2 wrong arguments, 128 and
more: ended by a signal. Without --once, top retries if a server stops answering; it then
does not exit with 1.
";
