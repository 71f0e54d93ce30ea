//! The commit that this program was built from.

use std::process::Command;
use std::time::UNIX_EPOCH;

/// In a checkout, and in no other directory above a program.
const MANIFEST: &str = "crates/lab/Cargo.toml";

/// The last commit, at build time, of the checkout that contains this program; with `+` if files of the checkout were changed since.
/// `None` for a program outside a checkout: the binary contains no path, so that all builds of a commit are the same. The build time is
/// the modification time of the program's file; a copy must keep it.
pub fn commit() -> Option<String> {
    let program = std::env::current_exe().ok()?;
    let checkout = program.ancestors().find(|above| above.join(MANIFEST).is_file())?;
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(checkout).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let built = program.metadata().ok()?.modified().ok()?;
    let before = format!("--before={}", built.duration_since(UNIX_EPOCH).ok()?.as_secs());
    let commit =
        git(&["rev-list", "-1", "--first-parent", "--abbrev-commit", "--abbrev=12", &before, "HEAD"])?;
    let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    match commit.as_str() {
        "" => None,
        _ if changed.is_empty() => Some(commit),
        _ => Some(format!("{commit}+")),
    }
}
