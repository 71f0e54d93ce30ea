//! `howdah stat`: what was typed.

use std::time::Duration;

use clap::Args;

use super::AskedArguments;
use super::quantity::parse_time;
use crate::places::Location;

/// Show what a running server was asked and how long it took; or, of places, all attributes of files
///
/// Without a PLACE: calls per procedure since the server started, their errors, how long they took and how much of that was storage, as
/// nfsstat -s and nfsiostat do for the kernel's server. With --interval what comes in each interval, per second.
///
/// With PLACEs: all attributes of these files. Of a symbolic link, the link's own. Of the root of an export (or of any path
/// with --file-system) also how full its file system is and what it can store.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct StatArguments {
    /// Paths or nfs:// URLs of files; none: the server that runs here
    #[arg(value_name = "PLACE")]
    pub places: Vec<Location>,

    /// Print JSON, for machines: an object per place, or one of the server, with --interval one a line
    #[arg(long)]
    pub json: bool,

    /// Show the file system that each is on, too
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

    /// Show rates, again and again after so long, instead of sums
    #[arg(long, value_name = "SECONDS", value_parser = parse_time, conflicts_with = "places",
          help_heading = "Of a server")]
    pub interval: Option<Duration>,

    /// End after so many intervals
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
      Sums since the server started.
  howdah stat --interval 2
      Rates, every two seconds; the first after two seconds.
  howdah stat --export /data --interval 10 --count 1 --json
      What comes for one export in ten seconds, for a script.
  howdah stat nfs://server/export/file /tmp/file
      Attributes of two files.

How to read it:
  A call's time goes from all of it being received to all of its reply being handed
  to the socket. stor is the part of it in which the file system was asked, or a
  range of a file was sent. If p99 is high and stor too, the disk is slow. If stor is
  low, replies wait for the network, or calls that came together for each other:
  howdah why tells more. Where many quick calls come at once, stor is estimated from
  one in thirty-two.

Exit code: 0 it was shown, 1 no server runs or it cannot be asked, or a place cannot be
had, 2 wrong arguments, 3 that export is not served.
";
