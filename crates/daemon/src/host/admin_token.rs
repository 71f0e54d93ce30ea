//! The token that callers of the admin interface over TCP must send: in a file that its user alone may read, made at the first
//! start.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use howdah_server::admin::AccessToken;
use rustix::rand::{GetRandomFlags, getrandom};

const FILE: &str = "admin.token";
/// Random bytes of a token that is made here.
const SIZE: usize = 32;
/// Who may read the file besides its user.
const OTHERS: u32 = 0o077;
/// Enough for any token; more is the wrong file.
const LARGEST: u64 = 4 << 10;

/// Where the token of a server with this state directory is, unless it is configured.
pub fn admin_token_file(state: &Path, configured: Option<&Path>) -> PathBuf {
    configured.map_or_else(|| state.join(FILE), Path::to_owned)
}

/// The token in this file; makes one if there is no file.
pub fn admin_token(path: &Path) -> Result<AccessToken> {
    let step = || format!("reading the token {}", path.display());
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make(path).with_context(|| format!("making the token {}", path.display()))?;
            File::open(path).with_context(step)?
        }
        opened => opened.with_context(step)?,
    };
    read(file, path).with_context(step)
}

fn read(file: File, path: &Path) -> Result<AccessToken> {
    let mode = file.metadata()?.mode();
    if mode & OTHERS != 0 {
        bail!("others may read or change it; chmod 600 {}", path.display());
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text)?;
    AccessToken::parse(&text).map_err(|why| anyhow!("{why}; remove the file and a new token is made"))
}

/// Written under another name first, so that a crash leaves none or a whole one.
fn make(path: &Path) -> Result<()> {
    let mut random = [0; SIZE];
    let filled =
        getrandom(&mut random, GetRandomFlags::empty()).context("asking the system for random bytes")?;
    if filled != SIZE {
        bail!("the system gave only {filled} random bytes");
    }
    let mut text = String::new();
    random.iter().try_for_each(|byte| write!(text, "{byte:02x}"))?;
    text.push('\n');
    let draft = path.with_extension(format!("draft-{}", std::process::id()));
    let _ = fs::remove_file(&draft);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    file.write_all(text.as_bytes())?;
    let linked = fs::hard_link(&draft, path);
    let _ = fs::remove_file(&draft);
    match linked {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error.into()),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn made_once_and_private() {
        let state = tempfile::tempdir().expect("a directory");
        let path = admin_token_file(state.path(), None);
        let token = admin_token(&path).expect("made");
        assert_eq!(token.reveal().len(), 2 * SIZE);
        assert_eq!(admin_token(&path).expect("read"), token);
        assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(state.path()).expect("listed").count(), 1, "no draft stays");
    }

    #[test]
    fn what_others_may_read_is_no_secret() {
        let home = tempfile::tempdir().expect("a directory");
        let path = home.path().join("token");
        admin_token(&path).expect("made");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("ours");
        let why = format!("{:#}", admin_token(&path).expect_err("refused"));
        assert!(why.contains("chmod 600"), "{why}");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("ours");
        fs::write(&path, "short").expect("written");
        let why = format!("{:#}", admin_token(&path).expect_err("refused"));
        assert!(why.contains("this one 5") && why.contains("remove the file"), "{why}");
    }
}
