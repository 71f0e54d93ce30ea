//! `howdah cluster-key`.

use std::path::PathBuf;

use clap::Args;

/// Make the secret that all heads of a cluster share
///
/// Heads are servers that serve the same files, on a cluster file system that is mounted on each of them. Copy the file to every
/// head, for its owner alone, and name it in the configuration of each: key_file in [cluster]. Handles that one head gave out are then
/// good at all of them.
#[derive(Debug, Clone, Args)]
#[command(
    after_help = "Exit code: 0 made, 1 the file is there already or cannot be written, 2 wrong arguments."
)]
pub struct ClusterKeyArguments {
    /// The file to make
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}
