//! The table of connections: their rates, their path, their buffers and windows, and what limits them.

use howdah_server::tuning::{ConnectionReport, Figures};
use howdah_units::{narrow_bytes, narrow_count, narrow_time};

use super::clients::{narrow_whole, verdict};
use super::seen::ConnectionSeen;
use super::table::{Column, Row, TableCell};

/// Its columns.
pub const COLUMNS: &[Column] = &[
    Column::long_words("CONNECTION", 14, 0),
    Column::figures("CALLS/s", 7, 8),
    Column::figures("WAIT", 4, 9),
    Column::figures("IN/s", 5, 3),
    Column::figures("OUT/s", 5, 3),
    Column::figures("I/O/s", 5, 20),
    Column::figures("RTT", 6, 4),
    Column::figures("FLIGHT", 6, 10),
    Column::figures("CWND", 5, 11),
    Column::figures("SNDBUF", 6, 6),
    Column::figures("RCVBUF", 6, 7),
    Column::figures("WINDOW", 6, 5),
    Column::figures("AGAIN", 5, 12),
    Column::words("LIMITED BY", 18, 1),
];

/// Its row.
pub fn row(connection: &ConnectionSeen) -> Row {
    let (known, figures) = (&connection.known, connection.known.figures.as_ref());
    let of = |what: fn(&Figures) -> u64| figures.map(|figures| what(figures) as f64);
    let io = connection.received_per_second + connection.sent_per_second;
    let moved = &known.account.moved;
    let again = (moved.sent > 0).then(|| moved.retransmitted as f64 / moved.sent as f64);
    let is_busy = io > 0.0 || connection.calls_per_second.is_some_and(|rate| rate > 0.0);
    Row {
        key: connection.client.to_string(),
        cells: vec![
            TableCell::text(connection.client.to_string()),
            TableCell::figure(connection.calls_per_second, narrow_count),
            TableCell::figure(of(|figures| figures.outstanding), narrow_whole),
            TableCell::figure(Some(connection.received_per_second), narrow_bytes),
            TableCell::figure(Some(connection.sent_per_second), narrow_bytes),
            TableCell::figure(Some(io), narrow_bytes),
            TableCell::figure(figures.map(|figures| figures.rtt_seconds), narrow_time),
            TableCell::figure(of(|figures| figures.in_flight), narrow_bytes),
            TableCell::figure(of(|figures| figures.congestion_window), narrow_bytes),
            TableCell::figure(of(|figures| figures.send_buffer), narrow_bytes),
            TableCell::figure(of(|figures| figures.receive_buffer), narrow_bytes),
            TableCell::figure(
                figures.and_then(|figures| figures.window).map(|window| window as f64),
                narrow_bytes,
            ),
            TableCell::figure(again, |part| format!("{:.1}%", part * 100.0)),
            verdict(&connection.verdict),
        ],
        about: about(known),
        is_busy,
    }
}

/// What limits it, and how full what it has is.
fn about(known: &ConnectionReport) -> Vec<String> {
    let sentence = known.verdict.as_ref().map(|verdict| verdict.sentence.clone());
    let mut about = vec![sentence.unwrap_or_else(|| "no samples yet".to_owned())];
    if known.is_held {
        about.push("paused: memory is short, and this connection uses the most".to_owned());
    }
    if let Some(figures) = &known.figures {
        let bytes = |count: u64| narrow_bytes(count as f64);
        about.push(format!(
            "send buffer {} of {}, receive buffer {} of {}, replies waiting {}",
            bytes(figures.send_queue),
            bytes(figures.send_buffer),
            bytes(figures.unread),
            bytes(figures.receive_buffer),
            bytes(figures.replies_waiting),
        ));
        about.push(format!(
            "in flight {}, congestion window {}, the client's window {}",
            bytes(figures.in_flight),
            bytes(figures.congestion_window),
            figures.peer_window.map_or_else(|| "unknown".to_owned(), bytes),
        ));
    }
    about
}
