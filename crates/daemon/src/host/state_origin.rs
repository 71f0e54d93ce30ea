//! Where a state directory was made, noted in it: a copy has the identity of the original, and clients of both servers would take one
//! for the other. Knows nothing of what else is in it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use howdah_server::states::private_file;
use rustix::fs::statfs;

const NAME: &str = "origin";
const NEW_NAME: &str = "origin.new";

/// What systemd and D-Bus call this machine.
const MACHINE: &str = "/etc/machine-id";
/// Where there is one of these, it is a container, whose machine may be another one at each start.
const CONTAINERS: [&str; 2] = ["/run/.containerenv", "/.dockerenv"];

/// File systems whose file numbers may change with each mount: FUSE and overlays (linux/magic.h).
const RENUMBERED: [u64; 2] = [0x6573_5546, 0x794c_7630];

/// Warns if this state directory is a copy, once: from then on it is this server's.
pub fn warn_of_copy(state: &Path) {
    let (path, here) = (state.join(NAME), origin(state));
    let before = fs::read_to_string(&path).ok();
    if before.as_deref() == Some(&*here) {
        return;
    }
    if before.is_some_and(|before| is_elsewhere(&before, &here)) {
        tracing::warn!(
            "the state directory {} was copied or moved here. If the server that it came from still runs, both have the same identity, \
             and handles and locks of their clients are confused: give this one an empty state directory (--state). If the server \
             moved here, all is well",
            state.display()
        );
    }
    if let Err(error) = write(state, &here) {
        tracing::debug!(%error, "noting where the state directory is");
    }
}

fn write(state: &Path, text: &str) -> io::Result<()> {
    let new = state.join(NEW_NAME);
    private_file(&new)?.write_all(text.as_bytes())?;
    fs::rename(new, state.join(NAME))
}

/// What differs between this directory and a copy of it: a line for each thing that is known.
fn origin(state: &Path) -> String {
    let is_container = CONTAINERS.iter().any(|path| Path::new(path).exists());
    let machine = fs::read_to_string(MACHINE).ok().filter(|_| !is_container);
    let machine = machine.as_deref().map(str::trim).filter(|machine| !machine.is_empty());
    let is_numbered = statfs(state).is_ok_and(|found| !RENUMBERED.contains(&(found.f_type as u64)));
    let number = fs::metadata(state).ok().filter(|_| is_numbered).map(|found| found.ino());
    let machine = machine.map_or_else(String::new, |machine| format!("machine {machine}\n"));
    machine + &number.map_or_else(String::new, |number| format!("number {number}\n"))
}

/// Whether something that is known of both is different.
fn is_elsewhere(before: &str, here: &str) -> bool {
    let of = |text: &str, what: &str| {
        text.lines().find_map(|line| Some(line.strip_prefix(what)?.strip_prefix(' ')?.to_owned()))
    };
    ["machine", "number"].iter().any(|what| {
        let both = of(before, what).zip(of(here, what));
        both.is_some_and(|(before, here)| before != here)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_noticed_by_what_is_known_of_both() {
        for (before, here, differs) in [
            ("machine a\nnumber 1\n", "machine a\nnumber 1\n", false),
            ("machine a\nnumber 1\n", "machine a\nnumber 2\n", true),
            ("machine a\nnumber 1\n", "machine b\nnumber 1\n", true),
            ("number 1\n", "machine b\nnumber 1\n", false),
            ("machine a\n", "number 1\n", false),
            ("", "machine a\nnumber 1\n", false),
        ] {
            assert_eq!(is_elsewhere(before, here), differs, "{before:?} and {here:?}");
        }
    }

    #[test]
    fn where_it_is_is_noted_at_each_place_anew() {
        let home = tempfile::tempdir().expect("a directory");
        warn_of_copy(home.path());
        let noted = fs::read_to_string(home.path().join(NAME)).expect("noted");
        assert_eq!(noted, origin(home.path()));
        let copy = tempfile::tempdir().expect("a directory");
        fs::copy(home.path().join(NAME), copy.path().join(NAME)).expect("copied");
        assert!(is_elsewhere(&noted, &origin(copy.path())), "{noted}");
        warn_of_copy(copy.path());
        assert_eq!(fs::read_to_string(copy.path().join(NAME)).expect("noted"), origin(copy.path()));
    }
}
