//! `howdah exports`.

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::Failure;
use crate::arguments::ExportsArguments;
use crate::configuration::{load_file, state_directory};
use crate::converting::convert;
use crate::report;
use crate::running::running_servers;

/// Shows every setting that holds.
pub fn run(arguments: &ExportsArguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.config {
        let config = load_file(file).map_err(Failure::Usage)?;
        report::print(&report::exports(&config.exports, &[]));
        return Ok(());
    }
    if let Some(file) = &arguments.from {
        return convert_file(file);
    }
    let state = match &arguments.state {
        Some(state) => state.clone(),
        None => state_directory()
            .context("finding the state directory: this user has no home; use --state DIR")?,
    };
    let servers = running_servers(&state)?;
    if servers.is_empty() {
        return Err(Failure::Runtime(anyhow::anyhow!(
            "no running howdah server found (looked in {})\n  for a server of another user use sudo; for another state \
             directory --state DIR; for another host showmount -e HOST",
            state.display()
        )));
    }
    let texts: Vec<String> = servers.into_iter().map(|server| server.text).collect();
    report::print(&texts.join("\n"));
    Ok(())
}

/// Prints the configuration to standard output, and warnings to standard error.
fn convert_file(file: &Path) -> Result<(), Failure> {
    let text = fs::read(file).with_context(|| format!("reading {}", file.display()))?;
    let (written, warnings) = convert(&text);
    for warning in warnings {
        report::complain(&format!("{}:{}: {}", file.display(), warning.line, warning.what));
    }
    let written = written.with_context(|| format!("{}: no export could be converted", file.display()))?;
    report::print(&written);
    Ok(())
}
