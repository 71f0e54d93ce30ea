//! `howdah exports`: what was typed.

use std::path::PathBuf;

use clap::Args;

/// Show every setting in effect, of running servers or of a file; convert /etc/exports
///
/// Without options it shows the settings that each running server of this user recorded at its start or last reload. For a
/// server on another host, use showmount -e HOST.
///
/// With --from it converts a Linux exports file to a configuration on standard output. For options without an equivalent it
/// prints a warning on standard error, with the line and what to do.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct ExportsArguments {
    /// Show the settings of this file, including defaults, instead of those of running servers
    #[arg(long, value_name = "FILE", conflicts_with_all = ["state", "from"])]
    pub config: Option<PathBuf>,

    /// Convert this Linux exports file, usually /etc/exports
    #[arg(long, value_name = "FILE", conflicts_with = "state")]
    pub from: Option<PathBuf>,

    /// State directory of the running servers, if they were started with --state
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,

    /// Print one JSON object, for machines: every setting in effect
    #[arg(long, conflicts_with = "from")]
    pub json: bool,
}

const AFTER: &str = "\
Examples:
  howdah exports --from /etc/exports > howdah.toml
  howdah check howdah.toml
  howdah exports --json | jq -r '.servers[].settings.exports[] | \"\\(.name) \\(.id)\"'

Exit code: 0 shown or converted (warnings included), 1 no server runs, or a line, a client or a misspelled option was left out, 2 wrong arguments \
or configuration.
";
