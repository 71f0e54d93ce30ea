//! `howdah clients`.

use std::time::SystemTime;

use howdah_server::admin::{Clients, StateReport};
use serde_json::json;

use super::Failure;
use crate::admin::{AskedServer, find_servers};
use crate::arguments::ClientsArguments;
use crate::report;

/// Shows what clients have.
pub fn run(arguments: &ClientsArguments) -> Result<(), Failure> {
    let servers = find_servers(arguments.asked.server.as_ref(), arguments.asked.state.as_deref())?;
    let mut answers: Vec<(&AskedServer, StateReport, Clients)> = Vec::new();
    for server in &servers {
        answers.push((server, server.get("/v1/state")?, server.get("/v1/clients")?));
    }
    if arguments.json {
        let server = |(server, state, clients): &(&AskedServer, StateReport, Clients)| json!({ "server": server.name(), "process": server.process(), "state": state, "clients": clients.clients });
        let value = json!({ "servers": answers.iter().map(server).collect::<Vec<_>>() });
        report::print(&format!("{value:#}\n"));
        return Ok(());
    }
    for (server, state, clients) in &answers {
        if answers.len() > 1 {
            report::print(&format!("{}\n", server.name()));
        }
        report::print(&report::state(state));
        report::print(&report::certificates(clients, SystemTime::now()));
    }
    Ok(())
}
