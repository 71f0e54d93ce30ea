//! `howdah check`: what was typed.

use std::path::PathBuf;

use clap::Args;

use crate::comparing::ClusterHead;

/// Check a configuration file and explain what is wrong in it, by line; or compare the heads of a cluster
///
/// Reads the file as `howdah serve --config` would, says everything that is wrong in one go, and starts nothing.
/// Directories must exist; host names are not looked up.
///
/// With --cluster, servers that run are asked as a client asks them, and what would hurt clients that move from one to another is
/// named: other exports, ids, keys, file numbers or sizes, equal write verifiers, clocks that differ. Nothing is changed on them.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct CheckArguments {
    /// The TOML file
    #[arg(value_name = "FILE", required_unless_present = "cluster", conflicts_with = "cluster")]
    pub file: Option<PathBuf>,

    /// Compare these heads, at least two: each by its own address, not by the one that moves between them
    ///
    /// A head is HOST or HOST:PORT, or an nfs:// URL with options (such as xprtsec=tls). This host must be among the clients of their
    /// exports; as root, more can be compared.
    #[arg(long, value_name = "HEAD", num_args = 2..)]
    pub cluster: Vec<ClusterHead>,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Print one JSON object, for machines: settings in effect and problems, or what each head answered and where they differ
    #[arg(long)]
    pub json: bool,
}

const AFTER: &str = "\
Examples:
  howdah check /etc/howdah.toml
  howdah check --cluster nfs1 nfs2
  howdah check /etc/howdah.toml --json | jq -r '.problems[] | \"\\(.file):\\(.line): \\(.message)\"'

Exit code: 0 the file is good, the heads agree; 1 heads disagree, or one cannot be asked; 2 the file is not good, wrong arguments.
";
