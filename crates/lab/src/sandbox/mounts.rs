//! The mounts inside: `/proc` of the own processes, an empty `/run`, an `/etc/hosts` that can be written.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change};

use super::names::HOSTS;
use super::{refusal, sandbox};

/// What programs of today expect in `/run`; the rest they make.
const DIRECTORIES: [&str; 4] = ["/run/howdah", "/run/netns", "/run/lock", "/run/sshd"];

/// Makes them, and writes down what the sandbox is.
pub fn make(directory: &str) -> Result<()> {
    let private = MountPropagationFlags::REC | MountPropagationFlags::PRIVATE;
    mount_change("/", private).context("keeping mounts to ourselves")?;
    // What programs of one host mount is seen on the others, though each has a mount namespace for its own `/sys`.
    let shared = MountPropagationFlags::REC | MountPropagationFlags::SHARED;
    mount_change("/", shared).context("sharing mounts among hosts")?;
    let plain = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", plain, None).map_err(refusal::processes)?;
    mount("howdah", "/run", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(c"mode=755"))
        .context("mounting an empty /run")?;
    for directory in DIRECTORIES {
        fs::create_dir(directory).with_context(|| format!("making {directory}"))?;
    }
    hosts()?;
    fs::write(sandbox::DESCRIPTION, directory).with_context(|| format!("writing {}", sandbox::DESCRIPTION))
}

/// Programs that look up a name read our copy.
fn hosts() -> Result<()> {
    let place = Path::new("/etc/hosts");
    let hosts = fs::read(place).unwrap_or_default();
    fs::write(HOSTS, hosts).with_context(|| format!("writing {HOSTS}"))?;
    // A system without the file has nothing that a copy could cover; there hosts have addresses only.
    if !place.is_file() {
        return Ok(());
    }
    mount_bind(HOSTS, place).context("covering /etc/hosts")
}
