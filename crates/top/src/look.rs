//! One look at a server: what it says at one moment of its exports, clients and connections.

use howdah_server::admin::{Clients, Exports, Workers};
use howdah_server::tuning::TuningReport;

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
