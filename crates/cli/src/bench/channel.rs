//! What a client's channel says of itself, line by line.

use howdah_client::channel::ChannelReport;
use howdah_units::time;

/// Each connection, and how many calls it keeps in flight and why; or what is known of datagrams.
pub fn describe(report: &ChannelReport) -> Vec<String> {
    let mut lines: Vec<String> = report.lanes.iter().map(ToString::to_string).collect();
    let Some(datagrams) = &report.datagrams else {
        let count = report.lanes.len();
        lines.push(format!("{count} lane{}, {}", if count == 1 { "" } else { "s" }, report.why_so_many));
        lines.extend(report.small_lane.map(|lane| format!("for small calls: {lane}")));
        lines.push(report.flight.to_string());
        lines.extend(report.quic.map(|quic| quic.to_string()));
        lines.extend(report.sizes.clone());
        lines.extend(report.limits.iter().map(ToString::to_string));
        return lines;
    };
    lines.push(format!(
        "datagrams: a window of {} calls and {} bytes, transfers of {} bytes (cut to one packet {} times)",
        datagrams.window_calls, datagrams.window_bytes, datagrams.transfer, datagrams.transfer_drops
    ));
    lines.extend(datagrams.classes.iter().map(|class| {
        let name = format!("{:?}", class.class).to_ascii_lowercase();
        let trip = class.round_trip.map_or("unmeasured".to_owned(), time);
        format!(
            "{name}: {} calls, {} retransmitted ({} of them unnecessarily), round trip {trip}, waits {}",
            class.calls,
            class.retransmissions,
            class.for_nothing,
            time(class.timeout)
        )
    }));
    lines.extend(datagrams.advice.map(|advice| advice.to_string()));
    lines
}
