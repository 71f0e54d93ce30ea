//! The table of clients: what each moves, and what limits it.

use std::collections::BTreeMap;

use howdah_units::{narrow_bytes, narrow_count, narrow_time};

use super::seen::ClientSeen;
use super::table::{Column, Row, TableCell};

/// Its columns.
pub const COLUMNS: &[Column] = &[
    Column::long_words("CLIENT", 10, 0),
    Column::figures("CONN", 4, 7),
    Column::figures("CALLS/s", 7, 5),
    Column::figures("WAIT", 4, 8),
    Column::figures("IN/s", 5, 3),
    Column::figures("OUT/s", 5, 3),
    Column::figures("I/O/s", 5, 20),
    Column::figures("RTT", 6, 4),
    Column::figures("BUFFER", 6, 6),
    Column::figures("WINDOW", 6, 9),
    Column::words("LIMITED BY", 18, 1),
    Column::long_words("OF LATE", 20, 10),
];
/// Shares of the time that are less are not shown.
const PART_MIN: f64 = 0.01;

/// Its row.
pub fn row(client: &ClientSeen) -> Row {
    let io = client.received_per_second + client.sent_per_second;
    let is_busy = io > 0.0 || client.calls_per_second.is_some_and(|rate| rate > 0.0);
    let late = of_late(&client.verdict_seconds);
    let about = [client.sentence.clone(), format!("of late: {late}")];
    Row {
        key: client.client.to_string(),
        cells: vec![
            TableCell::text(client.client.to_string()),
            TableCell::figure(Some(client.connections as f64), narrow_whole),
            TableCell::figure(client.calls_per_second, narrow_count),
            TableCell::figure(Some(client.outstanding as f64), narrow_whole),
            TableCell::figure(Some(client.received_per_second), narrow_bytes),
            TableCell::figure(Some(client.sent_per_second), narrow_bytes),
            TableCell::figure(Some(io), narrow_bytes),
            TableCell::figure(client.rtt_seconds, narrow_time),
            TableCell::figure(Some(client.buffer_bytes as f64), narrow_bytes),
            TableCell::figure(Some(client.window_bytes as f64), narrow_bytes),
            verdict(&client.verdict),
            TableCell::text(late),
        ],
        about: about.into_iter().filter(|line| !line.is_empty()).collect(),
        is_busy,
    }
}

/// A verdict; those are worth a look that are neither rest nor the goal.
pub fn verdict(word: &str) -> TableCell {
    TableCell::text(word).alarming(!matches!(word, "idle" | "path-full" | "ramping"))
}

/// A number that has no parts.
pub fn narrow_whole(number: f64) -> String {
    if number < 10.0 { format!("{number:.0}") } else { narrow_count(number) }
}

/// Where the time went.
fn of_late(verdict_seconds: &BTreeMap<String, f64>) -> String {
    let whole: f64 = verdict_seconds.values().sum();
    let mut parts: Vec<(&String, f64)> =
        verdict_seconds.iter().map(|(verdict, seconds)| (verdict, seconds / whole)).collect();
    parts.retain(|(_, part)| *part >= PART_MIN);
    parts.sort_by(|one, other| other.1.total_cmp(&one.1));
    let listed: Vec<String> =
        parts.iter().map(|(verdict, part)| format!("{:.0}% {verdict}", part * 100.0)).collect();
    if listed.is_empty() { "no samples yet".to_owned() } else { listed.join(", ") }
}
