//! The facts behind the metrics: plain data, so that writing it needs no server.

use std::net::IpAddr;
use std::sync::Arc;

use howdah_tune::account::Account;
use howdah_tune::budget::{MemoryUse, Pressure};

use crate::TransportSecurity;
use crate::admin::asked::Asked;
use crate::admin::process::ProcessUse;
use crate::admin::space::ExportSpace;
use crate::admin::uplinks::{self, ExportUplink};
use crate::caps::CapReport;
use crate::connection::Connection;
use crate::counts::{Row, UnheardSums, Workers};
use crate::gss::GssReport;
use crate::secure::TlsDoor;

/// What the metrics show.
#[derive(Debug, Default)]
pub struct MetricsFacts {
    /// The number of this head, if it is one of a cluster that shares its records.
    pub head: Option<String>,
    /// Whether records of clients cannot be written.
    pub is_unwritable: bool,
    /// Seconds since the server began to count.
    pub seconds: f64,
    /// What was counted.
    pub rows: Vec<Row>,
    /// What came to no procedure.
    pub unheard: UnheardSums,
    /// What workers do.
    pub workers: Workers,
    /// Calls that wait for storage to have room for them.
    pub calls_in_line: usize,
    /// Replies that are kept, and their bytes.
    pub kept: (usize, usize),
    /// TCP connections.
    pub connections: usize,
    /// Clients with TCP connections.
    pub clients: usize,
    /// What connections may hold in the kernel, and what they hold.
    pub budget: u64,
    pub used: MemoryUse,
    /// How short memory is, and what came of it: connections turned away, and not read now.
    pub pressure: Pressure,
    pub refused: u64,
    pub held: usize,
    /// Where the time of all connections went, and what they sent again.
    pub account: Account,
    /// Clients with figures of their own.
    pub told: Vec<ClientFacts>,
    /// What is exported, and how full it is.
    pub exports: Vec<ExportSpace>,
    /// The far side of exports of other servers.
    pub uplinks: Vec<ExportUplink>,
    /// What is known of TLS, where there is a certificate.
    pub tls: Option<TlsFacts>,
    /// Contexts of Kerberos, and what was counted of it, if an export takes it.
    pub kerberos: Option<(usize, GssReport)>,
    /// Rules of `[[limit]]`, and what they held.
    pub caps: Vec<CapReport>,
    /// What the kernel counts of this process, where it says so.
    pub process: Option<ProcessUse>,
}

/// The metrics of TLS.
#[derive(Debug, Default)]
pub struct TlsFacts {
    /// Connections without a client's certificate, and with one.
    pub connections: (usize, usize),
    /// Handshakes that go on.
    pub under_way: usize,
    /// How others ended, and how often.
    pub handshakes: [(&'static str, u64); 3],
    /// Until when the certificate is valid, in seconds since 1970.
    pub expiry: Option<i64>,
}

/// The metrics of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientFacts {
    /// Its address; if it has several, the network that they are in.
    pub client: IpAddr,
    /// Bytes that left us, those that were sent again not counted twice.
    pub sent: u64,
    /// Bytes that came.
    pub received: u64,
}

impl TlsFacts {
    fn gather(door: &TlsDoor, connections: &[Arc<Connection>]) -> Self {
        let with = |security| connections.iter().filter(|one| one.peer().security == security).count();
        Self {
            connections: (with(TransportSecurity::Tls), with(TransportSecurity::TlsWithCertificate)),
            under_way: door.under_way(),
            handshakes: door.figures().counts(),
            expiry: door.certificate().map(|certificate| certificate.not_after),
        }
    }
}

impl MetricsFacts {
    /// As they are now.
    pub fn gather(asked: &Asked, exports: Vec<ExportSpace>) -> Self {
        let service = &asked.shared.service;
        let (clients, told) = clients(asked);
        let connections = asked.shared.connections();
        let tls = asked.shared.tls.as_deref().map(|door| TlsFacts::gather(door, &connections));
        let tuner = asked.shared.tuner_now();
        Self {
            is_unwritable: service.states.as_ref().is_some_and(|states| states.unwritable().is_some()),
            head: service
                .states
                .as_ref()
                .and_then(|states| states.cluster())
                .map(|cluster| cluster.name().to_owned()),
            seconds: asked.shared.started.elapsed().as_secs_f64(),
            rows: service.dispatcher.counts.rows(),
            unheard: service.dispatcher.counts.unheard(),
            workers: service.dispatcher.counts.workers(),
            calls_in_line: asked.shared.gates.waiting(),
            kept: service.dispatcher.replies.size(),
            held: connections.iter().filter(|connection| connection.is_held()).count(),
            connections: connections.len(),
            tls,
            kerberos: service.dispatcher.gss.as_deref().map(|door| (door.contexts(), door.report())),
            budget: tuner.settings().budget.total(),
            used: *tuner.used(),
            pressure: tuner.pressure(),
            refused: asked.shared.pressing.refused(),
            account: tuner.account(),
            clients,
            told,
            exports,
            uplinks: uplinks::of(&service.exports()),
            caps: asked.shared.caps.report(),
            process: ProcessUse::now().ok(),
        }
    }
}

/// How many clients are connected, and those that moved most.
fn clients(asked: &Asked) -> (usize, Vec<ClientFacts>) {
    let tuner = asked.shared.tuner_now();
    let connected = tuner.clients().filter(|(_, client)| client.totals().connections > 0).count();
    if asked.metrics.clients == 0 {
        return (connected, Vec::new());
    }
    let ledger = tuner.ledger(asked.shared.started.elapsed());
    let mut told: Vec<ClientFacts> = tuner
        .clients()
        .filter_map(|(group, client)| {
            let moved = &ledger.get(group)?.total().moved;
            let client = client.address().unwrap_or(*group);
            Some(ClientFacts { client, sent: moved.sent_once(), received: moved.received })
        })
        .collect();
    told.sort_by_key(|client| (std::cmp::Reverse(client.sent + client.received), client.client));
    told.truncate(asked.metrics.clients);
    (connected, told)
}
