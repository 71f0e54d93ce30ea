//! `howdah heads`: what was typed.

use std::path::PathBuf;

use clap::Args;

/// Show all heads of a cluster: their state, addresses and clients, and what limits the clients
///
/// Reads the records that each head writes to the cluster file system every second. It contacts no head, so it works on every
/// host that mounts that file system, even while heads are down. A head that has written nothing for 4 seconds is down.
#[derive(Debug, Clone, Args)]
#[command(after_help = AFTER)]
pub struct HeadsArguments {
    /// Directory of the records: `records` in [cluster]
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
