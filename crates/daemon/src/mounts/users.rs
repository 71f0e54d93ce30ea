//! Who uses a mount, as /proc shows it.

use std::fs;
use std::path::Path;

/// The most that are named.
const NAMED: usize = 5;

/// Processes that have something open below a directory, or work there: as text, empty if none is seen.
pub fn users_of(directory: &Path) -> String {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let users = processes.filter_map(|entry| {
        let process: u32 = entry.file_name().to_str()?.parse().ok()?;
        let own = entry.path();
        let leads_there = |link: &Path| fs::read_link(link).is_ok_and(|target| target.starts_with(directory));
        let files = fs::read_dir(own.join("fd")).into_iter().flatten().flatten();
        let is_user = leads_there(&own.join("cwd"))
            || leads_there(&own.join("root"))
            || files.map(|file| file.path()).any(|file| leads_there(&file));
        let name = fs::read_to_string(own.join("comm")).unwrap_or_default();
        is_user.then(|| format!("{} (process {process})", name.trim()))
    });
    users.take(NAMED).collect::<Vec<_>>().join(", ")
}
