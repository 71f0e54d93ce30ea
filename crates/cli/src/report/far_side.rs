//! The far side of an export of another server, as people read it.

use std::time::Duration;

use howdah_server::admin::ExportUplink;
use howdah_server::uplink::{UplinkCache, UplinkReport};
use howdah_units::{counted, rate, size, time};

/// A paragraph: what limits, and the figures of the path and the caches.
pub fn far_side(report: &ExportUplink) -> String {
    let ExportUplink { export, uplink } = report;
    let who = match uplink.limited_by.as_str() {
        "near" => ", not the far side",
        "relay" => ", on this host",
        _ => "",
    };
    let mut text = format!("far side of {export}, {}: {}{who}\n", uplink.url, uplink.sentence);
    text.push_str(&format!("    {}\n", path(uplink)));
    if let Some(cache) = &uplink.cache {
        text.push_str(&format!("    {}\n", caches(cache)));
    }
    if let Some(disk) = &uplink.disk {
        text.push_str(&format!("    {}\n", disk.sentence));
    }
    text
}

fn path(uplink: &UplinkReport) -> String {
    let mut parts = Vec::new();
    for (moved, what) in [(uplink.read_per_second, "read"), (uplink.written_per_second, "written")] {
        if moved > 0.0 {
            parts.push(format!("{} {what}", rate(moved)));
        }
    }
    parts.push(counted(uplink.connections as u64, "connection", "connections"));
    if let Some(rtt) = uplink.rtt_seconds {
        parts.push(format!("round trip {}", time(Duration::from_secs_f64(rtt))));
    }
    let window = (uplink.calls_in_flight_max * uplink.bytes_per_call) as u64;
    let (now, most) = (uplink.calls_in_flight, uplink.calls_in_flight_max);
    parts.push(format!("{now} of {most} calls in flight (window {})", size(window)));
    parts.push(format!("{} read and {} written in all", size(uplink.read_bytes), size(uplink.written_bytes)));
    parts.join(", ")
}

fn caches(cache: &UplinkCache) -> String {
    let hits = |hits: u64, misses: u64, what: &str| match hits + misses {
        0 => format!("no {what} requested"),
        all => format!("{:.0} % of {what} from memory", 100.0 * hits as f64 / all as f64),
    };
    format!(
        "caches: {}, {}, {} of {} read ahead, {} of {} dirty",
        hits(cache.attribute_hits, cache.attribute_misses, "attributes"),
        hits(cache.data_hits, cache.data_misses, "reads"),
        size(cache.read_ahead_bytes),
        size(cache.read_ahead_bytes_max),
        size(cache.dirty_bytes),
        size(cache.dirty_bytes_max),
    )
}

#[cfg(test)]
mod tests {
    use snapbox::{assert_data_eq, str};

    use super::*;

    #[test]
    fn it_says_which_side_limits() {
        let cache = UplinkCache {
            attribute_hits: 300,
            attribute_misses: 100,
            dirty_bytes: 12_000_000,
            dirty_bytes_max: 256_000_000,
            ..UplinkCache::default()
        };
        let uplink = UplinkReport {
            url: "nfs://far/x".to_owned(),
            connections: 2,
            rtt_seconds: Some(0.1),
            calls_in_flight: 20,
            calls_in_flight_max: 24,
            bytes_per_call: 1_000_000,
            written_per_second: 112e6,
            limited_by: "near".to_owned(),
            sentence: "writes limited by the clients, which have no more calls in flight".to_owned(),
            cache: Some(cache),
            ..UplinkReport::default()
        };
        let report = ExportUplink { export: "/x".to_owned(), uplink };
        assert_data_eq!(
            far_side(&report),
            str![[r#"
far side of /x, nfs://far/x: writes limited by the clients, which have no more calls in flight, not the far side
    112.0 MB/s written, 2 connections, round trip 100 ms, 20 of 24 calls in flight (window 24.0 MB), 0 B read and 0 B written in all
    caches: 75 % of attributes from memory, no reads requested, 0 B of 0 B read ahead, 12.0 MB of 256.0 MB dirty

"#]]
        );
    }
}
