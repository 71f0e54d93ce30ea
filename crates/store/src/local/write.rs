//! WRITE and COMMIT.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use howdah_vfs::{Caller, Change, Committed, Data, FsError, Handle, Result, Stability, Written};
use rustix::io::{Errno, pwrite};

use super::LocalFileSystem;
use super::data::require_regular;
use super::errno::refusal;

impl LocalFileSystem {
    /// WRITE: `fstat`, `pwrite` (or the transport's own way into the file), `fsync` if it is to be stable, `fstat`.
    /// DATA_SYNC is as stable as FILE_SYNC, which a server may always be (RFC 1813 3.3.7).
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
            let (verifier, losses) = (self.verifier.current(), node.flushes.losses());
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
            let count = store(file, offset, data)?;
            if stability != Stability::Unstable {
                self.flush_written(&node, file, losses)?;
            }
            Ok(Written { count, stability, verifier })
        })
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
            self.flush(&node, file)?;
            Ok(Committed { verifier: self.verifier.current() })
        })
    }
}

fn store(file: &OwnedFd, offset: u64, data: Data<'_>) -> Result<usize> {
    match data {
        Data::Bytes(bytes) => store_bytes(file, offset, bytes),
        Data::Shared(bytes) => store_bytes(file, offset, &bytes),
        Data::File(_) => store_bytes(file, offset, &data.into_shared().map_err(|_| FsError::Io)?),
        Data::Waiting(waiting) => waiting
            .move_to(file.as_fd(), offset)
            .map_err(|error| refusal(Errno::from_io_error(&error).unwrap_or(Errno::IO))),
    }
}

fn store_bytes(file: &OwnedFd, offset: u64, bytes: &[u8]) -> Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match pwrite(file, &bytes[written..], offset + written as u64) {
            Ok(0) => break,
            Ok(count) => written += count,
            Err(Errno::INTR) => {}
            // What got there is there: the client sends the rest again and is told then.
            Err(_) if written > 0 => break,
            Err(errno) => return Err(refusal(errno)),
        }
    }
    Ok(written)
}
