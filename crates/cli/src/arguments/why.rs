//! `howdah why`: what was typed.

use std::time::Duration;

use clap::Args;

use super::AskedArguments;
use super::quantity::parse_time;
use crate::asking::ClientName;

/// Say what limits each client of a running server, why, and what to do about it
///
/// For each client one sentence, the busiest first: what limits its reads or writes now, the figures that show it, and,
/// where something can be done, what and on which side; below it how the last minute was spent. A client's connections that
/// different things limit have a sentence each. "The path, which is full" is the goal: the network carries what it can. Who moves
/// nothing stands on the last line.
///
/// The server watches its TCP connections all the time, so that asking costs nothing. Mounts over UDP are not told.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WhyArguments {
    /// Only this client: its address, or address and port of one connection
    #[arg(value_name = "CLIENT")]
    pub client: Option<ClientName>,

    /// Show idle clients, and each connection, on lines of their own
    #[arg(long)]
    pub all: bool,

    /// Ask again and again, after so long [default with --watch: 2 s]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "2",
          value_parser = parse_time)]
    pub watch: Option<Duration>,

    /// Print JSON, for machines; with --watch an object a line
    #[arg(long)]
    pub json: bool,

    /// Which server.
    #[command(flatten)]
    pub asked: AskedArguments,
}

const EXAMPLES: &str = "\
Examples:
  howdah why
      10.0.0.7: writes limited by the client's send buffer: 2.7 MB in flight per round trip of 100 ms; mount with
      nconnect=8, or …
  howdah why 10.0.0.7 --watch
      The same of one client, every two seconds, while something is copied.
  howdah why --json | jq -r '.servers[].clients[] | \"\\(.client) \\(.groups[0].verdict)\"'
      A word for each client.

Exit code: 0 it was said, 1 no server runs or it cannot be asked, 2 wrong arguments, 3 that client is not connected.
";
