//! Why there can be no sandbox here, and what to do: one sentence for each thing that may be missing.

use std::fs;
use std::fs::OpenOptions;
use std::io::{self, ErrorKind};

use anyhow::{Error, Result, anyhow};
use nix::errno::Errno;
use rustix::process::geteuid;

/// Whether interfaces can be made at all.
pub fn check_interfaces() -> Result<()> {
    const DEVICE: &str = "/dev/net/tun";
    let Err(error) = OpenOptions::new().read(true).write(true).open(DEVICE) else { return Ok(()) };
    Err(match error.kind() {
        ErrorKind::PermissionDenied => anyhow!(
            "cannot open {DEVICE}, by which the lab makes its networks: permission denied; run this as root, or let root \
             allow it as most systems do (chmod 666 {DEVICE}); this gives nobody rights over this machine's network"
        ),
        ErrorKind::NotFound => anyhow!(
            "there is no {DEVICE}, and wires are made with it: load the kernel's module (modprobe tun), or in a \
             container pass the device in (--device {DEVICE})"
        ),
        _ => anyhow!("opening {DEVICE}, with which wires are made: {error}"),
    })
}

/// Namespaces were refused.
pub fn namespaces(error: Errno) -> Error {
    if let Some((setting, value)) = closed() {
        return anyhow!(
            "user namespaces are turned off for ordinary users here ({setting} is {value}): run this as root, or \
             have root turn them on"
        );
    }
    match error {
        Errno::EPERM if geteuid().is_root() => {
            anyhow!("this container's superuser may not make namespaces: give it the right (--privileged)")
        }
        Errno::EPERM | Errno::EACCES => {
            anyhow!("making namespaces is forbidden here ({error}); run this as root")
        }
        Errno::ENOSPC | Errno::EUSERS => {
            anyhow!("there are as many namespaces as this system allows (/proc/sys/user/max_*_namespaces)")
        }
        Errno::EINVAL | Errno::ENOSYS => anyhow!("this kernel has no namespaces ({error})"),
        _ => anyhow!("making namespaces: {error}"),
    }
}

/// A user namespace was made, but nobody may be anybody in it.
pub fn identities(error: io::Error) -> Error {
    match closed() {
        Some(_) => namespaces(Errno::EPERM),
        None => anyhow!("becoming the superuser of a user namespace: {error}; run this as root"),
    }
}

/// `/proc` was refused.
pub fn processes(error: rustix::io::Errno) -> Error {
    anyhow!(
        "mounting /proc: {error}; in a container that hides parts of /proc it takes its superuser's full rights"
    )
}

/// Whether a setting of that value does.
type Closes = fn(&str) -> bool;

/// A setting by which this system keeps user namespaces from ordinary users, and its value.
fn closed() -> Option<(&'static str, String)> {
    let settings: [(&str, Closes); 3] = [
        ("/proc/sys/kernel/unprivileged_userns_clone", |value| value == "0"),
        ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", |value| value != "0"),
        ("/proc/sys/user/max_user_namespaces", |value| value == "0"),
    ];
    if geteuid().is_root() {
        return None;
    }
    settings.into_iter().find_map(|(setting, closes)| {
        let value = fs::read_to_string(setting).ok()?.trim().to_owned();
        closes(&value).then_some((setting, value))
    })
}
