//! `howdah doctor`: what was typed.

use std::path::PathBuf;

use clap::Args;

use super::quantity::parse_rate;

/// Find the layer that limits: this host, its interfaces, the path, storage or NFS, and say what to change
///
/// Measures one layer at a time, from below, and names the first that limits. Without a URL it looks at this host: its
/// settings, its interfaces, its NFS mounts. It changes nothing unless asked with --apply.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct DoctorArguments {
    /// The server and export to look along the path to: nfs://HOST/EXPORT
    #[arg(value_name = "URL", conflicts_with = "from")]
    pub url: Option<String>,

    /// Write there too, in a directory of its own that is removed
    #[arg(long, requires = "url")]
    pub write: bool,

    /// Measure this directory of this host too, as what lies behind an export: writes in a directory that is removed
    #[arg(long, value_name = "DIR", conflicts_with = "from")]
    pub storage: Option<String>,

    /// What the path should carry, as 1Gbit or 100MB (bytes) a second; else the interface's speed, if it has one
    #[arg(long, value_name = "RATE", requires = "url", value_parser = parse_rate)]
    pub expect: Option<f64>,

    /// Judge what an earlier run with --json saw, here or on another host
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,

    /// Print JSON, for machines: verdicts, findings, remedies, and all figures that were seen
    #[arg(long, conflicts_with = "apply")]
    pub json: bool,

    /// Make the changes that can be made on this host, after asking; print what undoes them
    #[arg(long, conflicts_with = "from")]
    pub apply: bool,

    /// With --apply: do not ask
    #[arg(long, requires = "apply")]
    pub yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  howdah doctor nfs://host/export            Up the ladder to that server; nothing is written
  howdah doctor nfs://host/export --write    With writes, in a directory that is removed
  howdah doctor nfs://host/export --expect 1Gbit
  howdah doctor --storage /srv/data          This host, and what its disks do
  howdah doctor                              This host: settings, interfaces, mounts
  howdah doctor --json > facts.json          What was seen, for another person or later
  howdah doctor --from facts.json            What that says
  sudo howdah doctor --apply                 Change what is worth changing, after asking

Exit code: 0 nothing limits, 1 something does, 2 it could not be found out or the
arguments are wrong.
";
