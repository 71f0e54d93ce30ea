//! `howdah mounts`.

use std::time::Duration;

use howdah_daemon::mounts::{KIND, MountStatus, found_journals, mounts};
use howdah_mount::dead_mounts;
use howdah_units::counted;
use serde_json::json;

use super::Failure;
use crate::arguments::MountsArguments;
use crate::report;

/// How long a mount that gave no answer may take to end.
const END: Duration = Duration::from_secs(5);

/// Lists what is mounted.
pub fn run(arguments: &MountsArguments) -> Result<(), Failure> {
    let mut failed = false;
    let mut all: Vec<MountStatus> = Vec::new();
    for mount in mounts(arguments.state.as_deref())? {
        match mount.status() {
            Ok(status) => all.push(status),
            // Its socket closes a little before its process ends.
            Err(_) if mount.has_ended_within(END) => {}
            Err(error) => {
                failed = true;
                report::complain(&format!("howdah: {error:#}"));
            }
        }
    }
    // What a killed process noted down is gone, and the kernel's table knows no place of notes. One that cannot be read has no mounts.
    let dead = if arguments.state.is_none() { dead_mounts(KIND).unwrap_or_default() } else { Vec::new() };
    for (directory, source) in dead {
        failed = true;
        let shown = directory.display();
        report::complain(&format!(
            "howdah: the process of the mount on {shown} ({source}) was killed: howdah mount replaces it, howdah umount takes it away"
        ));
    }
    all.sort_by(|one, other| one.directory.cmp(&other.directory));
    // The journals are this user's, wherever mounts are noted.
    let journals =
        if arguments.state.is_none() { found_journals(None).unwrap_or_default() } else { Vec::new() };
    let unsent = journals.into_iter().map(|journal| (journal.url(), journal.summary.changes.unwrap_or(0)));
    let unsent: Vec<_> = unsent.filter(|(_, changes)| *changes > 0).collect();
    if arguments.json {
        let unsent = unsent.iter().map(|(url, changes)| json!({ "url": url, "changes": changes }));
        let value = json!({ "mounts": all, "unsent_journals": unsent.collect::<Vec<_>>() });
        report::print(&format!("{value:#}\n"));
    } else {
        if all.is_empty() && unsent.is_empty() && !failed {
            report::print("howdah has nothing mounted here\n");
        }
        all.iter().for_each(|status| report::print(&status.text()));
        for (url, changes) in &unsent {
            let changes = counted(*changes, "change is", "changes are");
            report::print(&format!(
                "{changes} not yet on the server of {url}, and no mount sends them: howdah sync {url}, or mount it with -o behind\n"
            ));
        }
    }
    if failed { Err(Failure::Told) } else { Ok(()) }
}
