//! How many files a local directory may hold open, beside the others that this process serves.

use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Resource, getrlimit};

/// The fewest descriptors that a cache is given: with less it is of no use.
const FEWEST_OPEN_FILES: usize = 8;

/// What else the process opens at most: two ends of a pipe for each worker that moves data, and what is open from the start.
const FOR_OTHERS: usize = 96;

/// What part of the files that the process may open are held for locks of one directory at most.
const PART_FOR_LOCKS: usize = 16;

/// The local directories of this process.
static DIRECTORIES: AtomicUsize = AtomicUsize::new(0);

/// The share of one of them: at most what was asked for, and together no more than half of what others leave, since
/// sockets and calls that run need files too; but each has the fewest at least, however many there are. A directory that is
/// opened later makes the others' shares smaller.
#[derive(Debug)]
pub(super) struct OpenFiles {
    wanted: usize,
    of_all: usize,
    directories: &'static AtomicUsize,
}

impl OpenFiles {
    /// A share for as long as it lives.
    pub(super) fn share(wanted: usize) -> Self {
        Self::of(of_all(limit()), wanted, &DIRECTORIES)
    }

    /// How many may be held for locks, of as many as are wanted.
    pub(super) fn for_locks(wanted: usize) -> usize {
        wanted.min(limit() / PART_FOR_LOCKS)
    }

    fn of(of_all: usize, wanted: usize, directories: &'static AtomicUsize) -> Self {
        directories.fetch_add(1, Ordering::Relaxed);
        Self { wanted, of_all, directories }
    }

    /// How many it may hold open now.
    pub(super) fn most(&self) -> usize {
        let directories = self.directories.load(Ordering::Relaxed).max(1);
        self.wanted.min(self.of_all / directories).max(FEWEST_OPEN_FILES)
    }
}

/// How many all directories may hold, of so many that the process may open.
fn of_all(limit: usize) -> usize {
    limit.saturating_sub(FOR_OTHERS) / 2
}

/// How many files the process may open.
fn limit() -> usize {
    getrlimit(Resource::Nofile).current.map_or(usize::MAX, |most| usize::try_from(most).unwrap_or(usize::MAX))
}

impl Drop for OpenFiles {
    fn drop(&mut self) {
        self.directories.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A share of so many that there is enough for any other.
    pub(in super::super) fn exactly(most: usize) -> OpenFiles {
        static DIRECTORIES: AtomicUsize = AtomicUsize::new(0);
        OpenFiles::of(usize::MAX, most, &DIRECTORIES)
    }

    #[test]
    fn where_few_files_may_be_open_pipes_and_connections_have_room() {
        static DIRECTORIES: AtomicUsize = AtomicUsize::new(0);
        for (limit, most) in [(64, FEWEST_OPEN_FILES), (256, 80), (1_024, 464)] {
            assert_eq!(OpenFiles::of(of_all(limit), 1 << 20, &DIRECTORIES).most(), most);
        }
    }

    #[test]
    fn many_directories_together_hold_no_more_than_their_half() {
        static DIRECTORIES: AtomicUsize = AtomicUsize::new(0);
        let all = [(); 16].map(|()| OpenFiles::of(512, 1 << 20, &DIRECTORIES));
        assert_eq!(all.iter().map(OpenFiles::most).sum::<usize>(), 512);
    }

    #[test]
    fn directories_share_half_of_what_the_process_may_open() {
        static DIRECTORIES: AtomicUsize = AtomicUsize::new(0);
        let first = OpenFiles::of(512, 1 << 20, &DIRECTORIES);
        assert_eq!(first.most(), 512);
        let others = [(); 3].map(|()| OpenFiles::of(512, 1 << 20, &DIRECTORIES));
        assert_eq!(first.most() + others.iter().map(OpenFiles::most).sum::<usize>(), 512);
        drop(others);
        assert_eq!(first.most(), 512);
        assert_eq!(OpenFiles::of(512, 100, &DIRECTORIES).most(), 100, "what was asked for");
    }
}
