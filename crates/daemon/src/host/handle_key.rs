//! The key that every file handle is signed with: random, made once, kept as long as the state directory.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use howdah_server::states::refuse_foreign;
use rustix::rand::{GetRandomFlags, getrandom};

/// More than any keyed hash in use takes.
pub const HANDLE_KEY_SIZE: usize = 32;

const FILE: &str = "handle.key";
/// Group and others may do anything.
const OTHERS: u32 = 0o077;

/// The key in this state directory; makes it if there is none. Of several processes that try at once one makes it
/// and all get the same.
pub fn handle_key(state: &Path) -> Result<[u8; HANDLE_KEY_SIZE]> {
    let path = state.join(FILE);
    match read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        read => {
            return checked(
                &path,
                read.with_context(|| format!("reading the handle key {}", path.display()))?,
            );
        }
    }
    make(state, &path).with_context(|| {
        format!(
            "making the handle key {}, without which no file handle is good after a restart",
            path.display()
        )
    })?;
    checked(&path, read(&path).with_context(|| format!("reading the handle key {}", path.display()))?)
}

/// The key makes handles of any file: its file must belong to this user, and nobody else may read it.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    refuse_foreign(path, &file.metadata()?, OTHERS)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn checked(path: &Path, bytes: Vec<u8>) -> Result<[u8; HANDLE_KEY_SIZE]> {
    let length = bytes.len();
    match bytes.try_into() {
        Ok(key) => Ok(key),
        Err(_) => bail!(
            "reading the handle key {}: {length} bytes instead of {HANDLE_KEY_SIZE}; restore it from a backup, or remove it, \
             after which every client must mount again",
            path.display()
        ),
    }
}

/// A new key.
pub(super) fn random_key() -> Result<[u8; HANDLE_KEY_SIZE]> {
    let mut key = [0; HANDLE_KEY_SIZE];
    let filled =
        getrandom(&mut key, GetRandomFlags::empty()).context("asking the system for random bytes")?;
    if filled != HANDLE_KEY_SIZE {
        bail!("the system gave only {filled} random bytes");
    }
    Ok(key)
}

/// Writes the whole key under another name first, then gives it its own name unless somebody was faster: a crash
/// leaves either no key or a whole one.
fn make(state: &Path, path: &Path) -> Result<()> {
    let key = random_key()?;
    let draft = state.join(format!("{FILE}.{}", std::process::id()));
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written = file.write_all(&key).and_then(|()| file.sync_all());
    let linked = written.and_then(|()| fs::hard_link(&draft, path));
    let _ = fs::remove_file(&draft);
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        _ => {}
    }
    File::open(state)?.sync_all()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn made_once_and_private() {
        let state = tempfile::tempdir().expect("a directory");
        let key = handle_key(state.path()).expect("made");
        assert_eq!(handle_key(state.path()).expect("read"), key);
        assert_ne!(key, [0; HANDLE_KEY_SIZE]);
        let mode = fs::metadata(state.path().join(FILE)).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(state.path()).expect("listed").count(), 1, "no draft stays");
    }

    #[test]
    fn all_who_start_at_once_get_the_same() {
        let state = tempfile::tempdir().expect("a directory");
        // Threads share a process id and so a draft's name; that of a process is its own.
        let first = handle_key(state.path()).expect("made");
        make(state.path(), &state.path().join(FILE)).expect("somebody was faster");
        assert_eq!(handle_key(state.path()).expect("read"), first);
    }

    fn write_key(state: &Path, key: &[u8], mode: u32) {
        fs::write(state.join(FILE), key).expect("written");
        fs::set_permissions(state.join(FILE), fs::Permissions::from_mode(mode)).expect("set");
    }

    #[test]
    fn a_key_that_others_may_read_is_not_used() {
        let state = tempfile::tempdir().expect("a directory");
        write_key(state.path(), &[1; HANDLE_KEY_SIZE], 0o640);
        let error = handle_key(state.path()).expect_err("its group may read it");
        assert!(format!("{error:#}").contains("chmod"), "{error:#}");
        write_key(state.path(), &[1; HANDLE_KEY_SIZE], 0o400);
        handle_key(state.path()).expect("nobody else may read it");
    }

    #[test]
    fn a_torn_key_is_not_used() {
        let state = tempfile::tempdir().expect("a directory");
        write_key(state.path(), &[1; 5], 0o600);
        let error = handle_key(state.path()).expect_err("too short");
        assert!(error.to_string().contains("5 bytes instead of 32"), "{error}");
    }
}
