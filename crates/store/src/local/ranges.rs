//! SEEK, ALLOCATE, DEALLOCATE, COPY and CLONE.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use howdah_vfs::{
    Attributes, Caller, Change, FsError, Handle, Result, SeekOutcome, SeekTarget, Stability, Written,
};
use rustix::fs::{FallocateFlags, SeekFrom, copy_file_range, fallocate, fstat, seek};
use rustix::io::Errno;

use super::LocalFileSystem;
use super::data::require_regular;
use super::errno::refusal;
use super::syscall;
use crate::limits::COPY_MAX;

/// A COPY that took so long is answered with what it copied: its client waits, and holds a worker.
const COPY_TIME: Duration = Duration::from_millis(100);

/// The most bytes that the kernel is asked to copy before the time is looked at.
const COPY_STEP: usize = 8 << 20;

impl LocalFileSystem {
    /// SEEK: `lseek` with `SEEK_DATA` or `SEEK_HOLE`. Nothing else uses the position of the descriptor that this moves: data is
    /// read and written by offset.
    pub(super) fn seek_range(
        &self,
        caller: &Caller,
        handle: &Handle,
        offset: u64,
        target: SeekTarget,
    ) -> Result<SeekOutcome> {
        let node = self.node(handle)?;
        let attributes = self.stat(&node)?;
        require_regular(&attributes)?;
        self.permit_reading(caller, &node, &attributes)?;
        let size = attributes.size;
        if offset >= size {
            return Err(FsError::NoDevice);
        }
        let from = match target {
            SeekTarget::Data => SeekFrom::Data(offset),
            SeekTarget::Hole => SeekFrom::Hole(offset),
        };
        let found = match seek(self.readable(&node, &attributes)?, from) {
            Ok(found) => found,
            Err(Errno::NXIO) => size,
            // A file system that knows no holes.
            Err(Errno::INVAL | Errno::OPNOTSUPP) if target == SeekTarget::Data => offset,
            Err(Errno::INVAL | Errno::OPNOTSUPP) => size,
            Err(errno) => return Err(refusal(errno)),
        };
        Ok(SeekOutcome { offset: found.min(size), end: found >= size })
    }

    /// ALLOCATE.
    pub(super) fn allocate_range(
        &self,
        caller: &Caller,
        handle: &Handle,
        offset: u64,
        length: u64,
        change: &mut Change,
    ) -> Result<()> {
        self.change_range(caller, handle, change, |file| {
            fallocate(file, FallocateFlags::empty(), offset, length)
        })
    }

    /// DEALLOCATE.
    pub(super) fn deallocate_range(
        &self,
        caller: &Caller,
        handle: &Handle,
        offset: u64,
        length: u64,
        change: &mut Change,
    ) -> Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        self.change_range(caller, handle, change, |file| {
            let size = u64::try_from(fstat(file)?.st_size).unwrap_or(0);
            fallocate(file, flags, offset, within(size, offset, length))
        })
    }

    /// CLONE: `FICLONERANGE`.
    pub(super) fn clone_file_range(
        &self,
        caller: &Caller,
        (source, from): (&Handle, u64),
        (target, to): (&Handle, u64),
        count: u64,
        change: &mut Change,
    ) -> Result<()> {
        let source = self.node(source)?;
        let attributes = self.stat(&source)?;
        require_regular(&attributes)?;
        self.permit_reading(caller, &source, &attributes)?;
        let input = self.readable(&source, &attributes)?.as_fd();
        self.change_range(caller, target, change, |output| {
            syscall::clone_range(input, from, output, to, count)
        })
    }

    /// Changes which storage a file's data lies on. No protocol makes such a change durable later, so it is now.
    fn change_range(
        &self,
        caller: &Caller,
        handle: &Handle,
        change: &mut Change,
        call: impl FnOnce(BorrowedFd<'_>) -> rustix::io::Result<()>,
    ) -> Result<()> {
        let node = self.node(handle)?;
        let attributes = self.changing_data(&node, change, |attributes| {
            require_regular(attributes)?;
            self.permit_writing(caller, &node, attributes)?;
            let file = self.writable(&node, attributes)?;
            // As the caller, so that set-id bits go and reserved blocks stay.
            self.identity.assume(caller)?;
            call(file.as_fd()).map_err(range_refusal)?;
            Ok(*attributes)
        })?;
        self.make_durable(&node, &attributes)
    }

    /// COPY: `copy_file_range`, for a while. A COMMIT makes it durable, as for WRITE.
    pub(super) fn copy_file_range(
        &self,
        caller: &Caller,
        (source, from): (&Handle, u64),
        (target, to): (&Handle, u64),
        count: u64,
        change: &mut Change,
    ) -> Result<Written> {
        let (source, node) = (self.node(source)?, self.node(target)?);
        let readable = self.stat(&source)?;
        require_regular(&readable)?;
        self.permit_reading(caller, &source, &readable)?;
        self.changing_data(&node, change, |attributes: &Attributes| {
            require_regular(attributes)?;
            self.permit_writing(caller, &node, attributes)?;
            // Before the copy: another verifier shows what is lost from here on.
            let verifier = self.verifier.current();
            let written = |count| Written { count, stability: Stability::Unstable, verifier };
            let length = up_to(count, readable.size.saturating_sub(from));
            if length == 0 {
                return Ok(written(0));
            }
            if source.handle == node.handle && from.abs_diff(to) < length {
                return Err(FsError::Invalid);
            }
            if to.checked_add(length).is_none_or(|end| i64::try_from(end).is_err()) {
                return Err(FsError::TooBig);
            }
            let input = self.readable(&source, &readable)?;
            let output = self.writable(&node, attributes)?;
            self.identity.assume(caller)?;
            let copied = copy_for_a_while((input.as_fd(), from), (output.as_fd(), to), length.min(COPY_MAX));
            // Not before: a COMMIT that came in between has flushed without it.
            self.nodes.on_uncommitted(&node);
            copied.map(written)
        })
    }
}

/// How much of a hole to punch: no more than a file of this size has, but a byte, so that the kernel judges every call. CephFS's client
/// walks the whole range, and would do so for years. What no file reaches stays, for the kernel to refuse.
fn within(size: u64, offset: u64, length: u64) -> u64 {
    match offset.checked_add(length) {
        Some(end) if i64::try_from(end).is_ok() => length.min(size.saturating_sub(offset).max(1)),
        _ => length,
    }
}

/// Of so many bytes; 0 means all that are left.
fn up_to(count: u64, left: u64) -> u64 {
    if count == 0 { left } else { count.min(left) }
}

fn copy_for_a_while(
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
fn range_refusal(errno: Errno) -> FsError {
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
