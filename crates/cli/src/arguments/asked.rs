//! Which running server is asked: what was typed.

use std::path::PathBuf;

use clap::Args;

use crate::admin::ServerName;

/// Which server is meant.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub struct AskedArguments {
    /// Which server, if several run: its process id (4711), its listen address (:2049), or the path of its admin socket
    #[arg(long, value_name = "SERVER")]
    pub server: Option<ServerName>,

    /// State directory of the server, if it was started with --state
    #[arg(long, value_name = "DIR")]
    pub state: Option<PathBuf>,
}
