//! Sweeps the place of running servers: admin sockets whose process is gone.

use std::fs;
use std::path::Path;

use howdah_net::remove_if_dead;
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

/// Where a text is written before it is shown; readers skip it.
pub const DRAFT: &str = ".draft-";
/// How the name of an admin socket ends, or of the link to one that is elsewhere.
pub const ADMIN: &str = ".admin";

/// Removes the admin sockets of processes that are gone, and the links to them. What cannot be removed stays: it harms nobody.
pub fn sweep(directory: &Path) {
    for file in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = file.file_name();
        let process = name.to_str().and_then(|name| name.strip_suffix(ADMIN)).and_then(|id| id.parse().ok());
        if process.is_some_and(|process| !lives(process)) {
            sweep_socket(&file.path());
        }
    }
}

fn sweep_socket(path: &Path) {
    let Ok(target) = fs::read_link(path) else {
        let _ = remove_if_dead(path);
        return;
    };
    // The socket is elsewhere, where somebody else may be listening by now.
    let _ = remove_if_dead(&target);
    let _ = fs::remove_file(path);
}

/// Whether a process of that id runs, ours or another user's.
fn lives(process: i32) -> bool {
    match Pid::from_raw(process).map(test_kill_process) {
        Some(answer) => answer != Err(Errno::SRCH),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    /// No process has it: it is beyond the largest id (`PID_MAX_LIMIT`).
    const NOBODY: &str = "1073741824";

    #[test]
    fn sockets_of_the_dead_go_and_those_of_the_living_stay() {
        let home = tempfile::tempdir().expect("a directory");
        let at = |process: &str| home.path().join(format!("{process}{ADMIN}"));
        let mine = at(&std::process::id().to_string());
        drop(UnixListener::bind(&mine).expect("bound"));
        drop(UnixListener::bind(at(NOBODY)).expect("bound"));
        let elsewhere = home.path().join("elsewhere");
        drop(UnixListener::bind(&elsewhere).expect("bound"));
        symlink(&elsewhere, at("1073741825")).expect("made");
        sweep(home.path());
        let left: Vec<_> =
            fs::read_dir(home.path()).expect("there").flatten().map(|file| file.path()).collect();
        assert_eq!(left, [mine]);
    }
}
