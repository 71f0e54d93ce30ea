//! `howdah completions`: what was typed.

use clap::Args;
use clap_complete::Shell;

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example: howdah completions bash > /etc/bash_completion.d/howdah")]
pub struct CompletionsArguments {
    /// Which shell
    pub shell: Shell,
}
