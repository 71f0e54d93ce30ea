//! WRITE and COMMIT.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::Ordering;

use howdah_vfs::{Caller, Change, Committed, Data, FsError, Handle, Result, Stability, Written};
use rustix::io::{Errno, pwrite};

use super::LocalFileSystem;
use super::data::require_regular;
use super::errno::refusal;

impl LocalFileSystem {
    /// WRITE: `fstat`, `pwrite` (or the transport's own way into the file), `fstat`, `fsync` if it is to be stable.
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
        let (written, stored) = self.changing_data(&node, change, |attributes| {
            require_regular(attributes)?;
            self.permit_writing(caller, &node, attributes)?;
            // Before the write: another verifier shows what is lost from here on.
            let (verifier, losses) = (self.verifier.current(), node.flushes.losses());
            if data.is_empty() {
                return Ok((Written { count: 0, stability, verifier }, None));
            }
            let end = offset.checked_add(data.len() as u64).ok_or(FsError::TooBig)?;
            if i64::try_from(end).is_err() {
                return Err(FsError::TooBig);
            }
            let file = self.writable(&node, attributes)?;
            // As the caller, so that set-id bits go and reserved blocks stay.
            self.identity.assume(caller)?;
            let stored = store(file, offset, data);
            // Not before: a COMMIT that came in between has flushed without it.
            if stability == Stability::Unstable {
                self.nodes.on_uncommitted(&node);
            }
            let count = stored?;
            Ok((Written { count, stability, verifier }, Some((file, losses))))
        })?;
        if let Some((file, losses)) = stored.filter(|_| stability != Stability::Unstable) {
            self.flush_written(&node, file, losses)?;
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
        let attributes = self.stat(&node)?;
        *change = Change::none(Some(attributes));
        require_regular(&attributes)?;
        self.permit_writing(caller, &node, &attributes)?;
        let file = match node.writing() {
            Some(file) => file,
            None => self.readable(&node, &attributes)?,
        };
        // Before the flush: what is written while it runs is not part of it.
        node.uncommitted.store(false, Ordering::Relaxed);
        self.flush(&node, file)?;
        // It changes nothing: one look gives before and after. What others wrote while it ran would else be shown as its own,
        // and its client would take the file that it has in memory for the file as it is.
        *change = Change::none(self.stat(&node).ok());
        Ok(Committed { verifier: self.verifier.current() })
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

    use howdah_vfs::{
        Before, CommitFile, Create, CreateFile, FileSystem, Name, NewAttributes, SetAttributes, WriteFile,
    };

    use super::*;
    use crate::local::Options;

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
        let mut fs = LocalFileSystem::open(place.path(), Options::default()).expect("it opens");
        // Also where nothing is durable: what is waited for here is no disk.
        fs.syncs = true;
        let caller = Caller::new(rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
        let how = Create::Guarded(NewAttributes::with_mode(0o644));
        let name = Name::parse(b"f").expect("a name");
        let made = fs
            .create(&caller, CreateFile::new(&fs.root(), name, &how), &mut Change::default())
            .expect("CREATE");
        let node = fs.node(&made.handle).expect("it is there");
        // It is the one that the call finds, however long that takes to begin.
        node.uncommitted.store(true, Ordering::Relaxed);
        let (entered, is_in) = mpsc::channel();
        let (go, may_go) = mpsc::channel();
        thread::scope(|scope| {
            let (fs, node, handle) = (&fs, &node, &made.handle);
            let disk = move || {
                entered.send(()).expect("somebody waits");
                may_go.recv().map_err(|_| FsError::Io)
            };
            scope.spawn(move || node.flushes.flush(disk, || {}));
            is_in.recv().expect("it began");
            let before = node.flushes.steps();
            let reported = scope.spawn(move || {
                let mut change = Change::default();
                call(fs, handle, &mut change);
                change
            });
            while node.flushes.steps() == before && !reported.is_finished() {
                thread::yield_now();
            }
            let waits = node.flushes.steps() != before;
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
