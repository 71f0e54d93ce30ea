//! Whether the path that was exported still leads to the directory that is served. Looked at once a second, on no call.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use rustix::fs::{FileType, fstat, stat};
use rustix::io::Errno;

/// Where the path of an export leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// To the directory that is served.
    Present,
    /// To no directory.
    Missing,
    /// To another directory on the same file system.
    Replaced,
    /// To a directory on another file system, as after a mount over it.
    Covered,
}

/// Watches a path.
#[derive(Debug)]
pub(super) struct PathWatch {
    path: PathBuf,
    last: Mutex<Presence>,
}

impl PathWatch {
    /// Watches the path of a directory that was just opened.
    pub(super) fn new(directory: &Path) -> Self {
        let path = std::path::absolute(directory).unwrap_or_else(|_| directory.to_owned());
        Self { path, last: Mutex::new(Presence::Present) }
    }

    /// What the last look found.
    pub(super) fn last(&self) -> Presence {
        *self.last.lock()
    }

    /// Compares the path with the directory that is served. A failure that leaves open what is there changes nothing.
    pub(super) fn look(&self, served: impl AsFd) {
        let Ok(served) = fstat(served) else { return };
        let presence = match stat(&self.path) {
            Ok(found) if (found.st_dev, found.st_ino) == (served.st_dev, served.st_ino) => Presence::Present,
            Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::Directory => Presence::Missing,
            Ok(found) if found.st_dev == served.st_dev => Presence::Replaced,
            Ok(_) => Presence::Covered,
            Err(Errno::NOENT | Errno::NOTDIR) => Presence::Missing,
            Err(_) => return,
        };
        *self.last.lock() = presence;
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, create_dir, remove_dir, rename, write};

    use super::*;

    #[test]
    fn a_path_that_leads_elsewhere_is_noticed() {
        let home = tempfile::tempdir().expect("a directory");
        let (path, aside) = (home.path().join("export"), home.path().join("aside"));
        create_dir(&path).expect("made");
        let (served, watch) = (File::open(&path).expect("it opens"), PathWatch::new(&path));
        let look = || {
            watch.look(&served);
            watch.last()
        };
        assert_eq!(look(), Presence::Present);
        rename(&path, &aside).expect("moved away");
        assert_eq!(look(), Presence::Missing);
        write(&path, "no directory").expect("written");
        assert_eq!(look(), Presence::Missing);
        std::fs::remove_file(&path).expect("removed");
        create_dir(&path).expect("made again");
        assert_eq!(look(), Presence::Replaced);
        remove_dir(&path).expect("removed");
        rename(&aside, &path).expect("moved back");
        assert_eq!(look(), Presence::Present);
        remove_dir(&path).expect("removed");
        assert_eq!(look(), Presence::Missing);
        create_dir(&path).expect("made again");
        assert_eq!(look(), Presence::Replaced, "its number is not used again while it is served");
        remove_dir(&path).expect("removed");
        std::os::unix::fs::symlink("/proc", &path).expect("made");
        assert_eq!(look(), Presence::Covered);
    }
}
