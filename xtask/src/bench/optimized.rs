//! `cargo xtask` builds without optimization, which suits every other errand. A load and floors built like that would
//! measure themselves; so the bench runs itself again, optimized.

use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;

/// Becomes the same command, built for release.
pub fn run() -> anyhow::Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--release", "--package", env!("CARGO_PKG_NAME"), "--"]);
    Err(command.args(std::env::args_os().skip(1)).exec()).context("running cargo")
}
