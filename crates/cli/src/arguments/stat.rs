//! `howdah stat`: what was typed.

use clap::Args;

use crate::places::Location;

/// Show all attributes of files, local or at an nfs:// URL
///
/// Of a symbolic link, the link's own. Of the root of an export (or of any path with --file-system) also how full its
/// file system is and what it can store.
#[derive(Debug, Args)]
pub struct StatArguments {
    /// Paths or nfs:// URLs
    #[arg(value_name = "PLACE", required = true)]
    pub places: Vec<Location>,

    /// Show the file system that each is on, too
    #[arg(short = 'f', long)]
    pub file_system: bool,

    /// Print one JSON object per place, for machines
    #[arg(long)]
    pub json: bool,
}
