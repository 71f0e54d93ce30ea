//! `howdah lab list`: what was typed.

use clap::Args;

/// List the built-in experiments: their question, number of cells and duration
#[derive(Debug, Args)]
pub struct ListArguments {
    /// Print the text of this one, to start a plan of your own
    #[arg(value_name = "NAME")]
    pub name: Option<String>,

    /// Print one JSON object, for machines
    #[arg(long, conflicts_with = "name")]
    pub json: bool,
}
