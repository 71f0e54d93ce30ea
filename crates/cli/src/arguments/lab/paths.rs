//! `howdah lab paths`: what was typed.

use clap::Args;

/// List the built-in paths, their properties, and the source of their figures
#[derive(Debug, Args)]
pub struct PathsArguments {
    /// Only this one, in the form of a plan
    #[arg(value_name = "NAME")]
    pub name: Option<String>,

    /// Print one JSON object, for machines
    #[arg(long)]
    pub json: bool,
}
