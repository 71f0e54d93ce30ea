//! The file in which this user's processes remember what paths carry. Nothing depends on it: what cannot be read or written is left.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;

use howdah_client::channel::{remember_paths, remembered_paths};
use rustix::process::geteuid;

/// The name of the file.
const NAME: &str = "howdah-paths";
/// That of root, who has no runtime directory as a rule.
const OF_ROOT: &str = "/run";
/// The most bytes that are read.
const LONGEST: u64 = 64 << 10;

static LOADED: Once = Once::new();

/// Takes what other processes of this user found, once.
pub fn load_paths() {
    LOADED.call_once(|| {
        if let Some(text) = place().and_then(|place| read(&place)) {
            remember_paths(&text);
        }
    });
}

/// Leaves what is known of paths for other processes of this user.
pub fn save_paths() {
    let Some(place) = place().filter(|_| LOADED.is_completed()) else { return };
    // What others found meanwhile stays.
    let before = read(&place).unwrap_or_default();
    remember_paths(&before);
    let text = remembered_paths();
    if text != before
        && let Err(error) = write(&place, &text)
    {
        tracing::debug!(%error, place = %place.display(), "measurements of paths are not kept");
    }
}

fn place() -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|place| place.is_absolute());
    let root = geteuid().is_root().then(|| PathBuf::from(OF_ROOT));
    Some(runtime.or(root)?.join(NAME))
}

/// Only what this user wrote: another one could slow us down.
fn read(place: &Path) -> Option<String> {
    let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(no_link).open(place).ok()?;
    let about = file.metadata().ok()?;
    if !about.is_file() || about.uid() != geteuid().as_raw() {
        return None;
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}

fn write(place: &Path, text: &str) -> std::io::Result<()> {
    let beside = place.with_extension(std::process::id().to_string());
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    let written = file.write_all(text.as_bytes()).and_then(|()| fs::rename(&beside, place));
    written.inspect_err(|_| drop(fs::remove_file(&beside)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_of_this_user_is_read() {
        let home = tempfile::tempdir().expect("a directory");
        let (place, link) = (home.path().join(NAME), home.path().join("link"));
        assert_eq!(read(&place), None);
        write(&place, "text").expect("written");
        write(&place, "another text").expect("replaced");
        assert_eq!(read(&place).as_deref(), Some("another text"));
        assert_eq!(fs::metadata(&place).expect("there").mode() & 0o777, 0o600);
        std::os::unix::fs::symlink(&place, &link).expect("made");
        assert_eq!(read(&link), None, "another user may have put it there");
        assert_eq!(read(home.path()), None);
        assert_eq!(fs::read_dir(home.path()).expect("listed").count(), 2, "nothing is left beside it");
    }
}
