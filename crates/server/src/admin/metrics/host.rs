//! The families about this process, under the names that Prometheus' own clients use, and about the space of exports.

use howdah_vfs::Statistics;

use super::facts::MetricsFacts;
use super::text::{Kind, MetricsText};

/// What the process uses.
pub fn process(text: &mut MetricsText, facts: &MetricsFacts) {
    let Some(process) = &facts.process else { return };
    text.family("process_cpu_seconds", Kind::Counter, Some("seconds"), "CPU time, user and system.");
    text.sample(&[], process.cpu_seconds);
    text.family("process_resident_memory_bytes", Kind::Gauge, Some("bytes"), "Resident memory.");
    text.sample(&[], process.resident_bytes);
    text.family("process_virtual_memory_bytes", Kind::Gauge, Some("bytes"), "Virtual memory.");
    text.sample(&[], process.virtual_bytes);
    text.family("process_open_fds", Kind::Gauge, None, "Open file descriptors.");
    text.sample(&[], process.open_files);
    if let Some(most) = process.most_files {
        text.family("process_max_fds", Kind::Gauge, None, "Max open file descriptors.");
        text.sample(&[], most);
    }
    text.family(
        "process_start_time_seconds",
        Kind::Gauge,
        Some("seconds"),
        "Start of the process, Unix time.",
    );
    text.sample(&[], process.started_at);
}

/// A figure of a file system.
type Figure = fn(&Statistics) -> u64;

/// What is exported, and how full it is.
pub fn exports(text: &mut MetricsText, facts: &MetricsFacts) {
    text.family("howdah_export_info", Kind::Gauge, None, "Always 1; one for each export.");
    for export in &facts.exports {
        text.sample(&[("export", &export.name), ("id", &export.id.to_string())], 1);
    }
    text.family(
        "howdah_export_present",
        Kind::Gauge,
        None,
        "1 while the export's path leads to the directory that is served, else 0.",
    );
    for export in &facts.exports {
        text.sample(&[("export", &export.name)], u8::from(export.gone.is_none()));
    }
    let families: [(&str, Option<&str>, &str, Figure); 5] = [
        ("howdah_export_size_bytes", Some("bytes"), "Size of the export's file system.", |statistics| {
            statistics.total_bytes
        }),
        ("howdah_export_free_bytes", Some("bytes"), "Free space.", |statistics| statistics.free_bytes),
        (
            "howdah_export_available_bytes",
            Some("bytes"),
            "Free space for users other than root.",
            |statistics| statistics.available_bytes,
        ),
        (
            "howdah_export_inodes",
            None,
            "Inodes of the export's file system; 0 where it has no limit.",
            |statistics| statistics.total_files,
        ),
        ("howdah_export_free_inodes", None, "Free inodes.", |statistics| statistics.free_files),
    ];
    for (name, unit, help, figure) in families {
        text.family(name, Kind::Gauge, unit, help);
        for export in &facts.exports {
            if let Some(statistics) = &export.statistics {
                text.sample(&[("export", &export.name)], figure(statistics));
            }
        }
    }
}
