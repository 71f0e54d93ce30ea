//! `howdah top`: what was typed.

use std::time::Duration;

use clap::Args;

use super::AskedArguments;
use super::quantity::parse_time;
use crate::topping::Kind;

/// Watch what a running server does: its exports, clients and connections, what each moves, and what limits it
///
/// On a terminal a screen that is renewed; ? explains its keys and words. Where there is no terminal, or one that can do no more
/// (TERM=dumb), plain lines again and again. NO_COLOR is respected. If the server ends it is said, and asked again until it is back.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct TopArguments {
    /// What to show first, or, in lines, at all [default: clients; in lines: everything]
    #[arg(value_name = "TABLE", value_enum)]
    pub table: Option<Kind>,

    /// Look every so often
    #[arg(long, value_name = "SECONDS", value_parser = parse_time, default_value = "2")]
    pub interval: Duration,

    /// Only rows that hold these letters
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub filter: String,

    /// Sort TABLE by the column of this title, the largest first; with - before it the other way round
    #[arg(long, value_name = "COLUMN", requires = "table", allow_hyphen_values = true)]
    pub sort: Option<String>,

    /// Plain lines, though this is a terminal
    #[arg(long)]
    pub lines: bool,

    /// Show one interval, and end
    #[arg(long)]
    pub once: bool,

    /// Print JSON, for machines: an object per interval, on one line
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

Exit code: 0 it was shown, 1 no server runs or it cannot be asked (on a screen, and in
lines without --once, it is asked again instead, once it has answered), 2 wrong
arguments, 128 and more: a signal ended it.
";
