//! `howdah mounts`.

use std::time::Duration;

use howdah_mount::dead_mounts;
use serde_json::json;

use super::Failure;
use crate::arguments::MountsArguments;
use crate::mounting::{KIND, MountStatus, mounts};
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
    match arguments.json {
        true => report::print(&format!("{:#}\n", json!({ "mounts": all }))),
        false if all.is_empty() && !failed => report::print("howdah has nothing mounted here\n"),
        false => all.iter().for_each(|status| report::print(&status.text())),
    }
    if failed { Err(Failure::Told) } else { Ok(()) }
}
