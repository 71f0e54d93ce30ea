//! `howdah man`: the manual pages, from the same definitions as `--help`.

use std::fs;

use anyhow::Context;
use clap::CommandFactory;

use super::Failure;
use crate::arguments::{Howdah, ManArguments};

/// Writes `howdah.1` and a page for each subcommand.
pub fn run(arguments: &ManArguments) -> Result<(), Failure> {
    let directory = &arguments.directory;
    fs::create_dir_all(directory).with_context(|| format!("making {}", directory.display()))?;
    clap_mangen::generate_to(Howdah::command(), directory)
        .with_context(|| format!("writing manual pages into {}", directory.display()))?;
    Ok(())
}
