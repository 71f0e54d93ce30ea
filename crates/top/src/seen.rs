//! What happened between two looks at a server, as plain figures: what is shown, and what scripts get.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use howdah_server::admin::{Client, Export, Procedure, Workers};
use howdah_server::tuning::ConnectionReport;
use serde::Serialize;

use super::calls::Calls;
use super::look::TopLook;
use crate::since::exports_since;

/// What happened.
#[derive(Debug, Clone, Serialize)]
pub struct Seen {
    /// What the server is called.
    pub server: String,
    /// Its process.
    pub process: u32,
    /// How connections are sized: `forced`, `unprivileged` or `off`.
    pub mode: String,
    /// Between the two looks; 0: there was but one, and nothing has a rate.
    pub seconds: f64,
    /// All calls.
    pub all: Calls,
    /// What workers do.
    pub workers: Workers,
    /// How short memory is: `none`, `stop-growing`, `take-back` or `refuse`.
    pub pressure: String,
    /// Bytes in the buffers of all connections.
    pub buffer_bytes: u64,
    /// Bytes that they may hold.
    pub budget_bytes: u64,
    /// By export.
    pub exports: Vec<ExportSeen>,
    /// By client.
    pub clients: Vec<ClientSeen>,
    /// By connection.
    pub connections: Vec<ConnectionSeen>,
}

/// Of an export.
#[derive(Debug, Clone, Serialize)]
pub struct ExportSeen {
    /// What clients mount; `(others)`, `(none)`.
    pub export: String,
    /// It is no line for calls that belong to none, or to one of many.
    #[serde(skip)]
    pub is_export: bool,
    /// All of its calls.
    #[serde(flatten)]
    pub all: Calls,
    /// Each procedure that was called, the most called first.
    pub procedures: Vec<ProcedureSeen>,
}

/// Of a procedure.
#[derive(Debug, Clone, Serialize)]
pub struct ProcedureSeen {
    /// Its name.
    pub procedure: String,
    /// Its calls.
    #[serde(flatten)]
    pub calls: Calls,
}

/// Of a client.
#[derive(Debug, Clone, Serialize)]
pub struct ClientSeen {
    /// Its address.
    pub client: IpAddr,
    /// How many connections it has.
    pub connections: usize,
    /// Calls per second.
    pub calls_per_second: Option<f64>,
    /// Calls received and not answered.
    pub outstanding: u64,
    /// Bytes per second that come: WRITE, for the most part.
    pub received_per_second: f64,
    /// Bytes per second that leave: READ, for the most part.
    pub sent_per_second: f64,
    /// The longest round trip of its connections.
    pub rtt_seconds: Option<f64>,
    /// Bytes in the buffers of its connections.
    pub buffer_bytes: u64,
    /// The sum of the windows that it is offered.
    pub window_bytes: u64,
    /// What limits its busiest connections.
    pub verdict: String,
    /// The same with figures, and what can be done.
    pub sentence: String,
    /// Where its time went of late.
    pub verdict_seconds: BTreeMap<String, f64>,
}

/// Of a connection.
#[derive(Debug, Clone, Serialize)]
pub struct ConnectionSeen {
    /// The client's address and port.
    pub client: SocketAddr,
    /// Calls per second.
    pub calls_per_second: Option<f64>,
    /// Bytes per second that come.
    pub received_per_second: f64,
    /// Bytes per second that leave.
    pub sent_per_second: f64,
    /// What limits it.
    pub verdict: String,
    /// All else that the server knows of it.
    pub known: ConnectionReport,
}

impl Seen {
    /// Between two looks; with one alone, what holds now.
    pub fn between(before: Option<&TopLook>, now: &TopLook) -> Self {
        let before = before
            .filter(|before| before.process == now.process && before.exports.seconds < now.exports.seconds);
        let seconds = before.map_or(0.0, |before| now.exports.seconds - before.exports.seconds);
        let before = before.unwrap_or(now);
        let called = exports_since(&now.exports.exports, &before.exports.exports);
        let all: Vec<Procedure> = called.iter().flat_map(|export| export.procedures.clone()).collect();
        let exports = called.into_iter().map(|export| of_export(export, seconds)).collect();
        let connections = connections(before, now, seconds);
        Self {
            server: now.server.clone(),
            process: now.process,
            mode: now.clients.mode.clone(),
            seconds,
            all: Calls::of(&sum(&all), seconds),
            workers: now.workers,
            pressure: now.tuning.pressure.clone(),
            buffer_bytes: now.tuning.used.sending + now.tuning.used.unread,
            budget_bytes: now.tuning.budget_bytes,
            exports,
            clients: now.clients.clients.iter().map(|client| of_client(client, &connections)).collect(),
            connections,
        }
    }
}

/// What was called of an export since the look before.
fn of_export(export: Export, seconds: f64) -> ExportSeen {
    let Export { export, id, procedures: mut called, .. } = export;
    called.sort_by_key(|procedure| std::cmp::Reverse(procedure.calls));
    let procedures = called.iter().map(|procedure| ProcedureSeen {
        procedure: procedure.procedure.clone(),
        calls: Calls::of(procedure, seconds),
    });
    ExportSeen {
        export,
        is_export: id.is_some(),
        all: Calls::of(&sum(&called), seconds),
        procedures: procedures.collect(),
    }
}

fn sum(procedures: &[Procedure]) -> Procedure {
    let mut sum = Procedure::default();
    procedures.iter().for_each(|procedure| sum.add(procedure));
    sum
}

fn connections(before: &TopLook, now: &TopLook, seconds: f64) -> Vec<ConnectionSeen> {
    let calls = |known: &ConnectionReport| known.figures.as_ref().map_or(0, |figures| figures.calls);
    let earlier: BTreeMap<_, u64> =
        before.tuning.connections.iter().map(|known| ((known.client, known.server), calls(known))).collect();
    let lanes =
        now.clients.clients.iter().flat_map(|client| &client.groups).flat_map(|group| {
            group.connections.iter().map(|lane| (lane.client, (lane, group.verdict.as_str())))
        });
    let lanes: BTreeMap<_, _> = lanes.collect();
    let each = now.tuning.connections.iter().map(|known| {
        let counted = earlier.get(&(known.client, known.server)).copied().unwrap_or_default();
        let counted = calls(known).saturating_sub(counted);
        let lane = lanes.get(&known.client);
        ConnectionSeen {
            client: known.client,
            calls_per_second: (seconds > 0.0).then(|| counted as f64 / seconds),
            received_per_second: lane.map_or(0.0, |(lane, _)| lane.received_per_second),
            sent_per_second: lane.map_or(0.0, |(lane, _)| lane.sent_per_second),
            verdict: lane.map_or("idle", |(_, verdict)| verdict).to_owned(),
            known: known.clone(),
        }
    });
    each.collect()
}

fn of_client(client: &Client, connections: &[ConnectionSeen]) -> ClientSeen {
    let lanes = client.groups.iter().flat_map(|group| &group.connections);
    let lanes: Vec<SocketAddr> = lanes.map(|lane| lane.client).collect();
    let own: Vec<&ConnectionSeen> =
        connections.iter().filter(|connection| lanes.contains(&connection.client)).collect();
    let figures = || own.iter().filter_map(|connection| connection.known.figures.as_ref());
    let rates = own.iter().map(|connection| connection.calls_per_second);
    let mut verdict_seconds: BTreeMap<String, f64> = BTreeMap::new();
    for (verdict, seconds) in client.groups.iter().flat_map(|group| &group.recent.verdict_seconds) {
        *verdict_seconds.entry(verdict.clone()).or_default() += seconds;
    }
    let busiest = client.groups.first();
    ClientSeen {
        client: client.client,
        connections: client.connections,
        calls_per_second: rates.sum(),
        outstanding: figures().map(|figures| figures.outstanding).sum(),
        received_per_second: client.received_per_second,
        sent_per_second: client.sent_per_second,
        rtt_seconds: figures().map(|figures| figures.rtt_seconds).max_by(f64::total_cmp),
        buffer_bytes: figures().map(|figures| figures.send_queue + figures.unread).sum(),
        window_bytes: figures().filter_map(|figures| figures.window).sum(),
        verdict: busiest.map_or("idle", |group| &group.verdict).to_owned(),
        sentence: busiest.map_or("", |group| &group.sentence).to_owned(),
        verdict_seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::look;
    use super::*;

    #[test]
    fn exports_that_had_one_name_after_each_other_are_one_line() {
        let looks = [look(0), look(1)].map(|mut look| {
            let exports = &mut look.exports.exports;
            // As after a reload that moved it: its calls before come first.
            let retired = Export { id: Some(9), ..exports[1].clone() };
            exports.insert(0, Export { export: "/data".to_owned(), ..retired });
            look
        });
        let seen = Seen::between(Some(&looks[0]), &looks[1]);
        let names: Vec<&str> = seen.exports.iter().map(|export| export.export.as_str()).collect();
        assert_eq!(names, ["/data", "/srv/a directory with a rather long name"]);
        let rates = seen.exports[0].procedures.iter();
        let rates: Vec<_> =
            rates.map(|called| (called.procedure.as_str(), called.calls.calls_per_second)).collect();
        assert_eq!(rates, [("READ", Some(1200.0)), ("GETATTR", Some(600.0))]);
        assert_eq!(seen.all.calls_per_second, Some(1800.0));
    }
}
