//! What a head of a cluster reports of its clients to a viewer of the whole cluster.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::admin::moves_now;
use crate::room::one_client;
use crate::shared::Shared;
use crate::states::{HeadClient, HeadReport};
use crate::tuning::{ConnectionReport, report};

/// So many clients are named: the report is written each second.
const CLIENTS: usize = 64;

/// The report of now.
pub fn head_report(shared: &Shared) -> HeadReport {
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    of_connections(host, report(shared, true).connections)
}

fn of_connections(host: String, connections: Vec<ConnectionReport>) -> HeadReport {
    let mut clients: BTreeMap<(IpAddr, IpAddr), HeadClient> = BTreeMap::new();
    let mut busiest: BTreeMap<(IpAddr, IpAddr), f64> = BTreeMap::new();
    for connection in connections {
        let (client, server) = (one_client(connection.client.ip()), connection.server.ip().to_canonical());
        let seen = clients.entry((client, server)).or_insert_with(|| HeadClient {
            client,
            server,
            connections: 0,
            sent_per_second: 0.0,
            received_per_second: 0.0,
            verdict: "idle".to_owned(),
        });
        seen.connections += 1;
        let ((sent, received), verdict) = moves_now(&connection);
        seen.sent_per_second += sent;
        seen.received_per_second += received;
        let most = busiest.entry((client, server)).or_default();
        if sent + received > *most {
            (*most, seen.verdict) = (sent + received, verdict);
        }
    }
    let mut clients: Vec<HeadClient> = clients.into_values().collect();
    let rate = |client: &HeadClient| client.sent_per_second + client.received_per_second;
    clients.sort_by(|one, other| rate(other).total_cmp(&rate(one)));
    let more_clients = clients.len().saturating_sub(CLIENTS);
    clients.truncate(CLIENTS);
    HeadReport { host, clients, more_clients }
}
