//! WRITE and COMMIT.

use std::io::IoSlice;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use howdah_vfs::{Caller, Change, Committed, Data, FsError, Handle, Result, Stability, Written};
use rustix::fs::{Advice, fadvise};
use rustix::io::{Errno, ReadWriteFlags, pwritev2};

use super::LocalFileSystem;
use super::data::require_regular;
use super::errno::refusal;

impl LocalFileSystem {
    /// WRITE: `fstat`, `pwritev2` (or the transport's own way into the file), `fstat`.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn write_file(
        &self,
        caller: &Caller,
        handle: &Handle,
        offset: u64,
        data: Data<'_>,
        stability: Stability,
        change: &mut Change,
    ) -> Result<Written> {
        let node = self.node(handle)?;
        self.changing(&node, change, |attributes| {
            require_regular(attributes)?;
            self.permit_writing(caller, &node, attributes)?;
            // Before the write: what it loses from here on is told by another verifier.
            let verifier = self.verifier.current();
            if data.is_empty() {
                return Ok(Written { count: 0, stability, verifier });
            }
            let end = offset.checked_add(data.len() as u64).ok_or(FsError::TooBig)?;
            if i64::try_from(end).is_err() {
                return Err(FsError::TooBig);
            }
            let file = self.writable(&node, attributes)?;
            // As the caller, so that set-id bits go and reserved blocks stay.
            self.identity.assume(caller)?;
            if stability == Stability::Unstable {
                node.uncommitted.store(true, Ordering::Relaxed);
            }
            let count = self.store(file, offset, data, stability)?;
            Ok(Written { count, stability, verifier })
        })
    }

    fn store(&self, file: &OwnedFd, offset: u64, data: Data<'_>, stability: Stability) -> Result<usize> {
        match data {
            Data::Bytes(bytes) => self.store_bytes(file, offset, bytes, stability),
            Data::Shared(bytes) => self.store_bytes(file, offset, &bytes, stability),
            Data::File(_) => {
                let bytes = data.into_shared().map_err(|_| FsError::Io)?;
                self.store_bytes(file, offset, &bytes, stability)
            }
            Data::Waiting(waiting) => {
                let count = waiting
                    .move_to(file.as_fd(), offset)
                    .map_err(|error| refusal(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
                match stability {
                    Stability::Unstable => {}
                    Stability::DataSync => self.flush(file, rustix::fs::fdatasync)?,
                    Stability::FileSync => self.flush(file, rustix::fs::fsync)?,
                }
                Ok(count)
            }
        }
    }

    fn store_bytes(&self, file: &OwnedFd, offset: u64, bytes: &[u8], stability: Stability) -> Result<usize> {
        let flags = match stability {
            Stability::Unstable => ReadWriteFlags::empty(),
            Stability::DataSync => ReadWriteFlags::DSYNC,
            Stability::FileSync => ReadWriteFlags::SYNC,
        };
        let mut written = 0;
        while written < bytes.len() {
            match pwritev2(file, &[IoSlice::new(&bytes[written..])], offset + written as u64, flags) {
                Ok(0) => break,
                Ok(count) => written += count,
                Err(Errno::INTR) => {}
                // What got there is there: the client sends the rest again and is told then.
                Err(_) if written > 0 => break,
                Err(errno) => {
                    if stability != Stability::Unstable && errno == Errno::IO {
                        self.on_loss(file);
                    }
                    return Err(refusal(errno));
                }
            }
        }
        Ok(written)
    }

    /// COMMIT: `fsync` of the whole file. Of the whole, because the kernel writes back and reports errors by file;
    /// and not `fdatasync`, because after a crash new data under an old `modified` time would go unnoticed by
    /// clients that cached the old data.
    pub(super) fn commit_file(
        &self,
        caller: &Caller,
        handle: &Handle,
        change: &mut Change,
    ) -> Result<Committed> {
        let node = self.node(handle)?;
        self.changing(&node, change, |attributes| {
            require_regular(attributes)?;
            self.permit_writing(caller, &node, attributes)?;
            let file = match node.writing() {
                Some(file) => file,
                None => self.readable(&node, attributes)?,
            };
            // Before the flush: what is written while it runs is not part of it.
            node.uncommitted.store(false, Ordering::Relaxed);
            self.flush(file, rustix::fs::fsync)?;
            Ok(Committed { verifier: self.verifier.current() })
        })
    }

    /// Makes something durable. If that fails, data that was answered as written may be gone: every client must
    /// send its uncommitted data again, so the verifier changes.
    fn flush<'f>(&self, file: &'f OwnedFd, sync: fn(&'f OwnedFd) -> rustix::io::Result<()>) -> Result<()> {
        sync(file).map_err(|errno| {
            self.on_loss(file);
            refusal(errno)
        })
    }

    fn on_loss(&self, file: &OwnedFd) {
        // Pages that could not be written count as clean, and ext4 takes their places for written: what is written there again would be
        // zeros once it is read from the disk. So nothing of them is kept.
        let _ = fadvise(file, 0, None, Advice::DontNeed);
        // The state directory is ours, not the caller's. If this fails the verifier still changes in memory.
        let _ = self.identity.assume_root();
        self.verifier.replace();
    }
}
