//! WRITE and COMMIT; SEEK, ALLOCATE, DEALLOCATE, COPY and CLONE.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use howdah_vfs::{
    Attributes, Caller, Change, CommitFile, Committed, CopyRange, Data, FileExtent, FsError, Handle,
    RangeOperations, Result, SeekOutcome, SeekTarget, Stability, WriteFile, Written,
};
use rustix::fs::{FallocateFlags, SeekFrom, fallocate, fstat, seek};
use rustix::io::{Errno, pwrite};

use super::data_files::DataFiles;
use super::errno::refusal;
use super::node_changes::NodeChanges;
use super::open_nodes::OpenNodes;
use super::ranges::{copy_for_a_while, range_refusal, up_to, within};
use super::stable_storage::StableStorage;
use super::syscall;
use crate::limits::COPY_MAX;

/// Writes files, and works on their ranges.
pub(super) struct FileWriter {
    nodes: Arc<OpenNodes>,
    files: Arc<DataFiles>,
    changes: Arc<NodeChanges>,
    storage: Arc<StableStorage>,
}

impl FileWriter {
    pub(super) fn new(
        (nodes, files): (Arc<OpenNodes>, Arc<DataFiles>),
        (changes, storage): (Arc<NodeChanges>, Arc<StableStorage>),
    ) -> Self {
        Self { nodes, files, changes, storage }
    }

    /// WRITE: `fstat`, `pwrite` (or the transport's own way into the file), `fstat`, `fsync` if it is to be stable.
    /// DATA_SYNC is as stable as FILE_SYNC, which a server may always be (RFC 1813 3.3.7).
    pub(super) fn write_file(
        &self,
        caller: &Caller,
        WriteFile { node, offset, data, stability }: WriteFile<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        let node = self.nodes.node(node)?;
        let (written, stored) = self.changes.changing_data(&node, change, |attributes| {
            self.files.permit_writing(caller, &node, attributes)?;
            // Before the write: another verifier shows what is lost from here on.
            let (verifier, losses) = (self.storage.verifier(), node.flushes().losses());
            if data.is_empty() {
                return Ok((Written { count: 0, stability, verifier }, None));
            }
            let end = offset.checked_add(data.len() as u64).ok_or(FsError::TooBig)?;
            if i64::try_from(end).is_err() {
                return Err(FsError::TooBig);
            }
            let file = self.files.writable(caller, &node, attributes)?;
            let stored = store(file, offset, data);
            // Not before: a COMMIT that came in between has flushed without it.
            if stability == Stability::Unstable {
                self.nodes.cache().on_uncommitted(&node);
            }
            let count = stored?;
            Ok((Written { count, stability, verifier }, Some((file, losses))))
        })?;
        if let Some((file, losses)) = stored.filter(|_| stability != Stability::Unstable) {
            self.storage.flush_written(&node, file, losses)?;
        }
        Ok(written)
    }

    /// COMMIT: `fsync` of the whole file. Of the whole, because the kernel writes back and reports errors by file;
    /// and not `fdatasync`, because after a crash new data under an old `modified` time would go unnoticed by
    /// clients that cached the old data.
    pub(super) fn commit_file(
        &self,
        caller: &Caller,
        CommitFile { node, .. }: CommitFile<'_>,
        change: &mut Change,
    ) -> Result<Committed> {
        let node = self.nodes.node(node)?;
        let attributes = self.nodes.stat(&node)?;
        *change = Change::none(Some(attributes));
        self.files.permit_writing(caller, &node, &attributes)?;
        let file = match node.writing() {
            Some(file) => file,
            None => self.files.readable(&node, &attributes)?,
        };
        // Before the flush: what is written while it runs is not part of it.
        node.take_uncommitted();
        self.storage.flush(&node, file)?;
        // It changes nothing: one look gives before and after. What others wrote while it ran would else be shown as its own,
        // and its client would take the file that it has in memory for the file as it is.
        *change = Change::none(self.nodes.stat(&node).ok());
        Ok(Committed { verifier: self.storage.verifier() })
    }

    /// Changes which storage a file's data lies on. No protocol makes such a change durable later, so it is now.
    fn change_range(
        &self,
        caller: &Caller,
        handle: &Handle,
        change: &mut Change,
        call: impl FnOnce(BorrowedFd<'_>) -> rustix::io::Result<()>,
    ) -> Result<()> {
        let node = self.nodes.node(handle)?;
        let attributes = self.changes.changing_data(&node, change, |attributes| {
            self.files.permit_writing(caller, &node, attributes)?;
            let file = self.files.writable(caller, &node, attributes)?;
            call(file.as_fd()).map_err(range_refusal)?;
            Ok(*attributes)
        })?;
        self.storage.settle_node(&node, &attributes)
    }
}

impl RangeOperations for FileWriter {
    /// SEEK: `lseek` with `SEEK_DATA` or `SEEK_HOLE`. Nothing else uses the position of the descriptor that this moves: data is
    /// read and written by offset.
    fn seek(&self, caller: &Caller, node: &Handle, offset: u64, target: SeekTarget) -> Result<SeekOutcome> {
        let (node, attributes) = self.files.to_read(caller, node)?;
        let size = attributes.size;
        if offset >= size {
            return Err(FsError::NoDevice);
        }
        let from = match target {
            SeekTarget::Data => SeekFrom::Data(offset),
            SeekTarget::Hole => SeekFrom::Hole(offset),
        };
        let found = match seek(self.files.readable(&node, &attributes)?, from) {
            Ok(found) => found,
            Err(Errno::NXIO) => size,
            // A file system that knows no holes.
            Err(Errno::INVAL | Errno::OPNOTSUPP) if target == SeekTarget::Data => offset,
            Err(Errno::INVAL | Errno::OPNOTSUPP) => size,
            Err(errno) => return Err(refusal(errno)),
        };
        Ok(SeekOutcome { offset: found.min(size), end: found >= size })
    }

    fn allocate(
        &self,
        caller: &Caller,
        FileExtent { node, offset, length }: FileExtent<'_>,
        change: &mut Change,
    ) -> Result<()> {
        self.change_range(caller, node, change, |file| {
            fallocate(file, FallocateFlags::empty(), offset, length)
        })
    }

    fn deallocate(
        &self,
        caller: &Caller,
        FileExtent { node, offset, length }: FileExtent<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        self.change_range(caller, node, change, |file| {
            let size = u64::try_from(fstat(file)?.st_size).unwrap_or(0);
            fallocate(file, flags, offset, within(size, offset, length))
        })
    }

    /// CLONE: `FICLONERANGE`.
    fn clone_range(
        &self,
        caller: &Caller,
        CopyRange { from: (source, from), to: (target, to), count }: CopyRange<'_>,
        change: &mut Change,
    ) -> Result<()> {
        let (source, attributes) = self.files.to_read(caller, source)?;
        let input = self.files.readable(&source, &attributes)?.as_fd();
        self.change_range(caller, target, change, |output| {
            syscall::clone_range(input, from, output, to, count)
        })
    }

    /// COPY: `copy_file_range`, for a while. A COMMIT makes it durable, as for WRITE.
    fn copy_range(
        &self,
        caller: &Caller,
        CopyRange { from: (source, from), to: (target, to), count }: CopyRange<'_>,
        change: &mut Change,
    ) -> Result<Written> {
        let (source, readable) = self.files.to_read(caller, source)?;
        let node = self.nodes.node(target)?;
        self.changes.changing_data(&node, change, |attributes: &Attributes| {
            self.files.permit_writing(caller, &node, attributes)?;
            // Before the copy: another verifier shows what is lost from here on.
            let verifier = self.storage.verifier();
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
            let input = self.files.readable(&source, &readable)?;
            let output = self.files.writable(caller, &node, attributes)?;
            let copied = copy_for_a_while((input.as_fd(), from), (output.as_fd(), to), length.min(COPY_MAX));
            // Not before: a COMMIT that came in between has flushed without it.
            self.nodes.cache().on_uncommitted(&node);
            copied.map(written)
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
    write_all(bytes, |part, done| pwrite(file, part, offset + done as u64))
}

/// Writes until all is written or a call takes nothing. `write` is given what is left, and how much was taken before it.
fn write_all(
    bytes: &[u8],
    mut write: impl FnMut(&[u8], usize) -> rustix::io::Result<usize>,
) -> Result<usize> {
    let mut written = 0;
    while written < bytes.len() {
        match write(&bytes[written..], written) {
            // A client that gets no byte and no error may send the same for ever.
            Ok(0) if written == 0 => return Err(FsError::Io),
            Ok(0) => break,
            Ok(count) => written += count,
            Err(Errno::INTR) => {}
            // What got there is there: the client sends the rest again and gets the error then.
            Err(_) if written > 0 => break,
            Err(errno) => return Err(refusal(errno)),
        }
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use howdah_vfs::{Before, Create, CreateFile, FileSystem, Name, NewAttributes, SetAttributes};

    use super::*;
    use crate::local::{LocalFileSystem, Options};

    #[test]
    fn a_file_that_takes_nothing_ends_a_write() {
        let mut calls = 0;
        let mut written = |answers: &[rustix::io::Result<usize>]| {
            let mut answers = answers.iter();
            calls = 0;
            let outcome = write_all(b"0123456789", |part, done| {
                calls += 1;
                assert_eq!(part.len() + done, 10);
                *answers.next().expect("it goes on for ever")
            });
            (outcome, calls)
        };
        assert_eq!(written(&[Ok(0)]), (Err(FsError::Io), 1));
        assert_eq!(written(&[Ok(4), Ok(0)]), (Ok(4), 2));
        assert_eq!(written(&[Err(Errno::INTR), Ok(4), Err(Errno::INTR), Ok(6)]), (Ok(10), 4));
        assert_eq!(written(&[Ok(4), Err(Errno::NOSPC)]), (Ok(4), 2));
        assert_eq!(written(&[Err(Errno::NOSPC)]), (Err(FsError::NoSpace), 1));
    }

    /// What a call reports of a file whose flush takes so long that somebody else writes its 11th byte meanwhile.
    fn reported(call: impl FnOnce(&LocalFileSystem, &Handle, &mut Change) + Send) -> Change {
        let place = tempfile::tempdir().expect("a directory");
        let fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
        let caller = Caller::new(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let how = Create::Guarded(NewAttributes::with_mode(0o644));
        let name = Name::parse(b"f").expect("a name");
        let made = fs
            .create(&caller, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
            .expect("CREATE");
        let node = fs.nodes().node(&made.handle).expect("it is there");
        // It is the one that the call finds, however long that takes to begin.
        node.set_uncommitted();
        let (entered, is_in) = mpsc::channel();
        let (go, may_go) = mpsc::channel();
        thread::scope(|scope| {
            let (fs, node, handle) = (&fs, &node, &made.handle);
            let disk = move || {
                entered.send(()).expect("somebody waits");
                may_go.recv().map_err(|_| FsError::Io)
            };
            scope.spawn(move || node.flushes().flush(disk, || {}));
            is_in.recv().expect("it began");
            let before = node.flushes().steps();
            let reported = scope.spawn(move || {
                let mut change = Change::default();
                call(fs, handle, &mut change);
                change
            });
            while node.flushes().steps() == before && !reported.is_finished() {
                thread::yield_now();
            }
            let waits = node.flushes().steps() != before;
            let mut change = Change::default();
            let other = fs.write(
                &caller,
                WriteFile::new(handle, 10, Data::Bytes(b"b"), Stability::Unstable),
                &mut change,
            );
            assert!(other.is_ok());
            go.send(()).expect("it waits");
            let change = reported.join().expect("it does not panic");
            assert!(waits, "it does not wait for the disk");
            change
        })
    }

    #[test]
    fn a_commit_does_not_tell_of_what_others_write_meanwhile_as_its_own() {
        let change = reported(|fs, file, change| {
            fs.commit(&Caller::ROOT, CommitFile::new(file, 0, 0), change).expect("COMMIT");
        });
        assert_eq!(change.before, change.after.as_ref().map(Before::from));
    }

    #[test]
    fn nor_does_a_write_that_is_made_durable() {
        let change = reported(|fs, file, change| {
            fs.write(&Caller::ROOT, WriteFile::new(file, 0, Data::Bytes(b"aa"), Stability::FileSync), change)
                .expect("WRITE");
        });
        let sizes = (change.before.map(|before| before.size), change.after.map(|after| after.size));
        assert_eq!(sizes, (None, Some(2)));
    }

    #[test]
    fn nor_does_a_new_mode() {
        let change = reported(|fs, file, change| {
            let new = NewAttributes::with_mode(0o600);
            fs.set_attributes(&Caller::ROOT, SetAttributes::new(file, &new, None), change).expect("SETATTR");
        });
        assert_eq!(change.after.map(|after| (after.size, after.mode)), Some((0, 0o600)));
    }
}
