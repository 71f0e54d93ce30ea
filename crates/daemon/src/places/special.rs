//! Local files that cannot be copied by their size: the kernel's own, and devices.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use anyhow::{Result, bail};

/// File systems whose files do not say how long they are: their size is 0, or a page, whatever a read gives. Types of
/// statfs(2), from Linux's `magic.h`: procfs, sysfs, debugfs, tracefs, securityfs, the control groups of both versions.
const UNSIZED: [u64; 7] =
    [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x0027_e0eb, 0x6367_7270];

/// Refuses what cannot be read by its size.
pub(super) fn refuse_unsized(path: &[u8]) -> Result<()> {
    let found = rustix::fs::statfs(path);
    // Who cannot be asked is found out by the copy.
    if found.is_ok_and(|found| UNSIZED.contains(&u64::try_from(found.f_type).unwrap_or(0))) {
        bail!("the kernel's own files do not say how long they are: cat(1) reads them");
    }
    Ok(())
}

/// What a name leads to that is neither a file nor a directory, such as a device.
pub(super) fn special_at_the_end(path: &[u8]) -> bool {
    Path::new(OsStr::from_bytes(path)).metadata().is_ok_and(|found| !found.is_file() && !found.is_dir())
}
