//! The directory that host and guest have in common: `scripts/`, `log/`, `home/`, and `job.env` with the values that
//! the scripts know.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The guest's first process.
const INIT: (&str, &str) = ("init.sh", include_str!("../../guest/init.sh"));
/// Runs what the host says, see [`GuestSession`](super::GuestSession).
const SESSION: (&str, &str) = ("session.sh", include_str!("../../guest/session.sh"));
/// Starts the Linux kernel's NFS server in a guest.
pub const NFSD: (&str, &str) = ("nfsd.sh", include_str!("../../guest/nfsd.sh"));

/// Makes a Kerberos realm in a guest, and starts what its client or server needs of it.
const KERBEROS: (&str, &str) = ("krb5.sh", include_str!("../../guest/krb5.sh"));

/// A work directory that is laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuestShare {
    directory: PathBuf,
}

impl GuestShare {
    /// Makes what is not there yet, and writes the scripts that every guest needs. The path is the guest's too: it must
    /// not be below a directory that is the guest's own (`/run`, `/mnt`, `/dev`, `/proc`, `/sys`, `/var/lib/nfs`).
    pub fn lay_out(directory: &Path) -> Result<Self> {
        for name in ["log", "scripts", "home"] {
            let path = directory.join(name);
            fs::create_dir_all(&path).with_context(|| format!("making {}", path.display()))?;
        }
        let share = Self::at(directory);
        for (name, text) in [INIT, SESSION, NFSD, KERBEROS] {
            share.write_script(name, text)?;
        }
        Ok(share)
    }

    /// One that was laid out before.
    pub fn at(directory: &Path) -> Self {
        Self { directory: directory.to_owned() }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// A log by name.
    pub fn log(&self, name: &str) -> PathBuf {
        self.directory.join("log").join(name)
    }

    /// Writes a script. A guest may keep what it has read of a file: one that has been run needs another name.
    pub fn write_script(&self, name: &str, text: &str) -> Result<()> {
        let path = self.directory.join("scripts").join(name);
        fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))
            .with_context(|| format!("making {} executable", path.display()))
    }

    /// Writes `job.env`: shell words, one value a line.
    pub fn write_environment<'a>(&self, values: impl IntoIterator<Item = (&'a str, String)>) -> Result<()> {
        let path = self.directory.join("job.env");
        let lines: String =
            values.into_iter().map(|(name, value)| format!("{name}={}\n", quoted(&value))).collect();
        fs::write(&path, lines).with_context(|| format!("writing {}", path.display()))
    }
}

/// A value as one word of a shell.
pub fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_value_is_one_word() {
        assert_eq!(quoted("two words"), "'two words'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn a_share_has_what_a_guest_needs() -> Result<()> {
        let directory = tempfile::tempdir()?;
        let share = GuestShare::lay_out(directory.path())?;
        share.write_environment([("MAIN", "session.sh".to_owned()), ("PORT", "2049".to_owned())])?;
        assert_eq!(fs::read_to_string(directory.path().join("job.env"))?, "MAIN='session.sh'\nPORT='2049'\n");
        let mode = fs::metadata(directory.path().join("scripts/init.sh"))?.permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        assert!(share.log("boot.txt").parent().is_some_and(Path::is_dir));
        Ok(())
    }
}
