//! Makes a setting on this host. The caller has asked a person.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};

use crate::Remedy;

/// Makes it.
///
/// # Errors
/// Not allowed, not there, or nothing that can be done from here.
pub fn apply(remedy: &Remedy) -> Result<()> {
    match remedy {
        Remedy::Sysctl { name, wanted, .. } => {
            let file = PathBuf::from("/proc/sys").join(name.replace('.', "/"));
            fs::write(&file, wanted).with_context(|| format!("writing {wanted:?} to {}", file.display()))
        }
        Remedy::Rings { interface, receive, send, .. } => {
            let counts = (receive.map(|both| both.1), send.map(|both| both.1));
            howdah_net::set_rings(interface, counts.0, counts.1)
                .with_context(|| format!("setting the rings of {interface}"))
        }
        Remedy::ReadAhead { device, wanted, .. } => {
            let file = PathBuf::from("/sys/class/bdi").join(device).join("read_ahead_kb");
            fs::write(&file, wanted.to_string()).with_context(|| format!("writing {}", file.display()))
        }
        Remedy::Advice { .. } => bail!("it cannot be done from here"),
    }
}
