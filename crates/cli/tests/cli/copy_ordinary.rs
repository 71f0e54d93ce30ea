//! `howdah cp` and `cat` as an ordinary user: modes that the kernel enforces.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use howdah_needs::{Lack, skipped};

use crate::server::{HOWDAH, run};

/// `nobody` on every Linux.
const NOBODY: u32 = 65_534;

/// A directory that an ordinary user owns, and howdah as that user.
struct Ordinary {
    home: tempfile::TempDir,
    program: PathBuf,
}

impl Ordinary {
    /// `None`, and why is printed: the test runs as a user who cannot become another one.
    fn new() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            skipped(Lack::Root, "becoming another user needs root");
            return None;
        }
        let home = tempfile::tempdir().expect("a directory");
        let program = home.path().join("howdah");
        // By another process: what a test starts meanwhile would have our copy open for writing, and such a file does not run.
        assert!(Command::new("cp").arg(HOWDAH).arg(&program).status().expect("coreutils").success());
        fs::set_permissions(home.path(), Permissions::from_mode(0o755)).expect("ours");
        fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("ours");
        fs::create_dir(home.path().join("own")).expect("made");
        chown(home.path().join("own"), Some(NOBODY), Some(NOBODY)).expect("root may");
        Some(Self { home, program })
    }

    fn own(&self, name: &str) -> PathBuf {
        self.home.path().join("own").join(name)
    }

    /// A file of this user.
    fn file(&self, name: &str, content: &str, mode: u32) -> PathBuf {
        let path = self.own(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        fs::write(&path, content).expect("written");
        fs::set_permissions(&path, Permissions::from_mode(mode)).expect("chmod");
        self.give(&path);
        path
    }

    /// Gives a path and all above it, as far as it is this user's, to this user.
    fn give(&self, path: &Path) {
        for path in path.ancestors().take_while(|path| *path != self.home.path()) {
            chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
        }
    }

    fn howdah(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(&self.program);
        run(command.args(arguments).current_dir(self.home.path().join("own")).uid(NOBODY).gid(NOBODY))
    }
}

fn state(path: &Path) -> (u32, i64, i64) {
    let facts = path.symlink_metadata().expect("there");
    (facts.mode(), facts.ctime(), facts.ctime_nsec())
}

#[test]
fn a_source_that_its_owner_may_not_read_is_refused_and_not_touched() {
    let Some(user) = Ordinary::new() else { return };
    for mode in [0o000, 0o200, 0o111] {
        let path = user.file("tree/secret", "secret", mode);
        let before = state(&path);
        for arguments in [
            &["cp", "tree/secret", "copy"][..],
            &["cp", "-c", "tree/secret", "copy"],
            &["cp", "-r", "tree", "copies"],
            &["cat", "tree/secret"],
        ] {
            let (code, output, errors) = user.howdah(arguments);
            assert_eq!(code, Some(1), "{arguments:?} {mode:o}: {output}{errors}");
            assert!(errors.contains("permission denied"), "{arguments:?} {mode:o}: {errors}");
            assert_eq!(state(&path), before, "{arguments:?} {mode:o}");
        }
        assert!(!user.own("copy").exists());
    }
}
