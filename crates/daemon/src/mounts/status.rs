//! What a mount says of itself.

use howdah_layers::BehindReport;
use howdah_units::{counted, rate, size, time};
use serde::{Deserialize, Serialize};

use crate::places::DiskCacheStatus;

/// A mount, as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MountStatus {
    /// Where it is.
    pub directory: String,
    /// What is mounted.
    pub source: String,
    /// The process that keeps it.
    pub process: u32,
    /// When it was mounted, in seconds since 1970.
    pub since: i64,
    /// Files that are open.
    pub open_files: usize,
    /// Requests of the kernel.
    pub requests: u64,
    /// Bytes read and written by programs.
    pub read: u64,
    /// See `read`.
    pub written: u64,
    /// Bytes per second, in the last seconds.
    pub read_per_second: f64,
    /// See `read_per_second`.
    pub written_per_second: f64,
    /// Connections to the server.
    pub connections: usize,
    /// A small call's round trip, in seconds, once there was one.
    pub round_trip: Option<f64>,
    /// READs and WRITEs in flight, and how many may be: twice what the path was measured to hold.
    #[serde(default)]
    pub calls_in_flight: usize,
    /// See `calls_in_flight`.
    #[serde(default)]
    pub calls_in_flight_max: usize,
    /// Bytes written by programs that are not safe on the server yet.
    #[serde(default)]
    pub dirty_bytes: u64,
    /// What part of the questions for attributes, names and rights was answered from memory, and of reads; none before the first.
    #[serde(default)]
    pub attribute_hit_ratio: Option<f64>,
    /// See `attribute_hit_ratio`.
    #[serde(default)]
    pub read_hit_ratio: Option<f64>,
    /// Directories that the server delegates: what is known of their names is not asked for again.
    #[serde(default)]
    pub delegated_directories: u64,
    /// Whether it was mounted with `alone`: nobody else changes the tree.
    #[serde(default)]
    pub alone: bool,
    /// The directory that another client changed in spite of that. Since then, the caches age.
    #[serde(default)]
    pub alone_broken: Option<String>,
    /// The cache on disk, if one was asked for: its fields stand among these.
    #[serde(flatten, default)]
    pub disk_cache: Option<DiskCacheStatus>,
    /// Seconds that the server has been silent while calls wait; none below 5.
    #[serde(default)]
    pub silent_seconds: Option<u64>,
    /// What is written behind, if anything is.
    #[serde(default)]
    pub behind: Option<BehindStatus>,
    /// What limited reads or writes for most of the time, in sentences.
    pub limits: Vec<String>,
}

/// Changes that are answered before the server has them.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BehindStatus {
    /// Changes that are not on the server.
    pub changes_waiting: u64,
    /// Bytes of data that they hold.
    pub changes_waiting_bytes: u64,
    /// How long ago the oldest of them was made.
    pub oldest_change_seconds: Option<f64>,
    /// Changes that were never sent, since later ones made them needless.
    pub changes_joined: u64,
    /// Changes that the server refused.
    pub changes_refused: u64,
    /// Files that were made under another name, since another client had made one of theirs.
    pub conflicts: u64,
    /// Directories in which changes wait for the server, since one was refused.
    pub careful_directories: u64,
    /// The journal, if there is one: its fields stand among these.
    #[serde(flatten, default)]
    pub journal: Option<JournalStatus>,
}

/// The journal of a mount.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct JournalStatus {
    /// Bytes of records on this host's disk.
    pub journal_bytes: u64,
    /// The most that there may be.
    pub journal_bytes_max: u64,
    /// How long the oldest record has waited to be safe on that disk.
    pub journal_synced_seconds: f64,
    /// Whether that disk failed: changes wait for the server since then.
    pub journal_failed: bool,
}

impl From<BehindReport> for BehindStatus {
    fn from(report: BehindReport) -> Self {
        Self {
            changes_waiting: report.waiting,
            changes_waiting_bytes: report.waiting_bytes,
            oldest_change_seconds: report.oldest.map(|oldest| oldest.as_secs_f64()),
            changes_joined: report.joined,
            changes_refused: report.refused,
            conflicts: report.conflicts,
            careful_directories: report.careful,
            journal: report.journal.map(|counts| JournalStatus {
                journal_bytes: counts.bytes,
                journal_bytes_max: counts.bytes_max,
                journal_synced_seconds: counts.unsynced.as_secs_f64(),
                journal_failed: report.is_synchronous || counts.has_failed,
            }),
        }
    }
}

impl BehindStatus {
    /// In a line for a person.
    fn text(&self) -> String {
        let waiting = counted(self.changes_waiting, "change", "changes");
        let mut text = format!("{waiting} not yet on the server ({})", size(self.changes_waiting_bytes));
        if let Some(oldest) = self.oldest_change_seconds {
            text.push_str(&format!(", oldest {oldest:.1} s"));
        }
        for (count, what) in [
            (self.changes_refused, "refused"),
            (self.conflicts, "beside another client's file of the same name"),
            (self.changes_joined, "saved by joining"),
        ] {
            if count > 0 {
                text.push_str(&format!("; {count} {what}"));
            }
        }
        if self.changes_refused > 0 {
            text.push_str(" (howdah refused lists what was refused)");
        }
        if let Some(journal) = &self.journal {
            text.push_str(&match journal.journal_failed {
                true => "\n  the journal failed: changes wait for the server".to_owned(),
                false => format!(
                    "\n  journal {} of {}, safe on this disk up to {:.2} s ago",
                    size(journal.journal_bytes),
                    size(journal.journal_bytes_max),
                    journal.journal_synced_seconds
                ),
            });
        }
        text
    }
}

impl MountStatus {
    /// In lines for a person.
    pub fn text(&self) -> String {
        let since = jiff::Timestamp::from_second(self.since)
            .map(|since| since.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string());
        let trip = self.round_trip.map_or(String::new(), |trip| {
            format!(", round trip {}", time(std::time::Duration::from_secs_f64(trip)))
        });
        let mut text = format!(
            "{}: {} since {} (process {})\n  read {} (now {}), wrote {} (now {}), {}, {}{trip}\n",
            self.directory,
            self.source,
            since.unwrap_or_default(),
            self.process,
            size(self.read),
            rate(self.read_per_second),
            size(self.written),
            rate(self.written_per_second),
            counted(self.open_files as u64, "open file", "open files"),
            counted(self.connections as u64, "connection", "connections"),
        );
        let ratio = |ratio: Option<f64>, what: &str| {
            ratio.map_or(String::new(), |ratio| format!(", {:.0} % of {what} from memory", 100.0 * ratio))
        };
        text.push_str(&format!(
            "  {} of {} reads and writes in flight{}{}, {} dirty\n",
            self.calls_in_flight,
            self.calls_in_flight_max,
            ratio(self.attribute_hit_ratio, "attributes"),
            ratio(self.read_hit_ratio, "reads"),
            size(self.dirty_bytes),
        ));
        if let Some(behind) = &self.behind {
            text.push_str(&format!("  {}\n", behind.text()));
        }
        text.push_str(&match &self.alone_broken {
            Some(directory) => format!(
                "  -o alone was wrong: another client changed {directory}; the caches age until it is mounted again\n"
            ),
            None if self.alone => "  alone: what is cached is not asked for again\n".to_owned(),
            None => String::new(),
        });
        if self.delegated_directories > 0 {
            let delegated = counted(self.delegated_directories, "directory", "directories");
            text.push_str(&format!(
                "  {delegated} delegated by the server: names there are not asked for again\n"
            ));
        }
        if let Some(disk) = &self.disk_cache {
            text.push_str(&format!("  {}\n", disk.text()));
        }
        if let Some(seconds) = self.silent_seconds {
            text.push_str(&format!("  the server has not answered for {seconds} s, and calls wait for it\n"));
        }
        self.limits.iter().for_each(|limit| text.push_str(&format!("  {limit}\n")));
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_that_is_away_is_told_of_before_what_limited_earlier() {
        let json_form = json!({
            "directory": "/mnt", "source": "nfs://server/", "process": 7, "since": 0, "open_files": 0, "requests": 0, "read": 0,
            "written": 0, "read_per_second": 0.0, "written_per_second": 0.0, "connections": 1, "round_trip": null,
            "silent_seconds": 25, "alone": true, "alone_broken": "a/b", "limits": ["of earlier"]
        });
        let status: MountStatus = serde_json::from_value(json_form).expect("a status");
        let text = status.text();
        let lines: Vec<&str> = text.lines().rev().take(3).collect();
        assert_eq!(
            lines[..2],
            ["  of earlier", "  the server has not answered for 25 s, and calls wait for it"]
        );
        assert!(lines[2].starts_with("  -o alone was wrong: another client changed a/b; "), "{text}");
        assert_eq!(status.disk_cache, None);
        let mut json_form = serde_json::to_value(&status).expect("JSON");
        assert!(json_form.get("cache_dir").is_none());
        for (key, value) in [
            ("cache_dir", json!("/c")),
            ("cache_state", json!("on")),
            ("cache_problem", json!(null)),
            ("cache_bytes", json!(5_000_000)),
            ("cache_bytes_max", json!(20_000_000)),
            ("cache_hits", json!(1)),
            ("cache_misses", json!(1)),
        ] {
            json_form[key] = value;
        }
        json_form["delegated_directories"] = json!(1);
        let status: MountStatus = serde_json::from_value(json_form.clone()).expect("a status");
        assert!(
            status
                .text()
                .contains("\n  1 directory delegated by the server: names there are not asked for again\n")
        );
        assert!(status.text().contains("\n  cache in /c: 5.0 MB of 20.0 MB, 50 % of reads from it\n"));
        assert_eq!(serde_json::to_value(&status).expect("JSON"), json_form);
    }
}
