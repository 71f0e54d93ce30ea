//! Where the measuring was done: a table without it means nothing.

use std::fs;
use std::process::Command;

/// One line each: processor, kernel, commit, the host's congestion control.
pub fn describe() -> Vec<(&'static str, String)> {
    vec![
        ("machine", processor()),
        ("kernel", first_line("/proc/sys/kernel/osrelease")),
        ("commit", commit()),
        ("host's congestion control", first_line("/proc/sys/net/ipv4/tcp_congestion_control")),
        ("load average", first_line("/proc/loadavg")),
    ]
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let mut models = text.lines().filter_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = models.next().map_or("unknown", |(_, model)| model);
    format!("{model}, {} cores", 1 + models.count())
}

fn commit() -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let commit = git(&["rev-parse", "--short", "HEAD"]).unwrap_or_else(|| "unknown".to_owned());
    let changed = git(&["status", "--porcelain"]).is_some_and(|changes| !changes.is_empty());
    if changed { format!("{commit}, changed") } else { commit }
}

fn first_line(path: &str) -> String {
    fs::read_to_string(path).ok().and_then(|text| text.lines().next().map(str::to_owned)).unwrap_or_default()
}
