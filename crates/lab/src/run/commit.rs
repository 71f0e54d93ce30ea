//! The commit that this program was built from.

use std::process::Command;
use std::time::UNIX_EPOCH;

/// The last commit of the checkout that this program was built in when it was built, if the checkout is still there; with `+` if
/// it has files that were changed since. When it was built is what its file says, so that a copy should keep that time.
pub fn commit() -> Option<String> {
    let checkout = env!("CARGO_MANIFEST_DIR");
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(checkout).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let built = std::env::current_exe().ok()?.metadata().ok()?.modified().ok()?;
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
