//! Whether a directory can be served.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// The directory's path without symbolic links, or why it cannot be served.
pub fn served(path: &Path) -> Result<PathBuf, String> {
    let say = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            format!("there is no directory {}; create it, or check the path", path.display())
        }
        io::ErrorKind::PermissionDenied => format!("not allowed to reach {} as {}", path.display(), me()),
        _ => format!("{}: {error}", path.display()),
    };
    let real = path.canonicalize().map_err(say)?;
    if !real.metadata().map_err(say)?.is_dir() {
        return Err(format!("{} is not a directory; name one", path.display()));
    }
    access(&real, Access::READ_OK | Access::EXEC_OK)
        .map_err(|_| format!("not allowed to read {} as {}", path.display(), me()))?;
    Ok(real)
}

/// The user of the system calls of this process.
fn me() -> String {
    format!("user {}", rustix::process::geteuid().as_raw())
}
