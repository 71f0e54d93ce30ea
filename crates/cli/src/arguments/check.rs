//! `howdah check`: what was typed.

use std::path::PathBuf;

use clap::Args;

use crate::heads::ClusterHead;

/// Check a configuration file and explain each error by its line; or compare the heads of a cluster
///
/// Reads the file as `howdah serve --config` would, and reports all errors at once. It starts nothing. Directories must exist;
/// host names are not resolved.
///
/// With --cluster, it queries running heads as a client does, and reports what breaks clients that move between them: different
/// exports, ids, keys, file numbers or sizes, equal write verifiers, or clocks that differ. It changes nothing on the heads.
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub struct CheckArguments {
    /// The TOML file
    #[arg(value_name = "FILE", required_unless_present = "cluster", conflicts_with = "cluster")]
    pub file: Option<PathBuf>,

    /// Compare these heads, at least two: each by its own address, not by an address that moves between heads
    ///
    /// A head is HOST or HOST:PORT, or an nfs:// URL with options (such as xprtsec=tls). Their exports must allow this host. As
    /// root, the command can compare more.
    #[arg(long, value_name = "HEAD", num_args = 2..)]
    pub cluster: Vec<ClusterHead>,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,

    /// Print one JSON object, for machines: settings in effect and problems, or the answers of each head and the differences
    #[arg(long)]
    pub json: bool,
}

const AFTER: &str = "\
Examples:
  howdah check /etc/howdah.toml
  howdah check --cluster nfs1 nfs2
  howdah check /etc/howdah.toml --json | jq -r '.problems[] | \"\\(.file):\\(.line): \\(.message)\"'

Exit code: 0 the file is valid, or the heads agree; 1 heads differ, or one does not answer; 2 the file is not valid, or wrong arguments.
";
