//! What limits clients, as people read it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::net::{IpAddr, SocketAddr};
use std::time::SystemTime;

use howdah_server::admin::{Client, Group, Lane, Recent};
use howdah_server::tuning::{ConnectionTlsReport, GoneClient, QuicReport};
use howdah_units::{rate, seconds, size};

/// Parts of the time that are less are not told.
const SHARE_MIN: f64 = 0.01;
/// With less room for received packets than this, the server could not have what it asked for; and what helps.
const ROOM: u64 = 4 << 20;
const RAISE: &str = "net.core.rmem_max bounds it: raise that, or give it CAP_NET_ADMIN";
const IDLE: &str = "idle";
/// Bytes per second from which on somebody moves something.
const MOVING: f64 = 1_000.0;
/// Bytes per second from which on somebody moves much.
const MUCH: f64 = 100_000.0;

/// A paragraph for each client, idle ones in one line unless `each` has its own; with `lanes`, a line for each connection. Clients
/// that left come last.
pub fn why(clients: &[Client], gone: &BTreeMap<IpAddr, GoneClient>, each: bool, lanes: bool) -> String {
    let mut text = String::new();
    if clients.is_empty() {
        text.push_str(nobody(gone));
    }
    let mut idle = Vec::new();
    for client in clients {
        if !each && !client.groups.iter().any(is_busy) {
            idle.push(called(client));
            continue;
        }
        for group in &client.groups {
            if each || is_busy(group) {
                text.push_str(&paragraph(client, group, lanes));
            }
        }
    }
    if !idle.is_empty() {
        let _ = writeln!(text, "idle: {}", idle.join(", "));
    }
    for (address, client) in by_time(gone) {
        text.push_str(&of_gone(address, client));
    }
    text
}

/// That no client is connected, and for how long that is known.
fn nobody(gone: &BTreeMap<IpAddr, GoneClient>) -> &'static str {
    match gone.is_empty() {
        true => "no client is connected over TCP, and none was active in the last 5 minutes\n",
        false => "no client is connected over TCP\n",
    }
}

/// Clients that left, the last one first.
fn by_time(gone: &BTreeMap<IpAddr, GoneClient>) -> Vec<(&IpAddr, &GoneClient)> {
    let mut gone: Vec<_> = gone.iter().collect();
    gone.sort_by(|a, b| a.1.gone_seconds_ago.total_cmp(&b.1.gone_seconds_ago));
    gone
}

/// Of a client that left: what limited it last, and what its connections did while they were there.
fn of_gone(address: &IpAddr, gone: &GoneClient) -> String {
    let connections =
        if gone.connections == 1 { String::new() } else { format!(", {} connections", gone.connections) };
    let sentence = gone.sentence.as_deref().unwrap_or("no bottleneck here");
    let per_second = |bytes: u64| bytes as f64 / gone.seconds.max(LEAST_SECONDS);
    let (sent, received) = (per_second(gone.sent), per_second(gone.received));
    let did = [rates(sent, received), idle_in_words(shares(&gone.verdict_seconds), sent.max(received))];
    format!(
        "gone for {}: {address}{connections}: {sentence}\n    {}: {}\n",
        seconds(gone.gone_seconds_ago),
        seconds(gone.seconds),
        joined(&did)
    )
}

/// Whether it moves something: who asks for no more than it gets is idle by the word, too.
fn is_busy(group: &Group) -> bool {
    group.verdict != IDLE || group.sent_per_second.max(group.received_per_second) >= MOVING
}

fn paragraph(client: &Client, group: &Group, lanes: bool) -> String {
    let (count, all) = (group.connections.len(), client.connections);
    let part = match (count, all) {
        (1, 1) => String::new(),
        (count, all) if count == all => format!(", {all} connections"),
        (count, all) => format!(", {count} of {all} connections"),
    };
    // The figures of a sentence are of one connection.
    let which = if count > 1 && group.verdict != IDLE { ", the busiest" } else { "" };
    let mut text = format!("{}{part}{which}: {}\n", client.client, group.sentence);
    let _ = writeln!(
        text,
        "    {}",
        figures(
            group.interval_seconds,
            group.sent_per_second,
            group.received_per_second,
            &group.connections,
            &group.recent
        )
    );
    text.push_str(&protection(&group.connections));
    text.push_str(&quic(&group.connections));
    for lane in group.connections.iter().filter(|_| lanes) {
        let _ = writeln!(
            text,
            "    {}: {}",
            lane.client,
            figures(
                group.interval_seconds,
                lane.sent_per_second,
                lane.received_per_second,
                std::slice::from_ref(lane),
                &lane.recent
            )
        );
    }
    text
}

/// What protects connections: a line for each kind of TLS among them.
fn protection(lanes: &[Lane]) -> String {
    let kinds: BTreeSet<&ConnectionTlsReport> = lanes.iter().filter_map(|lane| lane.tls.as_ref()).collect();
    kinds.iter().map(|tls| format!("    {}\n", super::tls::protection(tls, SystemTime::now()))).collect()
}

/// Packets of the connections of QUIC: a line for each.
fn quic(lanes: &[Lane]) -> String {
    // Streams of one connection have the same client and the same figures.
    let connections: BTreeMap<SocketAddr, &QuicReport> =
        lanes.iter().filter_map(|lane| Some((lane.client, lane.quic.as_ref()?))).collect();
    connections.iter().map(|(client, report)| format!("    {}\n", packets(*client, report))).collect()
}

fn packets(client: SocketAddr, quic: &QuicReport) -> String {
    let lost = 100.0 * quic.packets_lost as f64 / quic.packets_sent.max(1) as f64;
    let mut text = format!(
        "QUIC from {client}: packets of {} bytes, {lost:.2} % of {} lost",
        quic.packet_size, quic.packets_sent
    );
    if let Some(now) = quic.moved_to.filter(|_| quic.moves > 0) {
        let _ = write!(text, ", moved {} times, now at {now}", quic.moves);
    }
    if quic.black_holes > 0 {
        let _ = write!(
            text,
            ", long packets got lost {} times: the path carries only shorter ones",
            quic.black_holes
        );
    }
    let room = size(quic.receive_buffer);
    let _ = match (quic.packets_dropped, quic.receive_buffer < ROOM) {
        (0, false) => Ok(()),
        (0, true) => write!(text, "; the server's UDP receive buffer has only {room} ({RAISE})"),
        (dropped, _) => {
            write!(
                text,
                "; the server dropped {dropped} packets: its UDP receive buffer of {room} was full ({RAISE})"
            )
        }
    };
    text
}

fn called(client: &Client) -> String {
    match client.connections {
        1 => client.client.to_string(),
        several => format!("{} ({several} connections)", client.client),
    }
}

/// What moves in the last look, and what was in the last minute: each with its time.
fn figures(interval: f64, sent: f64, received: f64, lanes: &[Lane], recent: &Recent) -> String {
    let now = match rates(sent, received) {
        rates if rates.is_empty() => String::new(),
        rates => format!("last {}: {rates}; ", seconds(interval)),
    };
    let each = |moved: fn(&Recent) -> u64| -> f64 {
        let rates =
            lanes.iter().map(|lane| moved(&lane.recent) as f64 / lane.recent.seconds.max(LEAST_SECONDS));
        rates.sum()
    };
    let shares = shares(&recent.verdict_seconds);
    if shares.is_empty() {
        return format!("{now}new: no samples yet");
    }
    let looked_back = recent.seconds.min(LOOKING_BACK);
    let (sent, received) = (each(|recent| recent.sent), each(|recent| recent.received));
    let late = [rates(sent, received), idle_in_words(shares, sent.max(received))];
    format!("{now}last {}: {}", seconds(looked_back), joined(&late))
}

/// Reads and writes; nothing if nothing moves.
fn rates(sent: f64, received: f64) -> String {
    let each = [(sent, "read"), (received, "written")];
    let told = each.iter().filter(|(rate, _)| *rate >= MOVING);
    let told: Vec<String> = told.map(|(moved, what)| format!("{} {what}", rate(*moved))).collect();
    told.join(", ")
}

fn joined(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    parts.join(", ")
}

/// Where the time went: of one connection, or on average of several.
fn shares(verdict_seconds: &BTreeMap<String, f64>) -> String {
    let whole: f64 = verdict_seconds.values().sum();
    let mut shares: Vec<(&str, f64)> =
        verdict_seconds.iter().map(|(verdict, seconds)| (verdict.as_str(), seconds / whole)).collect();
    shares.retain(|(_, share)| *share >= SHARE_MIN);
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let each =
        shares.iter().map(|(verdict, share)| format!("{:.0} % {}", share * 100.0, verdict.replace('-', " ")));
    each.collect::<Vec<_>>().join(", ")
}

/// A client that moves much and has the verdict idle limits itself: the server waits for it.
fn idle_in_words(shares: String, per_second: f64) -> String {
    let is_mostly_idle = shares.split(',').next().is_some_and(|first| first.ends_with("% idle"));
    if per_second >= MUCH && is_mostly_idle {
        shares.replacen("idle", "waiting for the client", 1)
    } else {
        shares
    }
}

/// How far back a server remembers; the time of several connections, added up, is more.
const LOOKING_BACK: f64 = 60.0;
/// Rates of less are not told: a divisor of next to nothing.
const LEAST_SECONDS: f64 = 0.01;

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use snapbox::{assert_data_eq, str};

    use super::*;

    fn recent(seconds: &[(&str, f64)]) -> Recent {
        let verdict_seconds =
            seconds.iter().map(|(verdict, seconds)| ((*verdict).to_owned(), *seconds)).collect();
        Recent {
            seconds: seconds.iter().map(|(_, seconds)| seconds).sum(),
            sent: 480_000_000,
            verdict_seconds,
            ..Recent::default()
        }
    }

    fn group(verdict: &str, ports: &[u16], rate: f64, recent: &Recent) -> Group {
        let lane = |port: &u16| Lane {
            client: SocketAddr::from(([10, 0, 0, 7], *port)),
            sent_per_second: rate,
            received_per_second: 0.0,
            tls: None,
            quic: None,
            recent: recent.clone(),
        };
        Group {
            verdict: verdict.to_owned(),
            interval_seconds: 0.4,
            connections: ports.iter().map(lane).collect(),
            sent_per_second: rate * ports.len() as f64,
            received_per_second: 0.0,
            sentence: format!("reads limited by {verdict}"),
            evidence: None,
            advice: None,
            recent: recent.clone(),
        }
    }

    fn client(last: u8, groups: Vec<Group>) -> Client {
        Client {
            client: IpAddr::from([10, 0, 0, last]),
            is_local: false,
            connections: groups.iter().map(|group| group.connections.len()).sum(),
            sent_per_second: 0.0,
            received_per_second: 0.0,
            calls: 0,
            groups,
        }
    }

    #[test]
    fn a_client_that_limits_itself_is_not_called_idle() {
        let none = BTreeMap::new();
        let said = |sent| {
            let recent = Recent { sent, ..recent(&[("idle", 60.0)]) };
            why(&[client(7, vec![group("idle", &[1], 20e6, &recent)])], &none, false, false)
        };
        assert!(said(1_200_000_000).contains("last 60 s: 20.0 MB/s read, 100 % waiting for the client"));
        assert!(said(600_000).contains("last 60 s: 10.0 kB/s read, 100 % idle"));
    }

    #[test]
    fn busy_ones_have_a_paragraph_and_idle_ones_share_a_line() {
        let busy = recent(&[("path-full", 50.0), ("loss", 9.8), ("ramping", 0.2)]);
        let quiet = Recent { sent: 0, ..recent(&[("idle", 60.0)]) };
        let clients = [
            client(7, vec![group("path-full", &[1, 2], 5e6, &busy), group("idle", &[3], 0.0, &quiet)]),
            client(8, vec![group("idle", &[1], 0.0, &quiet)]),
            client(9, vec![group("idle", &[1, 2], 0.0, &quiet)]),
        ];
        let none = BTreeMap::new();
        assert_data_eq!(
            why(&clients, &none, false, false),
            str![[r#"
10.0.0.7, 2 of 3 connections, the busiest: reads limited by path-full
    last 400 ms: 10.0 MB/s read; last 60 s: 16.0 MB/s read, 83 % path full, 16 % loss
idle: 10.0.0.8, 10.0.0.9 (2 connections)

"#]]
        );
        assert_data_eq!(
            why(&clients[..1], &none, true, true),
            str![[r#"
10.0.0.7, 2 of 3 connections, the busiest: reads limited by path-full
    last 400 ms: 10.0 MB/s read; last 60 s: 16.0 MB/s read, 83 % path full, 16 % loss
    10.0.0.7:1: last 400 ms: 5.0 MB/s read; last 60 s: 8.0 MB/s read, 83 % path full, 16 % loss
    10.0.0.7:2: last 400 ms: 5.0 MB/s read; last 60 s: 8.0 MB/s read, 83 % path full, 16 % loss
10.0.0.7, 1 of 3 connections: reads limited by idle
    last 60 s: 100 % idle
    10.0.0.7:3: last 60 s: 100 % idle

"#]]
        );
        for each in [false, true] {
            let said = "no client is connected over TCP, and none was active in the last 5 minutes\n";
            assert_eq!(why(&[], &none, each, each), said);
        }
    }

    #[test]
    fn clients_that_left_are_told_with_what_limited_them() {
        let client = |gone_seconds_ago, sentence: Option<&str>, connections| GoneClient {
            is_local: false,
            gone_seconds_ago,
            connections,
            seconds: 20.0,
            sent: 500_000_000,
            received: 4_000_000,
            sentence: sentence.map(str::to_owned),
            verdict_seconds: [("loss".to_owned(), 30.0), ("idle".to_owned(), 10.0)].into(),
        };
        let gone = [
            (IpAddr::from([10, 0, 0, 7]), client(250.0, None, 1)),
            (IpAddr::from([10, 0, 0, 8]), client(2.25, Some("reads limited by losses on the path"), 2)),
        ];
        assert_data_eq!(
            why(&[], &gone.into(), false, false),
            str![[r#"
no client is connected over TCP
gone for 2.2 s: 10.0.0.8, 2 connections: reads limited by losses on the path
    20 s: 25.0 MB/s read, 200.0 kB/s written, 75 % loss, 25 % idle
gone for 250 s: 10.0.0.7: no bottleneck here
    20 s: 25.0 MB/s read, 200.0 kB/s written, 75 % loss, 25 % idle

"#]]
        );
    }

    #[test]
    fn a_line_for_each_connection_of_quic_names_what_bounds_it() {
        let report = QuicReport {
            packets_sent: 10_000,
            packets_lost: 25,
            packet_size: 1_452,
            receive_buffer: 16 << 20,
            ..QuicReport::default()
        };
        let lanes = |report: &QuicReport| {
            let mut group = group("path-full", &[7, 7], 5e6, &recent(&[("path-full", 60.0)]));
            group.connections.iter_mut().for_each(|lane| lane.quic = Some(report.clone()));
            group.connections
        };
        let small = QuicReport { receive_buffer: 425_984, ..report.clone() };
        let moved_to = Some(SocketAddr::from(([192, 0, 2, 9], 700)));
        let moved = QuicReport { moves: 2, moved_to, black_holes: 1, ..report.clone() };
        let said: String = [&report, &small, &QuicReport { packets_dropped: 3, ..small.clone() }, &moved]
            .map(|report| quic(&lanes(report)))
            .concat();
        assert_data_eq!(
            said,
            str![[r#"
    QUIC from 10.0.0.7:7: packets of 1452 bytes, 0.25 % of 10000 lost
    QUIC from 10.0.0.7:7: packets of 1452 bytes, 0.25 % of 10000 lost; the server's UDP receive buffer has only 426.0 kB (net.core.rmem_max bounds it: raise that, or give it CAP_NET_ADMIN)
    QUIC from 10.0.0.7:7: packets of 1452 bytes, 0.25 % of 10000 lost; the server dropped 3 packets: its UDP receive buffer of 426.0 kB was full (net.core.rmem_max bounds it: raise that, or give it CAP_NET_ADMIN)
    QUIC from 10.0.0.7:7: packets of 1452 bytes, 0.25 % of 10000 lost, moved 2 times, now at 192.0.2.9:700, long packets got lost 1 times: the path carries only shorter ones

"#]]
        );
    }
}
