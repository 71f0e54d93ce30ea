//! The entries of a directory, for display: all of them sorted, or batch by batch as the file system lists them. Memory is
//! bounded, whatever the file system lists.

use std::fmt;
use std::ops::ControlFlow;

use super::circle::Circle;
use crate::limits::SORTED_NAMES_MAX;
use crate::{Caller, Detail, Entry, FileSystem, FsError, Handle, ListDirectory, Node};

/// Entries of a batch where they are not sorted.
const BATCH: usize = 1024;

/// Names, with their nodes as far as those were asked for and are there.
pub type Batch = Vec<(Vec<u8>, Option<Node>)>;

/// Why a directory is not listed to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchError {
    /// The file system refused.
    Refused(FsError),
    /// It has more names than are sorted.
    TooMany,
    /// The list comes back to where it was.
    Circle,
}

/// Reads a directory.
pub struct Batches<'a> {
    file_system: &'a dyn FileSystem,
    caller: &'a Caller,
    directory: Handle,
    detail: Detail,
    is_sorted: bool,
    cookie: u64,
    is_over: bool,
    circle: Circle,
}

impl<'a> Batches<'a> {
    /// Of a directory, from its start.
    pub fn new(
        file_system: &'a dyn FileSystem,
        caller: &'a Caller,
        directory: Handle,
        detail: Detail,
        is_sorted: bool,
    ) -> Self {
        let circle = Circle::default();
        Self { file_system, caller, directory, detail, is_sorted, cookie: 0, is_over: false, circle }
    }

    /// The next batch of the names that are wanted, which may be empty; none after the last. Sorted, there is one.
    pub fn next(&mut self, wants: impl Fn(&[u8]) -> bool) -> Result<Option<Batch>, BatchError> {
        if self.is_over {
            return Ok(None);
        }
        let most = if self.is_sorted { SORTED_NAMES_MAX } else { BATCH };
        let mut batch = Vec::new();
        loop {
            let is_full = self.read(most, &wants, &mut batch)?;
            match (is_full, self.is_over) {
                (_, true) => break,
                (true, false) if self.is_sorted => return Err(BatchError::TooMany),
                (true, false) => break,
                (false, false) => {}
            }
        }
        if self.is_sorted {
            batch.sort_by(|one, other| one.0.cmp(&other.0));
        }
        Ok(Some(batch))
    }

    /// Reads on; says whether there is no room for the next entry.
    fn read(
        &mut self,
        most: usize,
        wants: impl Fn(&[u8]) -> bool,
        batch: &mut Batch,
    ) -> Result<bool, BatchError> {
        let (from, mut cookie) = (self.cookie, self.cookie);
        let (mut is_full, mut is_circle) = (false, false);
        let mut sink = |entry: Entry<'_>| {
            let is_wanted = !matches!(entry.name, b"." | b"..") && wants(entry.name);
            if is_wanted && batch.len() == most {
                is_full = true;
                return ControlFlow::Break(());
            }
            cookie = entry.cookie;
            is_circle |= self.circle.passes(cookie);
            if is_circle {
                return ControlFlow::Break(());
            }
            if is_wanted {
                batch.push((entry.name.to_vec(), entry.node.copied()));
            }
            ControlFlow::Continue(())
        };
        let listing = self.file_system.read_directory(
            self.caller,
            ListDirectory::new(&self.directory, from, self.detail),
            &mut sink,
        );
        self.is_over = listing.map_err(BatchError::Refused)?.end && !is_full;
        if is_circle || !self.is_over && self.circle.closes_at(cookie) {
            return Err(BatchError::Circle);
        }
        self.cookie = cookie;
        Ok(is_full)
    }
}

impl fmt::Display for BatchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refused) => refused.fmt(formatter),
            Self::TooMany => {
                write!(
                    formatter,
                    "more than {SORTED_NAMES_MAX} names, too many to sort (-U lists them unsorted)"
                )
            }
            Self::Circle => formatter.write_str("the server's list of it goes round in circles"),
        }
    }
}

impl std::error::Error for BatchError {}

#[cfg(test)]
mod tests {
    use crate::Listing;
    use crate::layer::{Call, Layer};
    use crate::memory::MemoryFileSystem;

    use super::*;

    /// Lists so many names in pages of a thousand, the last one first; after the last one it begins anew if it is a circle.
    struct Long {
        inner: MemoryFileSystem,
        names: u64,
        is_circle: bool,
    }

    impl Layer for Long {
        fn inner(&self) -> &dyn FileSystem {
            &self.inner
        }

        fn pass<T>(
            &self,
            _call: Call,
            run: impl FnOnce(&dyn FileSystem) -> crate::Result<T>,
        ) -> crate::Result<T> {
            run(&self.inner)
        }

        fn read_directory(
            &self,
            _caller: &Caller,
            ListDirectory { cookie, .. }: ListDirectory<'_>,
            sink: &mut dyn FnMut(Entry<'_>) -> ControlFlow<()>,
        ) -> crate::Result<Listing> {
            for at in cookie..(cookie + 1000).min(self.names) {
                let (name, mut next) = (format!("{:020}", self.names - at), at + 1);
                if self.is_circle && next == self.names {
                    next = 1;
                }
                if sink(Entry { name: name.as_bytes(), file: at, cookie: next, node: None }).is_break() {
                    return Ok(Listing { end: false, directory: None });
                }
            }
            Ok(Listing { end: !self.is_circle && cookie + 1000 >= self.names, directory: None })
        }
    }

    /// The lengths of up to a thousand batches, and how it ends.
    fn listed(names: u64, is_circle: bool, is_sorted: bool) -> (Vec<usize>, Result<(), BatchError>) {
        let long = Long { inner: MemoryFileSystem::new(), names, is_circle };
        let mut batches = Batches::new(&long, &Caller::ROOT, long.root(), Detail::Names, is_sorted);
        let mut lengths = Vec::new();
        while lengths.len() < 1000 {
            match batches.next(|_| true) {
                Ok(Some(batch)) => {
                    assert!(!is_sorted || batch.is_sorted_by(|one, other| one.0 <= other.0));
                    lengths.push(batch.len());
                }
                Ok(None) => break,
                Err(error) => return (lengths, Err(error)),
            }
        }
        (lengths, Ok(()))
    }

    #[test]
    fn all_names_come_once_sorted_or_not() {
        for names in [0, 1, 999, 1000, 1001, 1024, 1025, 5000] {
            assert_eq!(listed(names, false, true), (vec![names as usize], Ok(())));
            let (lengths, end) = listed(names, false, false);
            assert_eq!((lengths.iter().sum::<usize>(), end), (names as usize, Ok(())), "{names}");
        }
    }

    #[test]
    fn a_directory_without_an_end_is_an_error_or_a_stream() {
        let most = SORTED_NAMES_MAX as u64;
        assert_eq!(listed(most, false, true), (vec![SORTED_NAMES_MAX], Ok(())));
        assert_eq!(listed(most + 1, false, true), (Vec::new(), Err(BatchError::TooMany)));
        assert_eq!(listed(u64::MAX, false, true), (Vec::new(), Err(BatchError::TooMany)));
        assert_eq!(listed(u64::MAX, false, false), (vec![BATCH; 1000], Ok(())));
        // What is not wanted takes no room.
        let long = Long { inner: MemoryFileSystem::new(), names: most + 1, is_circle: false };
        let mut batches = Batches::new(&long, &Caller::ROOT, long.root(), Detail::Names, true);
        assert_eq!(batches.next(|_| false), Ok(Some(Vec::new())));
    }

    #[test]
    fn a_list_that_goes_round_in_circles_ends() {
        assert_eq!(listed(500, true, true).1, Err(BatchError::Circle));
        assert_eq!(listed(5000, true, false).1, Err(BatchError::Circle));
    }
}
