//! A copy of a commit in a directory of its own.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

/// The copy; it goes when this does.
pub struct Checkout {
    directory: TempDir,
    /// Which commit.
    pub commit: String,
    /// When it was made, in seconds since 1970: the only time that the build may hold.
    pub time: String,
    /// Whether what lies in the workspace is not that commit.
    pub differs: bool,
}

impl Checkout {
    /// Copies a commit out of this repository, such as `HEAD`.
    pub fn of(root: &Path, commit: &str) -> Result<Self> {
        let git = |arguments: &[&str]| -> Result<String> {
            let output =
                Command::new("git").arg("-C").arg(root).args(arguments).output().context("starting git")?;
            ensure!(
                output.status.success(),
                "git {}: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr)
            );
            Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
        };
        let (commit, time) = (git(&["rev-parse", commit])?, git(&["log", "-1", "--format=%ct", commit])?);
        let differs = !git(&["status", "--porcelain", "--untracked-files=no"])?.is_empty();
        let directory =
            tempfile::Builder::new().prefix("howdah-release-").tempdir().context("making a directory")?;
        let archive = directory.path().join("commit.tar");
        let file = File::create(&archive).context("making the archive")?;
        let archived = Command::new("git")
            .arg("-C")
            .arg(root)
            .args(["archive", &commit])
            .stdout(Stdio::from(file))
            .status();
        ensure!(archived.context("starting git")?.success(), "git archive {commit} failed");
        let source = directory.path().join("source");
        std::fs::create_dir(&source).context("making a directory")?;
        let unpacked = Command::new("tar").arg("-xf").arg(&archive).arg("-C").arg(&source).status();
        ensure!(unpacked.context("starting tar")?.success(), "unpacking {commit} failed");
        Ok(Self { directory, commit, time, differs })
    }

    /// Where it is.
    pub fn path(&self) -> std::path::PathBuf {
        self.directory.path().join("source")
    }

    /// Where it is built.
    pub fn target(&self) -> std::path::PathBuf {
        self.directory.path().join("target")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_copy_is_of_the_same_commit_whatever_was_committed_since() {
        let place = tempfile::tempdir().expect("a directory");
        let commit = |text: &str| {
            std::fs::write(place.path().join("file"), text).expect("written");
            let git = |arguments: &[&str]| {
                let identity = ["-c", "user.name=me", "-c", "user.email=me@example.org"];
                let mut git = Command::new("git");
                let status = git.arg("-C").arg(place.path()).args(identity).args(arguments).status();
                assert!(status.expect("git runs").success());
            };
            git(&["init", "-q"]);
            git(&["add", "file"]);
            git(&["commit", "-q", "-m", text]);
        };
        commit("first");
        let first = Checkout::of(place.path(), "HEAD").expect("a copy");
        commit("second");
        let again = Checkout::of(place.path(), &first.commit).expect("another copy");
        assert_eq!((&again.commit, &again.time), (&first.commit, &first.time));
        let text = |copy: &Checkout| std::fs::read_to_string(copy.path().join("file")).expect("read");
        assert_eq!([text(&first), text(&again)], ["first", "first"]);
        assert_ne!(Checkout::of(place.path(), "HEAD").expect("a copy").commit, first.commit);
    }
}
