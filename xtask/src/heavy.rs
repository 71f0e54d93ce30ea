//! Errands that need howdah's own crates. Another package has them, so that this one is built in seconds.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::Workspace;

/// The package that has them.
const PACKAGE: &str = "howdah-errands";

/// What is passed on as it was typed.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    #[arg(value_name = "ARGUMENT", allow_hyphen_values = true, trailing_var_arg = true, hide = true)]
    words: Vec<OsString>,
}

/// How an errand is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// As this program was.
    AsThis,
    /// Optimized: what measures would else measure itself.
    Optimized,
}

/// Becomes this errand.
pub fn become_errand(name: &str, build: Build, arguments: &Arguments) -> Result<std::convert::Infallible> {
    let asks_for_help = arguments.words.iter().any(|word| word == "--help" || word == "-h");
    let build = if asks_for_help { Build::AsThis } else { build };
    let mut command = command(&Workspace::find()?, name, build);
    Err(command.args(&arguments.words).exec()).context("running cargo")
}

/// The command that builds an errand and runs it.
pub fn command(workspace: &Workspace, name: &str, build: Build) -> Command {
    let mut command = Command::new(workspace.cargo());
    command.args(["run", "--quiet", "--package", PACKAGE]);
    if build == Build::Optimized || !cfg!(debug_assertions) {
        command.arg("--release");
    }
    // Cargo finds the workspace by the manifest: paths that were typed are those of the current directory.
    command.arg("--manifest-path").arg(workspace.root.join("Cargo.toml"));
    command.args(["--", name]);
    command
}
