//! The directory for what must survive a restart.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustix::fs::{Access, access};

/// For its owner only: who reads the key in it can forge file handles.
const MODE: u32 = 0o700;

/// Makes the directory if it is missing and sees that this process may write to it.
pub fn prepare_state(state: &Path) -> Result<()> {
    if let Some(parent) = state.parent() {
        // Those above are ordinary directories (~/.local/state); only ours is private.
        fs::create_dir_all(parent).with_context(|| advice("making", parent))?;
    }
    make_private(state)?;
    access(state, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK)
        .with_context(|| advice("writing to", state))
}

/// The directory of one export's state, made if it is missing.
pub fn export_state(state: &Path, id: u32) -> Result<PathBuf> {
    let exports = part_of_state(state, "exports")?;
    let directory = exports.join(format!("{id:08x}"));
    make_private(&directory)?;
    Ok(directory)
}

/// A directory inside the state directory, made if it is missing.
pub fn part_of_state(state: &Path, name: &str) -> Result<PathBuf> {
    let directory = state.join(name);
    make_private(&directory)?;
    Ok(directory)
}

fn make_private(directory: &Path) -> Result<()> {
    match DirBuilder::new().mode(MODE).create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => Ok(()),
        made => made.with_context(|| advice("making", directory)),
    }
}

fn advice(step: &str, directory: &Path) -> String {
    format!("{step} the state directory {} (--state DIR names another one)", directory.display())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn is_private_and_made_once() {
        let home = tempfile::tempdir().expect("a directory");
        let state = home.path().join("a/b/howdah");
        prepare_state(&state).expect("made");
        prepare_state(&state).expect("still there");
        let mode = fs::metadata(&state).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, MODE);
        assert_eq!(export_state(&state, 0xff).expect("made"), state.join("exports/000000ff"));
    }

    #[test]
    fn says_what_to_do_when_it_cannot() {
        let home = tempfile::tempdir().expect("a directory");
        fs::write(home.path().join("file"), "").expect("written");
        let error = prepare_state(&home.path().join("file/state")).expect_err("a file is no directory");
        assert!(format!("{error:#}").contains("--state"), "{error:#}");
    }
}
