//! All heads of a cluster as one.

use std::fmt::Write as _;

use howdah_server::states::{HeadClient, SeenHead};
use howdah_units::{plain, rate};
use serde_json::json;

/// Whether a head runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadState {
    /// It says that it lives.
    Up,
    /// It was stopped.
    Stopped,
    /// It ended without a word, or cannot write any more.
    Down,
}

impl HeadState {
    fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Stopped => "stopped",
            Self::Down => "down",
        }
    }
}

/// All heads, for a person.
pub fn heads(heads: &[(HeadState, SeenHead)]) -> String {
    let mut text = String::new();
    for (state, seen) in heads {
        let host =
            seen.report.as_ref().map_or_else(String::new, |report| format!("  {}", plain(&report.host)));
        let _ = writeln!(text, "{}{host}  {}", seen.head, state.word());
        if !seen.addresses.is_empty() {
            let serves = if *state == HeadState::Up { "serves" } else { "no head has taken over" };
            let addresses: Vec<String> = seen.addresses.iter().map(ToString::to_string).collect();
            let _ = writeln!(text, "  {serves} {}", addresses.join(", "));
        }
        let Some(report) = seen.report.as_ref().filter(|_| *state == HeadState::Up) else { continue };
        for client in &report.clients {
            let _ = writeln!(text, "  {}", line(client));
        }
        if report.more_clients > 0 {
            let _ = writeln!(text, "  and {} more clients", report.more_clients);
        }
    }
    if heads.is_empty() {
        text.push_str("no heads\n");
    }
    text
}

fn line(client: &HeadClient) -> String {
    let HeadClient { client, server, connections, sent_per_second, received_per_second, verdict } = client;
    let many = if *connections == 1 { "connection" } else { "connections" };
    let mut line = format!("{client} at {server}: {connections} {many}");
    if verdict == "idle" {
        line.push_str(", idle");
    } else {
        let (reads, writes) = (rate(*sent_per_second), rate(*received_per_second));
        let _ = write!(line, ", reads {reads}, writes {writes}, limited by {}", plain(verdict));
    }
    line
}

/// The same for machines.
pub fn heads_json(heads: &[(HeadState, SeenHead)]) -> String {
    let heads = heads.iter().map(|(state, seen)| {
        json!({ "head": seen.head, "state": state.word(), "addresses": seen.addresses, "report": seen.report })
    });
    format!("{:#}\n", json!({ "heads": heads.collect::<Vec<_>>() }))
}

#[cfg(test)]
mod tests {
    use howdah_server::states::HeadReport;

    use super::*;

    fn seen(head: &str, verdict: &str) -> SeenHead {
        let client = HeadClient {
            client: [192, 0, 2, 9].into(),
            server: [192, 0, 2, 1].into(),
            connections: 2,
            sent_per_second: 112e6,
            received_per_second: 0.0,
            verdict: verdict.to_owned(),
        };
        let report = HeadReport { host: "nfs1".into(), clients: vec![client], more_clients: 3 };
        SeenHead {
            head: head.into(),
            addresses: vec![[192, 0, 2, 1].into()],
            beat: None,
            report: Some(report),
        }
    }

    #[test]
    fn each_head_is_named_with_its_clients() {
        let both = [(HeadState::Up, seen("1", "network")), (HeadState::Down, seen("2", "idle"))];
        let expected = "\
1  nfs1  up
  serves 192.0.2.1
  192.0.2.9 at 192.0.2.1: 2 connections, reads 112.0 MB/s, writes 0 B/s, limited by network
  and 3 more clients
2  nfs1  down
  no head has taken over 192.0.2.1
";
        assert_eq!(heads(&both), expected);
        let json: serde_json::Value = serde_json::from_str(&heads_json(&both)).expect("JSON");
        assert_eq!(json["heads"][1]["state"], "down");
        assert_eq!(json["heads"][0]["report"]["clients"][0]["verdict"], "network");
    }
}
