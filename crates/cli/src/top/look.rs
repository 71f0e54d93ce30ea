//! One look at a server: what it says at one moment of its exports, clients and connections.

use anyhow::Result;
use howdah_server::admin::{Clients, Exports, Workers};
use howdah_server::tuning::TuningReport;

use crate::admin::AskedServer;

/// What it said.
#[derive(Debug, Clone)]
pub struct TopLook {
    /// What it is called.
    pub server: String,
    /// Its process: another one is another server, though it is called the same.
    pub process: u32,
    /// What was counted, by export and procedure, and since how many seconds.
    pub exports: Exports,
    /// Who is connected, and what limits each.
    pub clients: Clients,
    /// The figures of each connection.
    pub tuning: TuningReport,
    /// What workers do.
    pub workers: Workers,
}

/// Asks it.
pub fn look(server: &AskedServer) -> Result<TopLook> {
    Ok(TopLook {
        server: server.name(),
        process: server.process(),
        exports: server.get("/v1/exports")?,
        clients: server.get("/v1/clients")?,
        tuning: server.get("/v1/tuning")?,
        workers: server.get("/v1/workers")?,
    })
}
