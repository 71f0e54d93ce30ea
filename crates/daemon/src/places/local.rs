//! Local paths: the directory that holds the node is opened as a file system, as the user who runs us.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::ffi::OsStr;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, anyhow};
use howdah_client::connect::own_caller;
use howdah_store::local::{LocalFileSystem, Options, SyncMode};
use howdah_vfs::Shown;
use parking_lot::Mutex;
use rustix::fs::Mode;
use rustix::process::umask as exchange_umask;

use super::place::LOCAL;
use super::{Following, Place};

/// What the user's shell says that new files are not to allow; asked before a file system is opened, which resets it.
pub fn umask() -> u32 {
    static UMASK: OnceLock<u32> = OnceLock::new();
    *UMASK.get_or_init(|| {
        let mask = exchange_umask(Mode::empty());
        exchange_umask(mask);
        mask.as_raw_mode()
    })
}

/// Directories that are open, each once.
#[derive(Default)]
pub(super) struct Directories(Mutex<HashMap<PathBuf, Arc<LocalFileSystem>>>);

impl Directories {
    /// Opens the place of a path, which need not exist but for its last name.
    pub(super) fn open(&self, path: &Path, following: Following) -> Result<Place> {
        umask();
        let (directory, name) = split(path, following)?;
        let file_system = match self.0.lock().entry(directory.clone()) {
            Slot::Occupied(open) => Arc::clone(open.get()),
            Slot::Vacant(slot) => {
                let options = Options {
                    cross_mounts: true,
                    sync: SyncMode::Async,
                    // A copy must not change the mode of its source, not even for a moment.
                    overrides_own_modes: false,
                    ..Options::default()
                };
                // Its text has the cause already.
                let open = LocalFileSystem::open(&directory, options).map_err(|error| anyhow!("{error}"))?;
                Arc::clone(slot.insert(Arc::new(open)))
            }
        };
        let device = directory.metadata().with_context(|| format!("looking at {}", shown(&directory)))?.dev();
        let label =
            name.as_ref().map_or_else(|| directory.clone(), |name| directory.join(OsStr::from_bytes(name)));
        Ok(Place {
            file_system,
            caller: own_caller(),
            path: name.into_iter().collect(),
            realm: LOCAL.to_owned(),
            copying_server: None,
            device: Some(device),
            label: label.into_os_string().into_vec(),
            seen_root: None,
            seen: None,
        })
    }
}

/// The real directory to open, and the name in it unless the path is a directory itself.
fn split(path: &Path, following: Following) -> Result<(PathBuf, Option<Vec<u8>>)> {
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    if path.is_dir() && (following == Following::Links || !is_link) {
        return Ok((real(path)?, None));
    }
    let whole = match following {
        Following::Links if is_link => real(path)?,
        _ => path.to_owned(),
    };
    let name = whole.file_name().with_context(|| format!("{} is no file: name one", shown(path)))?;
    let above = whole.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((real(above)?, Some(name.as_bytes().to_vec())))
}

fn shown(path: &Path) -> Shown<'_> {
    Shown(path.as_os_str().as_bytes())
}

fn real(path: &Path) -> Result<PathBuf> {
    path.canonicalize().with_context(|| format!("cannot find {}", shown(path)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_directory_is_opened_itself_and_all_else_by_name() {
        let home = tempfile::tempdir().expect("a directory");
        let real = home.path().canonicalize().expect("there");
        fs::write(real.join("file"), "x").expect("written");
        symlink(".", real.join("link")).expect("made");
        let split = |name: &str, how| split(&real.join(name), how).expect("there");
        assert_eq!(split("", Following::Nothing), (real.clone(), None));
        assert_eq!(split("file", Following::Nothing), (real.clone(), Some(b"file".to_vec())));
        assert_eq!(split("new", Following::Links), (real.clone(), Some(b"new".to_vec())));
        assert_eq!(split("link", Following::Nothing), (real.clone(), Some(b"link".to_vec())));
        assert_eq!(split("link", Following::Links), (real.clone(), None));
    }

    #[test]
    fn a_local_place_leads_to_its_node() {
        let home = tempfile::tempdir().expect("a directory");
        fs::write(home.path().join("file"), "hello").expect("written");
        let place = Directories::default().open(&home.path().join("file"), Following::Links).expect("opened");
        assert_eq!(place.node().expect("there").attributes.size, 5);
        assert_eq!(place.parent().expect("there").1, Some(&b"file"[..]));
    }

    #[test]
    fn the_files_of_two_devices_are_never_the_same() {
        let home = tempfile::tempdir().expect("a directory");
        fs::create_dir(home.path().join("sub")).expect("made");
        let realm = |path: &Path| {
            let place = Directories::default().open(path, Following::Links).expect("opened");
            assert_eq!(place.realm, LOCAL);
            place.realm_of_files()
        };
        let here = realm(home.path());
        assert_eq!((&realm(&home.path().join("sub")), &realm(&home.path().join("new"))), (&here, &here));
        assert_ne!(realm(Path::new("/proc")), here);
    }
}
