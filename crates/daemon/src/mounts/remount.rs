//! `mount -o remount`: what the kernel enforces of a mount is changed, and its process goes on as it is.

use anyhow::{Context, Result, bail};
use howdah_mount::{Enforced, from_root, mounted_on, remount};

use super::daemon::MountRequest;
use super::noted::KIND;
use super::options::MountSettings;
use crate::screen;

/// Gives a mount other options. Those of the way to the server stay as they are until it is mounted again.
///
/// # Errors
/// Nothing of ours is mounted there, or the kernel refuses.
pub fn remounted(request: &MountRequest<'_>, settings: &MountSettings) -> Result<()> {
    let shown = request.directory.display();
    let directory = from_root(request.directory).with_context(|| format!("looking at {shown}"))?;
    let found = mounted_on(&directory).context("reading the mount table")?;
    if found.is_none_or(|(_, kind)| kind != KIND) {
        bail!("nothing is mounted by howdah on {shown}: mount it without remount");
    }
    let enforced = Enforced {
        read_only: settings.read_only,
        set_id: settings.set_id,
        devices: settings.devices,
        executable: settings.executable,
    };
    remount(&directory, enforced).with_context(|| format!("changing the mount on {shown}"))?;
    if !request.quiet {
        let mode = if settings.read_only { "read-only" } else { "read-write" };
        screen::print(&format!(
            "{shown} is mounted {mode} now; options of the server stay until it is mounted again\n"
        ));
    }
    Ok(())
}
