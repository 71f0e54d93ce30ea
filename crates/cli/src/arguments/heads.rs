//! `howdah heads`: what was typed.

use std::path::PathBuf;

use clap::Args;

/// Show all heads of a cluster: which run, which addresses each serves, to whom, and what limits the clients
///
/// Reads what the heads write into the directory of records on the cluster file system each second. It works on every host that mounts
/// it, also while heads are down, and asks no head. A head that has written nothing for 4 seconds is down.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER)]
pub struct HeadsArguments {
    /// The directory that records names in [cluster]
    #[arg(value_name = "RECORDS")]
    pub records: PathBuf,

    /// Print one JSON object, for machines
    #[arg(long)]
    pub json: bool,
}

const AFTER: &str = "\
Examples:
  howdah heads /mnt/cluster/heads
  howdah heads /mnt/cluster/heads --json | jq -r '.heads[] | select(.state != \"up\") | .head'

Exit code: 0 all heads are up or were stopped, 1 one is down or the records cannot be read, 2 wrong arguments.
";
