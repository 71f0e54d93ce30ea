//! What limits clients, as people read it.

use std::fmt::Write;

use howdah_server::admin::{Client, Group, Recent};

/// Parts of the time that are less are not told.
const SHARE_MIN: f64 = 0.01;
const IDLE: &str = "idle";
/// Bytes per second from which on somebody moves something.
const MOVING: f64 = 1_000.0;

/// A paragraph for each client, idle ones in one line unless `each` has its own; with `lanes`, a line for each connection.
pub fn why(clients: &[Client], each: bool, lanes: bool) -> String {
    if clients.is_empty() {
        return if each { String::new() } else { "no client is connected over TCP\n".to_owned() };
    }
    let mut text = String::new();
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
    text
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
    let mut text = format!("{}{part}: {}\n", client.client, group.sentence);
    let _ = writeln!(
        text,
        "    {}{}",
        rates(group.sent_per_second, group.received_per_second),
        spent(&group.recent)
    );
    for lane in group.connections.iter().filter(|_| lanes) {
        let _ = writeln!(
            text,
            "    {}: {}{}",
            lane.client,
            rates(lane.sent_per_second, lane.received_per_second),
            spent(&lane.recent)
        );
    }
    text
}

fn called(client: &Client) -> String {
    match client.connections {
        1 => client.client.to_string(),
        several => format!("{} ({several} connections)", client.client),
    }
}

/// What moves now, with a semicolon; nothing if nothing does.
fn rates(sent: f64, received: f64) -> String {
    let each = [(sent, "read"), (received, "written")];
    let told = each.iter().filter(|(rate, _)| *rate >= MOVING);
    let told: Vec<String> = told.map(|(rate, what)| format!("{} {what}", megabytes(*rate))).collect();
    if told.is_empty() { String::new() } else { format!("{}; ", told.join(", ")) }
}

fn megabytes(rate: f64) -> String {
    if rate >= 1e6 { format!("{:.1} MB/s", rate / 1e6) } else { format!("{:.0} kB/s", rate / 1e3) }
}

/// Where the time went: of one connection, or on average of several.
fn spent(recent: &Recent) -> String {
    let whole: f64 = recent.verdict_seconds.values().sum();
    let mut shares: Vec<(&str, f64)> =
        recent.verdict_seconds.iter().map(|(verdict, seconds)| (verdict.as_str(), seconds / whole)).collect();
    shares.retain(|(_, share)| *share >= SHARE_MIN);
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    if shares.is_empty() {
        return "new: nothing was seen of it yet".to_owned();
    }
    let each =
        shares.iter().map(|(verdict, share)| format!("{:.0} % {}", share * 100.0, verdict.replace('-', " ")));
    format!("of the last {:.0} s: {}", recent.seconds.min(LOOKING_BACK), each.collect::<Vec<_>>().join(", "))
}

/// How far back a server remembers; the time of several connections, added up, is more.
const LOOKING_BACK: f64 = 60.0;

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, SocketAddr};

    use howdah_server::admin::Lane;
    use snapbox::{assert_data_eq, str};

    use super::*;

    fn recent(seconds: &[(&str, f64)]) -> Recent {
        let verdict_seconds =
            seconds.iter().map(|(verdict, seconds)| ((*verdict).to_owned(), *seconds)).collect();
        Recent {
            seconds: seconds.iter().map(|(_, seconds)| seconds).sum(),
            verdict_seconds,
            ..Recent::default()
        }
    }

    fn group(verdict: &str, ports: &[u16], rate: f64, recent: &Recent) -> Group {
        let lane = |port: &u16| Lane {
            client: SocketAddr::from(([10, 0, 0, 7], *port)),
            sent_per_second: rate,
            received_per_second: 0.0,
            recent: recent.clone(),
        };
        Group {
            verdict: verdict.to_owned(),
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
    fn busy_ones_have_a_paragraph_and_idle_ones_share_a_line() {
        let busy = recent(&[("path-full", 50.0), ("loss", 9.8), ("ramping", 0.2)]);
        let quiet = recent(&[("idle", 60.0)]);
        let clients = [
            client(7, vec![group("path-full", &[1, 2], 5e6, &busy), group("idle", &[3], 0.0, &quiet)]),
            client(8, vec![group("idle", &[1], 0.0, &quiet)]),
            client(9, vec![group("idle", &[1, 2], 0.0, &quiet)]),
        ];
        assert_data_eq!(
            why(&clients, false, false),
            str![[r#"
10.0.0.7, 2 of 3 connections: reads limited by path-full
    10.0 MB/s read; of the last 60 s: 83 % path full, 16 % loss
idle: 10.0.0.8, 10.0.0.9 (2 connections)

"#]]
        );
        assert_data_eq!(
            why(&clients[..1], true, true),
            str![[r#"
10.0.0.7, 2 of 3 connections: reads limited by path-full
    10.0 MB/s read; of the last 60 s: 83 % path full, 16 % loss
    10.0.0.7:1: 5.0 MB/s read; of the last 60 s: 83 % path full, 16 % loss
    10.0.0.7:2: 5.0 MB/s read; of the last 60 s: 83 % path full, 16 % loss
10.0.0.7, 1 of 3 connections: reads limited by idle
    of the last 60 s: 100 % idle
    10.0.0.7:3: of the last 60 s: 100 % idle

"#]]
        );
        assert_eq!(why(&[], false, false), "no client is connected over TCP\n");
    }
}
