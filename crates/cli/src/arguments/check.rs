//! `howdah check`: what was typed.

use std::path::PathBuf;

use clap::Args;

/// Check a configuration file and explain what is wrong in it, by line
///
/// Reads the file as `howdah serve --config` would, says everything that is wrong in one go, and starts nothing.
/// Directories must exist; host names are not looked up.
#[derive(Debug, Args)]
#[command(after_help = "Exit code: 0 the file is good, 2 it is not.")]
pub struct CheckArguments {
    /// The TOML file
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
}
