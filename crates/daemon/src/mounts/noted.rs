//! Where running mounts are noted: a directory with a text and a socket for each.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rustix::fs::{Access, access};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::host::running_servers;

/// That of the system's mounts.
const OF_ROOT: &str = "/run/howdah";

/// The type of howdah's mounts in the kernel's table.
pub const KIND: &str = "fuse.howdah";

/// What a mount notes down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// Where it is, from the root on.
    pub directory: PathBuf,
    /// What is mounted.
    pub source: String,
    /// Where it can be asked.
    pub socket: PathBuf,
    /// The process that keeps it.
    pub process: u32,
}

/// Where this user's mounts are noted.
pub fn own_place() -> PathBuf {
    let is_root = geteuid().is_root() && access("/run", Access::WRITE_OK).is_ok();
    if is_root {
        return PathBuf::from(OF_ROOT);
    }
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    match runtime.filter(|runtime| runtime.is_absolute() && access(runtime, Access::WRITE_OK).is_ok()) {
        Some(runtime) => runtime.join("howdah"),
        None => std::env::temp_dir().join(format!("howdah-{}", geteuid().as_raw())),
    }
}

/// The mounts that run, noted in that place, or wherever this user may look.
///
/// # Errors
/// A place cannot be read.
pub fn running(place: Option<&Path>) -> Result<Vec<Noted>> {
    let places = match place {
        Some(place) => vec![place.to_owned()],
        None => places(),
    };
    let mut found = Vec::new();
    for place in places {
        let texts = running_servers(&place)?;
        found.extend(texts.iter().filter_map(|server| serde_json::from_str::<Noted>(&server.text).ok()));
    }
    Ok(found)
}

/// This user's, and root's. Nothing is read in a place that belongs to another user, who could put there what he likes.
fn places() -> Vec<PathBuf> {
    let mut places = vec![own_place(), PathBuf::from(OF_ROOT)];
    places.dedup();
    let is_safe = |place: &PathBuf| {
        fs::symlink_metadata(place)
            .is_ok_and(|found| found.is_dir() && (found.uid() == 0 || found.uid() == geteuid().as_raw()))
    };
    places.retain(|place| is_safe(place) && access(place, Access::READ_OK | Access::EXEC_OK).is_ok());
    places
}
