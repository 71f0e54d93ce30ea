//! `howdah exports`: what was typed.

use std::path::PathBuf;

use clap::Args;

/// Show every setting that holds, of a file or of the servers that run here
///
/// Without --config it shows what each running server of this user wrote down when it started or last reloaded.
/// For a server elsewhere, ask it by protocol: showmount -e HOST.
#[derive(Debug, Args)]
pub struct ExportsArguments {
    /// Show what this file means, defaults included, instead of what runs
    #[arg(long, value_name = "FILE", conflicts_with = "state")]
    pub config: Option<PathBuf>,

    /// State directory of the running servers, if they were started with --state
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}
