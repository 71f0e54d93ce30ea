//! A directory per run, with a lock that its owner holds: the next run sweeps those that nobody owns any more.

use std::env;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::geteuid;

/// In a run's directory: locked while its owner lives.
const LOCK: &str = "lock";
/// In a run's directory: the number of init outside.
const INIT: &str = "init";

/// A directory for one run. Dropped, it is removed with all that is in it.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    _lock: File,
}

impl RunDirectory {
    /// A new one, after those without an owner are removed.
    pub fn new() -> Result<Self> {
        Self::below(&parent())
    }

    fn below(parent: &Path) -> Result<Self> {
        let _only_us = lock_parent(parent)?;
        sweep(parent);
        // Our number is nobody else's: a run that had it before us is dead, and was swept.
        let path = parent.join(process::id().to_string());
        fs::create_dir(&path).with_context(|| format!("making {}", path.display()))?;
        let lock = open(&path.join(LOCK))?;
        lock.lock().with_context(|| format!("locking {}", path.display()))?;
        Ok(Self { path, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes down which process is init, for processes that want to join.
    pub fn set_init(&self, process: u32) -> Result<()> {
        let file = self.path.join(INIT);
        fs::write(&file, process.to_string()).with_context(|| format!("writing {}", file.display()))
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        // Not asked for once more: by now we may be somebody else, the superuser of a user namespace.
        let Some(parent) = self.path.parent() else { return };
        let _only_us = lock_parent(parent);
        // What cannot be removed now is swept later; the parent goes with the last run's.
        let _ = fs::remove_dir_all(&self.path);
        // When we began, programs of a run that was killed may still have been writing: that one is removed now.
        sweep(parent);
        let _ = fs::remove_dir(parent);
    }
}

/// The init of the run with that name, if it is still there.
pub fn init_of(id: &str) -> Result<u32> {
    ensure!(
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()),
        "{id:?} is no number of a sandbox"
    );
    let path = parent().join(id);
    if !path.is_dir() || is_abandoned(&path) {
        bail!("there is no sandbox {id} of yours; it ended, or its number is another one{}", others());
    }
    let file = path.join(INIT);
    let text = fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
    text.parse().with_context(|| format!("{} holds no number", file.display()))
}

/// Those that there are, in words.
fn others() -> String {
    let runs: Vec<String> = runs(&parent())
        .filter(|path| !is_abandoned(path))
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    if runs.is_empty() { String::new() } else { format!(" (there is {})", runs.join(", ")) }
}

/// A directory for each user: names of runs are nobody else's to take.
fn parent() -> PathBuf {
    env::temp_dir().join(format!("howdah-lab-{}", geteuid().as_raw()))
}

/// Makes the parent if it is not there, and locks it: one process at a time makes or removes directories in it.
fn lock_parent(parent: &Path) -> Result<File> {
    loop {
        make_parent(parent)?;
        let locked = File::open(parent).and_then(|directory| directory.lock().map(|()| directory));
        let directory = locked.with_context(|| format!("locking {}", parent.display()))?;
        // The process that had the lock before us may have removed it.
        let found = fs::symlink_metadata(parent);
        let ours = directory.metadata().with_context(|| format!("looking at {}", parent.display()))?;
        if found.is_ok_and(|found| (found.dev(), found.ino()) == (ours.dev(), ours.ino())) {
            return Ok(directory);
        }
    }
}

fn make_parent(parent: &Path) -> Result<()> {
    match DirBuilder::new().mode(0o700).create(parent) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(error).with_context(|| format!("making {}", parent.display()));
        }
        _ => {}
    }
    let found = match fs::symlink_metadata(parent) {
        // Removed meanwhile: the one that locks it sees that.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        found => found.with_context(|| format!("looking at {}", parent.display()))?,
    };
    if !found.is_dir() || found.uid() != geteuid().as_raw() || found.mode() & 0o022 != 0 {
        bail!(
            "{} is not a directory that only you can write; somebody else made it: have it removed, or set TMPDIR to a \
             directory of yours",
            parent.display()
        );
    }
    Ok(())
}

fn open(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    options.open(path).with_context(|| format!("opening {}", path.display()))
}

/// Removes the directories of runs that nobody owns.
fn sweep(parent: &Path) {
    for path in runs(parent).filter(|path| is_abandoned(path)) {
        // What cannot be removed stays for the next one to try.
        let _ = fs::remove_dir_all(&path);
    }
}

fn runs(parent: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir())
}

/// Nobody holds its lock. One without a lock was left half removed.
fn is_abandoned(path: &Path) -> bool {
    match OpenOptions::new().write(true).open(path.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_owns_goes_when_a_run_begins_and_when_it_ends() {
        let home = tempfile::tempdir().expect("a directory");
        let parent = home.path().join("howdah-lab");
        let abandon = |name: &str| {
            fs::create_dir_all(parent.join(name)).expect("made");
            fs::write(parent.join(name).join(LOCK), "").expect("written");
        };
        let run = RunDirectory::below(&parent).expect("made");
        assert_eq!(fs::metadata(&parent).expect("there").mode() & 0o777, 0o700);
        abandon("1");
        drop(run);
        assert!(!parent.exists(), "nothing is left");
        DirBuilder::new().mode(0o700).create(&parent).expect("made");
        abandon("2");
        let run = RunDirectory::below(&parent).expect("made");
        assert_eq!(runs(&parent).collect::<Vec<_>>(), [run.path()]);
        abandon("3");
        fs::remove_file(parent.join("3").join(LOCK)).expect("half removed");
        drop(run);
        assert!(!parent.exists(), "nothing is left");
    }

    #[test]
    fn a_parent_that_is_not_ours_alone_is_refused() {
        let home = tempfile::tempdir().expect("a directory");
        let (real, link, open) =
            (home.path().join("real"), home.path().join("link"), home.path().join("open"));
        fs::create_dir(&real).expect("made");
        std::os::unix::fs::symlink(&real, &link).expect("made");
        fs::create_dir(&open).expect("made");
        fs::set_permissions(&open, std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("set");
        for parent in [link, open] {
            let error = RunDirectory::below(&parent).expect_err("not ours alone").to_string();
            assert!(error.contains("somebody else made it"), "{error}");
        }
        assert_eq!(fs::read_dir(&real).expect("there").count(), 0, "nothing is made through it");
    }
}
