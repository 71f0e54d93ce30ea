//! The directory for what must survive a restart. One that is full or read-only is used all the same: what is in it can be read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use howdah_server::states::{is_unwritable, private_directory, private_part};
use rustix::fs::{Access, access};

/// Makes the directory if it is missing and sees that this process may write to it, unless its file system is read-only.
pub fn prepare_state(state: &Path) -> Result<()> {
    if let Some(parent) = state.parent() {
        // Those above are ordinary directories (~/.local/state); only ours is private.
        fs::create_dir_all(parent).with_context(|| advice("making", parent))?;
    }
    private_directory(state).with_context(|| advice("using", state))?;
    let usable = access(state, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).map_err(io::Error::from);
    match usable {
        Err(error) if !is_unwritable(&error) => Err(error).with_context(|| advice("writing to", state)),
        _ => Ok(()),
    }
}

/// Whether nothing can be written because the file system of the state directory is full or read-only.
pub fn is_full_or_read_only(error: &anyhow::Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref()).any(is_unwritable)
}

/// Says what does not work while nothing can be written to the state directory, and what to do.
pub fn warn_of_unwritable(state: &Path, why: &dyn std::fmt::Display) {
    tracing::warn!(
        "cannot write to the state directory {0}: {why}. NFSv3 and recorded NFSv4 clients are served. New NFSv4 clients and hosts \
         with locks wait, and howdah commands may not find this server. Make room there (df {0}), or mount its file system read-write",
        state.display()
    );
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
    private_part(directory).with_context(|| advice("using", directory))
}

fn advice(step: &str, directory: &Path) -> String {
    format!("{step} the state directory {} (--state DIR names another one)", directory.display())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use rustix::process::geteuid;

    use super::*;

    #[test]
    fn is_private_and_made_once() {
        let home = tempfile::tempdir().expect("a directory");
        let state = home.path().join("a/b/howdah");
        prepare_state(&state).expect("made");
        prepare_state(&state).expect("still there");
        let mode = fs::metadata(&state).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(export_state(&state, 0xff).expect("made"), state.join("exports/000000ff"));
    }

    #[test]
    fn one_that_others_may_change_is_not_used() {
        let home = tempfile::tempdir().expect("a directory");
        let state = home.path().join("howdah");
        prepare_state(&state).expect("made");
        for (mode, is_used) in [(0o755, true), (0o775, false), (0o707, false), (0o700, true)] {
            fs::set_permissions(&state, fs::Permissions::from_mode(mode)).expect("set");
            assert_eq!(prepare_state(&state).is_ok(), is_used, "{mode:o}");
        }
        if geteuid().is_root() {
            std::os::unix::fs::chown(&state, Some(1000), None).expect("given away");
            let error = prepare_state(&state).expect_err("another user's");
            assert!(format!("{error:#}").contains("belongs to user 1000"), "{error:#}");
        }
    }

    #[test]
    fn says_what_to_do_when_it_cannot() {
        let home = tempfile::tempdir().expect("a directory");
        fs::write(home.path().join("file"), "").expect("written");
        let error = prepare_state(&home.path().join("file/state")).expect_err("a file is no directory");
        assert!(format!("{error:#}").contains("--state"), "{error:#}");
    }
}
