//! The secret that all heads of a cluster have: made once, copied to each of them.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail};
use howdah_server::states::refuse_foreign;

use super::handle_key::{HANDLE_KEY_SIZE, random_key};

/// Group and others may do anything.
const OTHERS: u32 = 0o077;

/// The secret in this file.
///
/// # Errors
/// It cannot be read, others may read it, or it is not what [`make_cluster_key`] made.
pub fn cluster_key(path: &Path) -> Result<[u8; HANDLE_KEY_SIZE]> {
    let step = || format!("reading the cluster's key {}", path.display());
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "{}: there is no such file; copy it from another head, or make the first one with howdah cluster-key {}",
            step(),
            path.display()
        ),
        file => file.with_context(step)?,
    };
    refuse_foreign(path, &file.metadata().with_context(step)?, OTHERS).with_context(step)?;
    let mut bytes = Vec::new();
    file.take(HANDLE_KEY_SIZE as u64 + 1).read_to_end(&mut bytes).with_context(step)?;
    let length = bytes.len();
    match bytes.try_into() {
        Ok(key) => Ok(key),
        Err(_) => {
            let length = if length > HANDLE_KEY_SIZE {
                format!("more than {HANDLE_KEY_SIZE}")
            } else {
                length.to_string()
            };
            bail!(
                "{}: {length} bytes instead of {HANDLE_KEY_SIZE}; copy it again from another head (it is not text)",
                step()
            )
        }
    }
}

/// Makes a secret in a file that is not there yet, for its owner alone.
///
/// # Errors
/// It is there already, or cannot be written.
pub fn make_cluster_key(path: &Path) -> Result<()> {
    let step = || format!("writing the cluster's key {}", path.display());
    let key = random_key()?;
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).with_context(step)?;
    }
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => bail!(
            "{} is there already; heads that use it would lose their clients' handles: remove it first, or choose another name",
            path.display()
        ),
        file => file.with_context(step)?,
    };
    file.write_all(&key).and_then(|()| file.sync_all()).with_context(step)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn it_is_made_once_and_read_as_it_is() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("howdah/cluster.key");
        make_cluster_key(&path).expect("made");
        let key = cluster_key(&path).expect("read");
        assert_ne!(key, [0; HANDLE_KEY_SIZE]);
        assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
        let error = make_cluster_key(&path).expect_err("it is there");
        assert!(error.to_string().contains("is there already"), "{error}");
        assert_eq!(cluster_key(&path).expect("read"), key);
    }

    #[test]
    fn every_error_says_what_to_do() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("cluster.key");
        let refused = || format!("{:#}", cluster_key(&path).expect_err("not a key"));
        assert!(refused().contains("howdah cluster-key"), "{}", refused());
        for (bytes, mode, part) in [
            (&[7; 5][..], 0o600, "5 bytes instead of 32; copy it again"),
            (&[7; 33], 0o600, "more than 32 bytes instead of 32"),
            (&[7; 32], 0o640, "chmod go-rwx"),
        ] {
            fs::write(&path, bytes).expect("written");
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
            assert!(refused().contains(part), "{}", refused());
        }
    }
}
