//! Settings of a host's kernel, written from inside its network namespace.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Result, bail};

use super::HostSpec;

/// What every host begins with, where its kernel has it: so that nothing but what is asked for travels on a wire (no
/// search for routers, no test of addresses), and packets may come in by whichever wire.
const FIRST: [(&str, &str); 6] = [
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
    ("net.ipv6.conf.all.disable_ipv6", "0"),
    ("net.ipv6.conf.default.disable_ipv6", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    // No address of its own making on an interface.
    ("net.ipv6.conf.default.addr_gen_mode", "1"),
];

/// Whether this kernel has IPv6.
pub fn has_ipv6() -> bool {
    path("net.ipv6.conf").is_dir()
}

/// Before there are interfaces.
pub fn begin() {
    for (name, value) in FIRST {
        // A kernel without it has nothing to turn off.
        let _ = fs::write(path(name), value);
    }
}

/// What a topology asks for; interfaces are there, since some settings are an interface's.
pub fn apply(spec: &HostSpec) -> Result<()> {
    for (name, value) in &spec.sysctls {
        // Anything else is the whole machine's, and not ours to change.
        if !name.starts_with("net.") {
            bail!("{name} is no setting of a network namespace: those begin with net.");
        }
        match fs::write(path(name), value) {
            Ok(()) => {}
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::PermissionDenied) => {
                bail!("{name}: on this kernel a network namespace has no such setting of its own")
            }
            Err(error) => bail!("{name} = {value}: {error}"),
        }
    }
    Ok(())
}

/// As sysctl(8) has it: dots separate, and a slash stands for a dot.
fn path(name: &str) -> PathBuf {
    let swapped = name.chars().map(|letter| match letter {
        '.' => '/',
        '/' => '.',
        other => other,
    });
    PathBuf::from("/proc/sys").join(swapped.collect::<String>())
}
