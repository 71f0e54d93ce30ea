//! `howdah stat`: what was typed.

use std::time::Duration;

use clap::Args;
use howdah_config::quantity::parse_time;
use howdah_daemon::places::Location;

use super::AskedArguments;

/// Show the calls of a running server and their latency, or all attributes of files
///
/// Without a PLACE: calls per procedure since the server started, with errors, latency and the part of it spent in storage, as
/// nfsstat -s and nfsiostat do for the kernel's server. With --interval: rates per second in each interval.
///
/// With PLACEs: all attributes of these files; a symbolic link is not followed. For the root of an export (or any path with
/// --file-system) also the usage and limits of its file system.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct StatArguments {
    /// Paths or nfs:// URLs of files [default: the server on this host]
    #[arg(value_name = "PLACE")]
    pub places: Vec<Location>,

    /// Print JSON, for machines: one object per place, or one for the server (with --interval one per line)
    #[arg(long)]
    pub json: bool,

    /// Also show the file system of each
    #[arg(short = 'f', long, requires = "places", help_heading = "Of files")]
    pub file_system: bool,

    /// What to show of a server.
    #[command(flatten)]
    pub counted: CountedArguments,
}

/// What to show of a server.
#[derive(Debug, Args)]
pub struct CountedArguments {
    /// Only calls for this export, named as clients mount it
    #[arg(long, value_name = "NAME", conflicts_with = "places", help_heading = "Of a server")]
    pub export: Option<String>,

    /// Repeat at this interval, and show rates instead of totals
    #[arg(long, value_name = "SECONDS", value_parser = parse_time, conflicts_with = "places",
          help_heading = "Of a server")]
    pub interval: Option<Duration>,

    /// Stop after this many intervals
    #[arg(long, value_name = "N", requires = "interval", value_parser = clap::value_parser!(u64).range(1..),
          help_heading = "Of a server")]
    pub count: Option<u64>,

    /// Which server.
    #[command(flatten)]
    pub asked: AskedArguments,
}

const EXAMPLES: &str = "\
Examples:
  howdah stat
      Totals since the server started.
  howdah stat --interval 2
      Rates, every two seconds; the first after two seconds.
  howdah stat --export /data --interval 10 --count 1 --json
      Rates of one export over ten seconds, for a script.
  howdah stat nfs://server/export/file /tmp/file
      Attributes of two files.

How to read it:
  The time of a call runs from its last byte received to the last byte of its reply
  handed to the socket. stor is the part spent in the file system, or in sending a
  range of a file. If p99 and stor are both high, the disk is slow. If stor is low,
  replies wait for the network, or calls that arrived together wait for each other:
  see howdah why. If many fast calls arrive at once, stor is estimated from one call
  in 32.

Exit code: 0 success, 1 no server runs or it does not answer, or a place cannot be read,
2 wrong arguments, 3 that export is not served.
";
