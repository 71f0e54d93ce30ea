//! Open directories in the middle of a listing, so that the next call goes on where the last one stopped.

use std::collections::VecDeque;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use std::sync::atomic::{AtomicU64, Ordering};

use howdah_vfs::{Handle, Timestamp};
use parking_lot::Mutex;
use rustix::fs::SeekFrom;
use rustix::io::{Errno, Result};

use super::handles::file_number;
use super::syscall;

/// Bytes of entries read at once: some hundreds of entries, which is about what one answer holds.
const BUFFER: usize = 32 * 1024;

/// Listings kept open between calls: as many as clients list at the same time, and a few that were given up.
const MOST: usize = 64;

/// Ticks after which a listing that nobody continued is closed.
const AGE: u32 = 10;

/// Counts of changes, each shared by the directories whose numbers fall together: a shared count costs no more than
/// reading some entries again.
const COUNTS: usize = 32;

/// Where the parts of a `linux_dirent64` are.
const OFFSET: usize = 8;
const LENGTH: usize = 16;
const KIND: usize = 18;
const NAME: usize = 19;

/// An open directory, some of its entries read ahead.
pub(super) struct Stream {
    handle: Handle,
    file: OwnedFd,
    /// What the directory was like when the listing last read.
    state: State,
    buffer: Box<[u8]>,
    filled: usize,
    at: usize,
    /// The cookie of the entry before `at`.
    cookie: u64,
    age: u32,
}

/// What shows whether a directory changed: its `modified` time, which sees what others do but may be coarse, and a count of our
/// own changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct State {
    modified: Timestamp,
    changes: u64,
}

/// One entry, as the kernel gives it.
pub(super) struct Item<'a> {
    pub(super) file: u64,
    pub(super) cookie: u64,
    pub(super) name: &'a CStr,
    kind: u8,
}

impl Item<'_> {
    /// Whether it is a directory, or the file system does not say.
    pub(super) fn may_be_directory(&self) -> bool {
        matches!(self.kind, libc::DT_DIR | libc::DT_UNKNOWN)
    }
}

impl Stream {
    /// A listing that starts behind `cookie`.
    pub(super) fn new(handle: Handle, file: OwnedFd, cookie: u64, state: State) -> Result<Self> {
        let buffer = vec![0; BUFFER].into_boxed_slice();
        let mut stream = Self { handle, file, state, buffer, filled: 0, at: 0, cookie, age: 0 };
        if cookie != 0 {
            stream.seek()?;
        }
        Ok(stream)
    }

    /// The directory.
    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Drops what was read ahead and goes to the cookie.
    fn seek(&mut self) -> Result<()> {
        (self.filled, self.at) = (0, 0);
        // Cookies are the kernel's own offsets; one beyond its range was never given out.
        let offset = i64::try_from(self.cookie).map_err(|_| Errno::INVAL)?;
        rustix::fs::seek(&self.file, SeekFrom::Start(offset as u64)).map(drop)
    }

    /// The next entry; `None` at the end. It comes again until [`Self::advance`] is called.
    pub(super) fn peek(&mut self) -> Result<Option<Item<'_>>> {
        if self.at == self.filled {
            self.filled = syscall::read_entries(self.file.as_fd(), &mut self.buffer)?;
            self.at = 0;
            if self.filled == 0 {
                return Ok(None);
            }
        }
        parse(&self.buffer[self.at..self.filled]).map(Some).ok_or(Errno::IO)
    }

    /// Goes behind the entry that [`Self::peek`] gave.
    pub(super) fn advance(&mut self) {
        let entry = &self.buffer[self.at..self.filled];
        self.cookie = number(entry, OFFSET).unwrap_or(self.cookie);
        self.at = (self.at + length(entry).unwrap_or(entry.len())).min(self.filled);
    }
}

fn number(entry: &[u8], at: usize) -> Option<u64> {
    entry.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes)
}

fn length(entry: &[u8]) -> Option<usize> {
    let bytes = entry.get(LENGTH..LENGTH + 2)?.try_into().ok()?;
    Some(usize::from(u16::from_ne_bytes(bytes)))
}

fn parse(bytes: &[u8]) -> Option<Item<'_>> {
    let entry = bytes.get(..length(bytes)?)?;
    let name = CStr::from_bytes_until_nul(entry.get(NAME..)?).ok()?;
    Some(Item { file: number(entry, 0)?, cookie: number(entry, OFFSET)?, name, kind: *entry.get(KIND)? })
}

/// The listings that wait to be continued.
#[derive(Default)]
pub(super) struct Streams {
    waiting: Mutex<VecDeque<Stream>>,
    /// How often we changed a directory; several directories share a count.
    changes: [AtomicU64; COUNTS],
}

impl Streams {
    /// The state of a directory whose `modified` time was just looked at.
    pub(super) fn state(&self, handle: &Handle, modified: Timestamp) -> State {
        State { modified, changes: self.count(handle).load(Ordering::Acquire) }
    }

    /// We changed a directory.
    pub(super) fn on_change(&self, handle: &Handle) {
        self.count(handle).fetch_add(1, Ordering::Release);
    }

    fn count(&self, handle: &Handle) -> &AtomicU64 {
        &self.changes[file_number(handle) as usize % COUNTS]
    }

    /// The listing that stopped at this cookie, if it is here. What it read ahead is dropped if the directory
    /// changed since.
    pub(super) fn take(&self, handle: &Handle, cookie: u64, state: State) -> Option<Stream> {
        if cookie == 0 {
            return None;
        }
        let mut stream = {
            let mut waiting = self.waiting.lock();
            let at =
                waiting.iter().rposition(|stream| stream.cookie == cookie && stream.handle == *handle)?;
            waiting.remove(at)?
        };
        if stream.state != state {
            stream.seek().ok()?;
            stream.state = state;
        }
        Some(stream)
    }

    /// Keeps a listing for the next call.
    pub(super) fn put(&self, mut stream: Stream) {
        stream.age = 0;
        let mut waiting = self.waiting.lock();
        let oldest = if waiting.len() >= MOST { waiting.pop_front() } else { None };
        waiting.push_back(stream);
        drop(waiting);
        drop(oldest);
    }

    /// One tick has passed: closes what nobody continued.
    pub(super) fn tick(&self) {
        let mut waiting = self.waiting.lock();
        waiting.retain_mut(|stream| {
            stream.age += 1;
            stream.age <= AGE
        });
    }
}
