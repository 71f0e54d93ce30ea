//! The families about the far side of exports of other servers.

use super::text::{Kind, MetricsText};
use crate::admin::uplinks::ExportUplink;
use crate::uplink::{UplinkCache, UplinkDisk, UplinkReport};

/// A figure of a way.
type Figure = fn(&UplinkReport) -> u64;
/// A figure of the caches.
type CacheFigure = fn(&UplinkCache) -> u64;
/// A figure of the cache on disk.
type DiskFigure = fn(&UplinkDisk) -> u64;

const FIGURES: [(&str, Kind, Option<&str>, &str, Figure); 6] = [
    ("howdah_uplink_up", Kind::Gauge, None, "1 while the far server answers, else 0.", |report| {
        u64::from(report.is_up)
    }),
    ("howdah_uplink_connections", Kind::Gauge, None, "Connections to the far server.", |report| {
        report.connections as u64
    }),
    ("howdah_uplink_calls_in_flight", Kind::Gauge, None, "READs and WRITEs in flight.", |report| {
        report.calls_in_flight as u64
    }),
    ("howdah_uplink_calls_in_flight_max", Kind::Gauge, None, "Max READs and WRITEs in flight.", |report| {
        report.calls_in_flight_max as u64
    }),
    ("howdah_uplink_read_bytes", Kind::Counter, Some("bytes"), "Read from the far server.", |report| {
        report.read_bytes
    }),
    ("howdah_uplink_written_bytes", Kind::Counter, Some("bytes"), "Written to the far server.", |report| {
        report.written_bytes
    }),
];

const SIZES: [(&str, &str, CacheFigure); 4] = [
    ("howdah_uplink_read_ahead_bytes", "Bytes read ahead.", |cache| cache.read_ahead_bytes),
    ("howdah_uplink_read_ahead_max_bytes", "Max bytes of read-ahead.", |cache| cache.read_ahead_bytes_max),
    ("howdah_uplink_dirty_bytes", "Written bytes that are not safe on the far server yet.", |cache| {
        cache.dirty_bytes
    }),
    ("howdah_uplink_dirty_max_bytes", "Max of these bytes.", |cache| cache.dirty_bytes_max),
];

const DISK_SIZES: [(&str, &str, DiskFigure); 2] = [
    ("howdah_uplink_disk_cache_bytes", "Bytes that the cache on disk takes.", |disk| disk.bytes),
    ("howdah_uplink_disk_cache_max_bytes", "Max of these bytes.", |disk| disk.bytes_max),
];

/// Writes them, where there are such exports.
pub fn uplinks(text: &mut MetricsText, report: &[ExportUplink]) {
    if report.is_empty() {
        return;
    }
    for (name, kind, unit, help, figure) in FIGURES {
        text.family(name, kind, unit, help);
        report.iter().for_each(|one| text.sample(&[("export", &one.export)], figure(&one.uplink)));
    }
    text.family("howdah_uplink_rtt_seconds", Kind::Gauge, Some("seconds"), "How long a small call takes.");
    for one in report {
        if let Some(rtt) = one.uplink.rtt_seconds {
            text.sample(&[("export", &one.export)], rtt);
        }
    }
    let help = "1 for the side that limits now, 0 for the others.";
    text.family("howdah_uplink_limited", Kind::Gauge, None, help);
    for one in report {
        for side in ["near", "relay", "far", "none"] {
            let limits = u8::from(one.uplink.limited_by == side);
            text.sample(&[("export", &one.export), ("by", side)], limits);
        }
    }
    caches(text, report);
    disks(text, report);
}

fn disks(text: &mut MetricsText, report: &[ExportUplink]) {
    let disks: Vec<(&str, &UplinkDisk)> =
        report.iter().filter_map(|one| Some((one.export.as_str(), one.uplink.disk.as_ref()?))).collect();
    if disks.is_empty() {
        return;
    }
    let help = "1 while the cache on disk is in use, else 0.";
    text.family("howdah_uplink_disk_cache_up", Kind::Gauge, None, help);
    for (export, disk) in &disks {
        text.sample(
            &[("export", export)],
            u8::from(matches!(disk.state.as_str(), "on" | "loading" | "full")),
        );
    }
    let help = "Reads, by whether the cache on disk answered.";
    text.family("howdah_uplink_disk_cache_reads", Kind::Counter, None, help);
    for (export, disk) in &disks {
        for (result, count) in [("hit", disk.hits), ("miss", disk.misses)] {
            text.sample(&[("export", export), ("result", result)], count);
        }
    }
    for (name, help, figure) in DISK_SIZES {
        text.family(name, Kind::Gauge, Some("bytes"), help);
        disks.iter().for_each(|(export, disk)| text.sample(&[("export", export)], figure(disk)));
    }
}

fn caches(text: &mut MetricsText, report: &[ExportUplink]) {
    let cached: Vec<(&str, UplinkCache)> =
        report.iter().filter_map(|one| Some((one.export.as_str(), one.uplink.cache?))).collect();
    let help = "Questions of clients, by whether the caches answered.";
    text.family("howdah_uplink_cache_requests", Kind::Counter, None, help);
    for (export, cache) in &cached {
        for (what, result, count) in [
            ("attributes", "hit", cache.attribute_hits),
            ("attributes", "miss", cache.attribute_misses),
            ("data", "hit", cache.data_hits),
            ("data", "miss", cache.data_misses),
        ] {
            text.sample(&[("export", export), ("cache", what), ("result", result)], count);
        }
    }
    for (name, help, figure) in SIZES {
        text.family(name, Kind::Gauge, Some("bytes"), help);
        cached.iter().for_each(|(export, cache)| text.sample(&[("export", export)], figure(cache)));
    }
    let help = "How often a writer waited since as much was dirty as may be.";
    text.family("howdah_uplink_full_waits", Kind::Counter, None, help);
    cached.iter().for_each(|(export, cache)| text.sample(&[("export", export)], cache.full_waits));
}
