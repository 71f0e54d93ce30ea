//! `howdah exports`.

use anyhow::Context;

use super::Failure;
use crate::arguments::ExportsArguments;
use crate::configuration::{load_file, state_directory};
use crate::report;
use crate::running::running_servers;

/// Shows every setting that holds.
pub fn run(arguments: &ExportsArguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.config {
        let config = load_file(file).map_err(Failure::Usage)?;
        report::print(&report::exports(&config.exports, &[]));
        return Ok(());
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
