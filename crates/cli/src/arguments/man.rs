//! `howdah man`: what was typed.

use std::path::PathBuf;

use clap::Args;

/// Write the manual pages into a directory
#[derive(Debug, Args)]
pub struct ManArguments {
    /// Where to write howdah.1, howdah-serve.1 and the others; made if it is missing
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
}
