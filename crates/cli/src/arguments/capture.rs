//! `howdah capture`: what was typed.

use std::time::Duration;

use clap::Args;
use howdah_config::quantity::parse_time;
use howdah_tune::sizes::parse_size;

use super::AskedArguments;

/// Record the calls of a running server, for howdah bench --replay
///
/// Each call becomes a line of JSON: procedure, arrival, duration, file (as a hash) and byte range. It records no data and no
/// callers; names are hashed with a key that is then discarded. It stops at a limit of calls, bytes or time, or on Ctrl-C; the
/// file is complete in each case. It does not slow the server down: calls that arrive faster than they are read are dropped and
/// counted.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CaptureArguments {
    /// The file to write; "-" is standard output
    #[arg(value_name = "FILE")]
    pub file: String,

    /// Stop after this time
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "60s")]
    pub time: Duration,

    /// Stop after this many calls
    #[arg(long, value_name = "N", default_value_t = howdah_server::capture::CALLS)]
    pub calls: u64,

    /// Stop at this size of the file
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "256M")]
    pub size: u64,

    /// Record names in plain text, not as hashes: anyone with the file can read them
    #[arg(long)]
    pub names: bool,

    /// Print the summary as JSON
    #[arg(long)]
    pub json: bool,

    /// Which server.
    #[command(flatten)]
    pub asked: AskedArguments,
}

const EXAMPLES: &str = "\
Examples:
  howdah capture busy.jsonl --time 30s
      The calls of the server on this host during 30 seconds.
  howdah bench nfs://other/empty --replay busy.jsonl
      The same calls, with the same timing, on files of its own on another server.
  howdah bench /srv/empty --replay busy.jsonl --speed max
      The same on the server's storage alone, as fast as possible.
  howdah capture - --calls 1000 | jq -r 'select(.procedure == \"READ\") | .count'
      The size of each READ among the next 1000 calls.

Exit code: 0 recorded, even if it stopped early; 1 no server runs or it does not answer,
another capture runs, the file cannot be written, the server stopped, or the calls were not
read for 15 seconds (howdah capture, or the program that reads its output, was suspended);
2 wrong arguments.
";
