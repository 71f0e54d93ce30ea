//! The report as monitors read it (the text format of Prometheus).

use std::fmt::Write;

use crate::report::{RelayReport, RelayedConnection};

/// All figures of a relay.
pub fn metrics(report: &RelayReport) -> String {
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, help: &str, values: &[(&str, f64)]| {
        let name = format!("howdah_relay_{name}");
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        for (labels, value) in values {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let there = report.connections.len() as f64;
    family("connections", "gauge", "Connections that are relayed now.", &[("", there)]);
    let most = report.connections_max as f64;
    family("connections_max", "gauge", "Connections that may be relayed at the same time.", &[("", most)]);
    let [accepted, refused, failed] =
        [report.accepted, report.refused, report.failed].map(|count| count as f64);
    family("connections_accepted_total", "counter", "Connections of clients accepted.", &[("", accepted)]);
    family(
        "connections_refused_total",
        "counter",
        "Client connections closed because there were too many.",
        &[("", refused)],
    );
    family(
        "far_failures_total",
        "counter",
        "Client connections closed because the far server could not be reached.",
        &[("", failed)],
    );
    let bytes = [
        (r#"{direction="to_far"}"#, report.bytes_to_far as f64),
        (r#"{direction="to_near"}"#, report.bytes_to_near as f64),
    ];
    family("bytes_total", "counter", "Bytes relayed.", &bytes);
    let near = median(report, |connection| connection.near_round_trip_seconds);
    let far = median(report, |connection| connection.far_round_trip_seconds);
    let sides = [(r#"{side="near"}"#, near), (r#"{side="far"}"#, far)];
    let known: Vec<_> = sides.into_iter().filter_map(|(side, time)| Some((side, time?))).collect();
    let help = "Round trip to clients (near) and to the far server: the median of connections.";
    family("round_trip_seconds", "gauge", help, &known);
    text
}

fn median(report: &RelayReport, of: fn(&RelayedConnection) -> Option<f64>) -> Option<f64> {
    let mut known: Vec<f64> = report.connections.iter().filter_map(of).collect();
    known.sort_by(f64::total_cmp);
    known.get(known.len() / 2).copied()
}
