//! Ranges of open files: how much of them a call works on, and copying for a while.

use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use howdah_vfs::{FsError, Result};
use rustix::fs::copy_file_range;
use rustix::io::Errno;

use super::errno::refusal;

/// A COPY that took so long is answered with what it copied: its client waits, and holds a worker.
const COPY_TIME: Duration = Duration::from_millis(100);

/// The most bytes that the kernel is asked to copy before the time is looked at.
const COPY_STEP: usize = 8 << 20;

/// How much of a hole to punch: no more than a file of this size has, but a byte, so that the kernel judges every call. CephFS's client
/// walks the whole range, and would do so for years. What no file reaches stays, for the kernel to refuse.
pub(super) fn within(size: u64, offset: u64, length: u64) -> u64 {
    match offset.checked_add(length) {
        Some(end) if i64::try_from(end).is_ok() => length.min(size.saturating_sub(offset).max(1)),
        _ => length,
    }
}

/// Of so many bytes; 0 means all that are left.
pub(super) fn up_to(count: u64, left: u64) -> u64 {
    if count == 0 { left } else { count.min(left) }
}

pub(super) fn copy_for_a_while(
    (input, mut from): (BorrowedFd<'_>, u64),
    (output, mut to): (BorrowedFd<'_>, u64),
    length: u64,
) -> Result<usize> {
    let (began, end) = (Instant::now(), from + length);
    let mut done = 0;
    while from < end && (done == 0 || began.elapsed() < COPY_TIME) {
        let step = usize::try_from(end - from).map_or(COPY_STEP, |left| left.min(COPY_STEP));
        match copy_file_range(input, Some(&mut from), output, Some(&mut to), step) {
            // The source was cut meanwhile.
            Ok(0) => break,
            Ok(count) => done += count,
            Err(Errno::INTR) => {}
            // What got there is there: the client asks for the rest and gets the error then.
            Err(_) if done > 0 => break,
            Err(errno) => return Err(range_refusal(errno)),
        }
    }
    Ok(done)
}

/// What the kernel says of a range that no file of this file system reaches differs by call.
pub(super) fn range_refusal(errno: Errno) -> FsError {
    match errno {
        Errno::OVERFLOW => FsError::TooBig,
        // An ioctl that the file system does not know.
        Errno::NOTTY => FsError::NotSupported,
        errno => refusal(errno),
    }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn a_hole_ends_with_the_file() {
        let last = u64::try_from(i64::MAX).expect("positive");
        assert_eq!(within(5_000, 1_000, 100), 100);
        assert_eq!(within(5_000, 4_000, last - 4_000), 1_000);
        assert_eq!(within(5_000, 9_000, 100), 1, "the kernel judges the call");
        assert_eq!(within(5_000, 0, 0), 0, "refused by the kernel");
        assert_eq!(within(5_000, 4_000, last), last, "refused by the kernel");
        assert_eq!(within(5_000, 4_000, u64::MAX), u64::MAX, "refused by the kernel");
    }
}
