//! `howdah exports`.

use std::fs;
use std::path::Path;

use anyhow::{Context, anyhow};
use howdah_config::linux_exports::{Warning, convert};
use howdah_config::{load_file, state_directory};
use howdah_daemon::host::{FoundServer, running_servers};
use rustix::process::geteuid;
use serde_json::{Value, json};

use super::Failure;
use crate::admin::none_running;
use crate::arguments::ExportsArguments;
use crate::report;

/// Shows every setting that holds.
pub fn run(arguments: &ExportsArguments) -> Result<(), Failure> {
    if let Some(file) = &arguments.config {
        let config = load_file(file).map_err(Failure::Usage)?;
        match arguments.json {
            true => {
                report::print(&format!("{:#}\n", json!({ "settings": report::settings_json(&config, &[]) })))
            }
            false => report::print(&report::exports(&config.exports, &[])),
        }
        return Ok(());
    }
    if let Some(file) = &arguments.from {
        return convert_file(file);
    }
    let state = arguments.state.clone().or_else(state_directory);
    let state = state.context("finding the state directory: this user has no home; use --state DIR")?;
    let servers = running_servers(&state)?;
    if servers.is_empty() {
        return Err(Failure::Runtime(anyhow::anyhow!(
            "{}; for another host showmount -e HOST",
            none_running(&state, geteuid().is_root())
        )));
    }
    if arguments.json {
        let servers = servers.iter().map(json_of).collect::<anyhow::Result<Vec<_>>>()?;
        report::print(&format!("{:#}\n", json!({ "servers": servers })));
        return Ok(());
    }
    let texts: Vec<String> = servers.into_iter().map(|server| server.text).collect();
    report::print(&texts.join("\n"));
    Ok(())
}

/// What a server wrote down. One that wrote no JSON, such as a relay, has its text.
fn json_of(server: &FoundServer) -> anyhow::Result<Value> {
    let written = server.json.as_deref().map(serde_json::from_str).transpose();
    let written = written.with_context(|| format!("reading the settings of process {}", server.process))?;
    Ok(written.unwrap_or_else(
        || json!({ "process": server.process, "settings": null, "text": server.text.trim_end() }),
    ))
}

/// Prints the configuration to standard output, and warnings to standard error.
fn convert_file(file: &Path) -> Result<(), Failure> {
    let shown = file.display();
    let text = fs::read(file).with_context(|| format!("reading {shown}"))?;
    let (written, warnings) = convert(&text);
    for warning in &warnings {
        report::complain(&format!("{shown}:{}: {}", warning.line, warning.what));
    }
    report::print(&written.with_context(|| format!("{shown}: no export could be converted"))?);
    if warnings.iter().any(Warning::is_loss) {
        return Err(anyhow!("{shown}: not all of it could be converted: see the lines above").into());
    }
    Ok(())
}
