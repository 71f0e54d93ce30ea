//! `howdah clients`.

use howdah_server::admin::StateReport;
use serde_json::json;

use super::Failure;
use crate::arguments::ClientsArguments;
use crate::asking::{AskedServer, find_servers};
use crate::report;

/// Shows what clients have.
pub fn run(arguments: &ClientsArguments) -> Result<(), Failure> {
    let servers = find_servers(arguments.asked.server.as_ref(), arguments.asked.state.as_deref())?;
    let mut answers: Vec<(&AskedServer, StateReport)> = Vec::new();
    for server in &servers {
        answers.push((server, server.get("/v1/state")?));
    }
    if arguments.json {
        let server = |(server, state): &(&AskedServer, StateReport)| json!({ "server": server.name(), "process": server.process(), "state": state });
        let value = json!({ "servers": answers.iter().map(server).collect::<Vec<_>>() });
        report::print(&format!("{value:#}\n"));
        return Ok(());
    }
    for (server, state) in &answers {
        if answers.len() > 1 {
            report::print(&format!("{}\n", server.name()));
        }
        report::print(&report::state(state));
    }
    Ok(())
}
