//! `howdah cluster-key`.

use std::path::PathBuf;

use clap::Args;

/// Create the secret that all heads of a cluster share
///
/// Heads are servers that serve the same files, on a cluster file system that is mounted on each of them. Copy the file to
/// every head, readable by its owner only, and name it in each configuration: key_file in [cluster]. File handles of one head
/// are then valid on all heads.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Exit code: 0 success, 1 the file exists already or cannot be written, 2 wrong arguments."
)]
pub struct ClusterKeyArguments {
    /// File to create
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}
