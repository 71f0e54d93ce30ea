//! `howdah capture`: what was typed.

use std::time::Duration;

use clap::Args;

use super::AskedArguments;
use super::quantity::{parse_size, parse_time};

/// Record the calls of a running server, to be played again with howdah bench --replay
///
/// Each call becomes a line of JSON: procedure, when it came and how long it took, which file (by a hash), which bytes. No data is
/// recorded, nor who asked; names are hashed with a key that is forgotten. The record is bounded in calls, bytes and time, whichever
/// comes first; Ctrl-C ends it too, and the file is whole. The server is not slowed down by who reads: calls that come faster than they
/// are read are dropped and counted.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct CaptureArguments {
    /// The file to write; "-" is standard output
    #[arg(value_name = "FILE")]
    pub file: String,

    /// End after so long
    #[arg(long, value_name = "TIME", value_parser = parse_time, default_value = "60s")]
    pub time: Duration,

    /// End after so many calls
    #[arg(long, value_name = "N", default_value_t = howdah_server::capture::CALLS)]
    pub calls: u64,

    /// End when the file is so large
    #[arg(long, value_name = "SIZE", value_parser = parse_size, default_value = "256M")]
    pub size: u64,

    /// Record names as they are, not as hashes: anybody who gets the file can read them
    #[arg(long)]
    pub names: bool,

    /// Tell what was recorded as JSON
    #[arg(long)]
    pub json: bool,

    /// Which server.
    #[command(flatten)]
    pub asked: AskedArguments,
}

const EXAMPLES: &str = "\
Examples:
  howdah capture busy.jsonl --time 30s
      What the server that runs here is asked in half a minute.
  howdah bench nfs://other/empty --replay busy.jsonl
      The same calls, with the same timing, on files of its own on another server.
  howdah bench /srv/empty --replay busy.jsonl --speed max
      The same on its storage alone, as fast as it goes.
  howdah capture - --calls 1000 | jq -r 'select(.procedure == \"READ\") | .count'
      How much each READ of the next thousand calls asks for.

Exit code: 0 it was recorded, be it for a shorter time than asked for; 1 no server runs, it
cannot be asked, another capture runs, the file cannot be written, the server ended, or the
calls were not read for 15 seconds (howdah capture was stopped, or what it writes to was);
2 wrong arguments.
";
