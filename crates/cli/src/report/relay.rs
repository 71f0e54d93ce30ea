//! What a pass-through relay carries, as people read it.

use std::fmt::Write;

use howdah_relay::{RelayReport, RelayedConnection, WayReport};
use howdah_units::{bytes, percent, seconds, time};
use std::time::Duration;

/// A side is reported as slow if it kept data waiting for more than this part of the time.
const TELLING: f64 = 0.05;

/// A line for the relay, and one for each connection.
pub fn relay(report: &RelayReport) -> String {
    let mut text = format!(
        "relay to {}: {} of at most {} connections; {} to the far server and {} to clients since the start\n",
        report.far,
        report.connections.len(),
        report.connections_max,
        bytes(report.bytes_to_far as f64),
        bytes(report.bytes_to_near as f64),
    );
    if report.refused > 0 {
        let _ = writeln!(
            text,
            "  {} connections were closed because there were too many (--max-connections)",
            report.refused
        );
    }
    if report.failed > 0 {
        let _ = writeln!(
            text,
            "  {} connections were closed because the far server could not be reached",
            report.failed
        );
    }
    report.connections.iter().for_each(|connection| text.push_str(&line(connection)));
    text
}

fn line(connection: &RelayedConnection) -> String {
    let trip = |trip: Option<f64>| match trip {
        Some(trip) => time(Duration::try_from_secs_f64(trip).unwrap_or_default()),
        None => "not measured yet".to_owned(),
    };
    let age = connection.age_seconds;
    let mut text = format!(
        "{} to {}{}, for {}: round trip {} to the client, {} to the far server; {} there, {} back\n",
        connection.client,
        connection.server,
        if connection.tls { " by TLS" } else { "" },
        seconds(age),
        trip(connection.near_round_trip_seconds),
        trip(connection.far_round_trip_seconds),
        bytes(connection.to_far.bytes as f64),
        bytes(connection.to_near.bytes as f64),
    );
    let held_up = |way: &WayReport| way.held_up_seconds / age.max(f64::MIN_POSITIVE);
    for (way, side) in
        [(&connection.to_far, "the path to the far server"), (&connection.to_near, "the client")]
    {
        let part = held_up(way);
        if part >= TELLING {
            let _ = writeln!(
                text,
                "  bottleneck {} of the time: {side} did not take the data fast enough",
                percent(part)
            );
        }
    }
    text
}
