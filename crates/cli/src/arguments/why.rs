//! `howdah why`: what was typed.

use std::time::Duration;

use clap::Args;
use howdah_config::quantity::parse_time;

use super::AskedArguments;
use crate::admin::ClientName;

/// Show the bottleneck of each client of a running server, and what to do
///
/// Prints one sentence per client, the busiest first: the bottleneck of its reads or writes, the figures behind it, and what to change on
/// which side. The next line summarizes the last minute. Connections of a client with different bottlenecks have a sentence each.
/// The goal is "the path, which is full": the network carries what it can. Idle clients are listed on the last line.
///
/// The server always measures its TCP connections, so this command costs nothing. Mounts over UDP are not measured.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct WhyArguments {
    /// Only this client: its address, or address and port of one connection
    #[arg(value_name = "CLIENT")]
    pub client: Option<ClientName>,

    /// Show idle clients and each connection on lines of their own
    #[arg(long)]
    pub all: bool,

    /// Repeat at this interval [default with --watch: 2 s]
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "2",
          value_parser = parse_time)]
    pub watch: Option<Duration>,

    /// Print JSON; with --watch one object per line
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
      The same for one client, every two seconds.
  howdah why --json | jq -r '.servers[].clients[] | \"\\(.client) \\(.groups[0].verdict)\"'
      One word per client.

Exit code: 0 printed, 1 no server runs or it cannot be reached, 2 wrong arguments, 3 that client is not connected.
";
