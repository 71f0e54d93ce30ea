//! The number of an export inside file handles: derived from its name and directory, so that it needs no
//! bookkeeping and is the same after every restart and on every machine that serves the same.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::ExportName;

/// FNV-1a over name and path. Stable for ever: a different number makes every client's handles stale.
pub fn identifier(name: &ExportName, path: &Path) -> u32 {
    let bytes = name.as_str().bytes().chain([0]).chain(path.as_os_str().as_bytes().iter().copied());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_changes() {
        let name: ExportName = "/data".parse().expect("a good name");
        assert_eq!(identifier(&name, Path::new("/srv/data")), 3_893_656_681);
        assert_ne!(identifier(&name, Path::new("/srv/data")), identifier(&name, Path::new("/srv/date")));
    }
}
