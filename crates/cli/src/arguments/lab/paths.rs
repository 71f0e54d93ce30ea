//! `howdah lab paths`: what was typed.

use clap::Args;

/// Show the paths that have names, what they are like, and where their figures come from
#[derive(Debug, Args)]
pub struct PathsArguments {
    /// Only this one, as it would be written in a plan
    #[arg(value_name = "NAME")]
    pub name: Option<String>,

    /// Print one JSON object, for machines
    #[arg(long)]
    pub json: bool,
}
