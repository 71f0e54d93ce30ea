//! Handles of a server, which have up to 128 bytes, as those of the file system, which have up to 64: longer ones go by number.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hasher;
use std::io;
use std::sync::Arc;

use howdah_vfs::{FsError, Handle, Result};
use howdah_wire::nfs4::FileHandle;
use howdah_wire::xdr::{Encode, Encoder};
use parking_lot::{Mutex, RwLock};
use rustix::rand::{GetRandomFlags, getrandom};
use siphasher::sip128::{Hasher128, SipHasher24};

use super::handle_file::{HandleFile, HandleFileUse, LONGEST};

/// The length of a number with its mark, in bytes.
const NUMBER: usize = 17;
/// Marks a number. A server's own handle that looks the same goes by number, too.
const MARK: u8 = 0xa7;

/// The handles that callers were given. A long one is kept as long as this: nothing says when its caller forgets it.
pub(super) struct Handles {
    long: RwLock<HashMap<Handle, Arc<[u8]>>>,
    hasher: SipHasher24,
    /// Where long ones are kept.
    kept: Option<Mutex<KeptInFile>>,
}

/// Long handles in their file.
struct KeptInFile {
    file: HandleFile,
    /// Whether a caller may only have a number whose handle is in the file.
    at_once: bool,
    /// Those that could not be written yet, in their order.
    unwritten: Vec<Arc<[u8]>>,
}

impl KeptInFile {
    /// Keeps one more. What cannot be written now is written with the next one.
    fn keep(&mut self, long: &Arc<[u8]>) -> io::Result<()> {
        let was_behind = !self.unwritten.is_empty();
        self.unwritten.push(Arc::clone(long));
        match self.write() {
            Err(error) if self.at_once => {
                self.unwritten.clear();
                Err(error)
            }
            Err(error) => {
                if !was_behind {
                    tracing::error!(
                        %error,
                        "writing the file of long handles: until that succeeds, new handles are stale after a restart"
                    );
                }
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    fn write(&mut self) -> io::Result<()> {
        let mut written = 0;
        let outcome = self.unwritten.iter().try_for_each(|long| {
            self.file.append(long)?;
            written += 1;
            Ok(())
        });
        self.unwritten.drain(..written);
        outcome
    }
}

/// Room on the disk may have come since.
impl Drop for KeptInFile {
    fn drop(&mut self) {
        if let Err(error) = self.write() {
            let left = self.unwritten.len();
            tracing::error!(%error, left, "writing the file of long handles: these handles are stale from now on");
        }
    }
}

/// A handle as it goes into an operation.
#[derive(Clone, Copy)]
pub(super) struct WireHandle {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Handles {
    /// With a file, numbers are valid in all processes that use it. Else they are valid in this one.
    ///
    /// # Errors
    /// See [`HandleFile::open`]; or the system has no random bytes.
    pub(super) fn open(file: Option<&HandleFileUse>) -> io::Result<Self> {
        let Some(HandleFileUse { path, at_once }) = file else {
            let mut key = [0; 16];
            getrandom(&mut key, GetRandomFlags::empty())?;
            return Ok(Self { long: RwLock::default(), hasher: SipHasher24::new_with_key(&key), kept: None });
        };
        let mut kept: Vec<Arc<[u8]>> = Vec::new();
        let file = HandleFile::open(path, &mut |handle| kept.push(handle.into()))?;
        let hasher = file.hasher();
        let long = kept.into_iter().map(|handle| (number(&hasher, &handle), handle)).collect();
        let kept = KeptInFile { file, at_once: *at_once, unwritten: Vec::new() };
        Ok(Self { long: RwLock::new(long), hasher, kept: Some(Mutex::new(kept)) })
    }

    /// For callers.
    pub(super) fn learn(&self, opaque: FileHandle<'_>) -> Result<Handle> {
        match Handle::new(opaque.0) {
            Ok(handle) if !is_number(&handle) => Ok(handle),
            _ => self.number(opaque.0),
        }
    }

    /// The handle that callers were given for this one, if they were.
    pub(super) fn find(&self, opaque: FileHandle<'_>) -> Option<Handle> {
        match Handle::new(opaque.0) {
            Ok(handle) if !is_number(&handle) => Some(handle),
            _ => Some(number(&self.hasher, opaque.0)).filter(|number| self.long.read().contains_key(number)),
        }
    }

    /// For the server. Stale if it is a number that no caller was given, or one whose handle was lost.
    pub(super) fn to_wire(&self, handle: &Handle) -> Result<WireHandle> {
        if is_number(handle) {
            return self.long.read().get(handle).map(|long| WireHandle::of(long)).ok_or(FsError::Stale);
        }
        Ok(WireHandle::of(handle.as_bytes()))
    }

    /// Makes durable what callers were given so far. Without a file, nothing outlives this process.
    ///
    /// # Errors
    /// The disk fails.
    pub(super) fn sync(&self) -> io::Result<()> {
        let Some(kept) = &self.kept else { return Ok(()) };
        let unsynced = {
            let mut kept = kept.lock();
            kept.write()?;
            kept.file.unsynced()
        };
        let Some((file, end)) = unsynced else { return Ok(()) };
        file.sync_data()?;
        kept.lock().file.synced(end);
        Ok(())
    }

    fn number(&self, long: &[u8]) -> Result<Handle> {
        if long.len() > LONGEST {
            return Err(FsError::BadHandle);
        }
        let number = number(&self.hasher, long);
        if self.long.read().contains_key(&number) {
            return Ok(number);
        }
        // One after the other, so that each is written once.
        let mut kept = self.kept.as_ref().map(|kept| kept.lock());
        if self.long.read().contains_key(&number) {
            return Ok(number);
        }
        let long: Arc<[u8]> = long.into();
        if let Some(kept) = &mut kept {
            kept.keep(&long).map_err(|error| {
                tracing::error!(%error, "writing the file of long handles");
                FsError::Io
            })?;
        }
        self.long.write().insert(number, long);
        Ok(number)
    }
}

fn is_number(handle: &Handle) -> bool {
    let bytes = handle.as_bytes();
    bytes.len() == NUMBER && bytes[0] == MARK
}

/// The same number for the same handle, and another one for each other: a keyed hash, so that nobody can guess it.
fn number(hasher: &SipHasher24, long: &[u8]) -> Handle {
    let mut hasher = *hasher;
    hasher.write(long);
    let mut bytes = [MARK; NUMBER];
    bytes[1..].copy_from_slice(&hasher.finish128().as_bytes());
    Handle::new(&bytes).expect("17 bytes fit")
}

impl WireHandle {
    /// Of a handle that the server gave.
    pub(super) fn of(handle: &[u8]) -> Self {
        let (mut bytes, length) = ([0; LONGEST], handle.len().min(LONGEST));
        bytes[..length].copy_from_slice(&handle[..length]);
        Self { bytes, length }
    }
}

impl Encode for WireHandle {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.opaque(&self.bytes[..self.length]);
    }
}

impl fmt::Debug for WireHandle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a handle of {} bytes", self.length)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::super::handle_file::header_of;
    use super::*;

    fn at(path: &Path) -> HandleFileUse {
        HandleFileUse { path: path.to_owned(), at_once: true }
    }

    fn long(byte: u8) -> Vec<u8> {
        vec![byte; LONGEST - usize::from(byte % 2)]
    }

    fn learn(handles: &Handles, bytes: &[u8]) -> Handle {
        handles.learn(FileHandle(bytes)).expect("a handle")
    }

    fn sent(handles: &Handles, number: &Handle) -> Result<Vec<u8>> {
        handles.to_wire(number).map(|wire| wire.bytes[..wire.length].to_vec())
    }

    #[test]
    fn handles_of_all_lengths_come_back_as_they_were() {
        let handles = Handles::open(None).expect("open");
        let all: Vec<Vec<u8>> = (0..=LONGEST).map(|length| vec![MARK; length]).collect();
        let numbers: Vec<Handle> = all.iter().map(|bytes| learn(&handles, bytes)).collect();
        for (bytes, number) in all.iter().zip(&numbers) {
            assert_eq!(sent(&handles, number).as_ref(), Ok(bytes));
            assert_eq!(learn(&handles, bytes), *number);
        }
        // The one of 17 bytes looks like a number.
        assert_eq!(handles.long.read().len(), LONGEST - Handle::MAX + 1);
        assert_eq!(handles.learn(FileHandle(&[0; LONGEST + 1])), Err(FsError::BadHandle));
    }

    #[test]
    fn numbers_are_valid_after_a_restart_and_others_are_stale() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("handles");
        let open = || Handles::open(Some(&at(&path))).expect("open");
        let handles = open();
        let in_use = Handles::open(Some(&at(&path))).err().map(|error| error.kind());
        assert_eq!(in_use, Some(io::ErrorKind::WouldBlock));
        let numbers: Vec<Handle> = (0..5).map(|byte| learn(&handles, &long(byte))).collect();
        // Nothing is written when it goes: a process that is killed leaves the same.
        drop(handles);
        let handles = open();
        for (byte, number) in numbers.iter().enumerate() {
            assert_eq!(sent(&handles, number), Ok(long(byte as u8)));
            assert_eq!(learn(&handles, &long(byte as u8)), *number);
        }
        let forged = [&[MARK][..], &[1; NUMBER - 1]].concat();
        let forged = Handle::new(&forged).expect("short");
        assert_eq!(sent(&handles, &forged), Err(FsError::Stale));
        let elsewhere = Handles::open(None).expect("open");
        assert_eq!(sent(&elsewhere, &numbers[0]), Err(FsError::Stale));
    }

    #[test]
    fn a_damaged_file_makes_handles_stale_and_never_others() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("handles");
        let open = || Handles::open(Some(&at(&path))).expect("open");
        let handles = open();
        let numbers: Vec<Handle> = (0..4).map(|byte| learn(&handles, &long(byte))).collect();
        drop(handles);
        let whole = fs::read(&path).expect("there");
        let record = whole.len() / 5;
        let check = |bytes: &[u8], lost: &[usize]| {
            fs::write(&path, bytes).expect("written");
            let handles = open();
            for (at, number) in numbers.iter().enumerate() {
                let expected = if lost.contains(&at) { Err(FsError::Stale) } else { Ok(long(at as u8)) };
                assert_eq!(sent(&handles, number), expected, "{at} of {lost:?}");
            }
            // What is learnt now is there the next time, whatever the file was like.
            let new = learn(&handles, &long(9));
            drop(handles);
            assert_eq!(sent(&open(), &new), Ok(long(9)));
        };
        check(&whole, &[]);
        for cut in [whole.len() - 1, whole.len() - record + 1] {
            check(&whole[..cut], &[3]);
        }
        check(&whole[..record], &[0, 1, 2, 3]);
        check(&whole[..record - 1], &[0, 1, 2, 3]);
        check(&[], &[0, 1, 2, 3]);
        for (at, lost) in
            [(2 * record, &[1][..]), (3 * record - 1, &[1]), (70, &[0, 1, 2, 3]), (3, &[0, 1, 2, 3])]
        {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x40;
            check(&bytes, lost);
        }
    }

    #[test]
    fn a_damaged_file_is_put_aside_and_those_of_newer_versions_and_other_users_are_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("handles");
        let open = || Handles::open(Some(&at(&path)));
        let number = learn(&open().expect("open"), &long(1));
        let whole = fs::read(&path).expect("there");
        let mut damaged = whole.clone();
        damaged[70] ^= 1;
        for times in 1..=2 {
            fs::write(&path, &damaged).expect("written");
            assert_eq!(sent(&open().expect("open"), &number), Err(FsError::Stale));
            let aside = directory.path().join(format!("handles.damaged-{times}"));
            assert_eq!(fs::read(aside).expect("put aside"), damaged);
        }
        fs::write(&path, header_of(b"howdah long handles, format 2\n").expect("random")).expect("written");
        let newer = open().err().expect("refused");
        assert_eq!(newer.kind(), io::ErrorKind::Unsupported, "{newer}");
        fs::write(&path, &whole).expect("written");
        assert_eq!(sent(&open().expect("open"), &number), Ok(long(1)));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o620)).expect("set");
        assert_eq!(open().err().map(|error| error.kind()), Some(io::ErrorKind::PermissionDenied));
    }

    #[test]
    fn a_full_disk_makes_new_handles_last_less_long_or_refuses_them() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("handles");
        for at_once in [true, false] {
            let open = || Handles::open(Some(&HandleFileUse { path: path.clone(), at_once })).expect("open");
            let handles = open();
            let swap = |file: fs::File| handles.kept.as_ref().expect("kept").lock().file.swap(file.into());
            let first = learn(&handles, &long(1));
            let file = swap(fs::OpenOptions::new().write(true).open("/dev/full").expect("open"));
            let numbers = [2, 3].map(|byte| handles.learn(FileHandle(&long(byte))));
            let synced = handles.sync().map_err(|error| error.kind());
            if at_once {
                assert_eq!(numbers, [Err(FsError::Io); 2]);
            } else {
                assert_eq!(synced, Err(io::ErrorKind::StorageFull));
            }
            drop(swap(Arc::into_inner(file).expect("no other")));
            // There is room again.
            let last = learn(&handles, &long(4));
            handles.sync().expect("synced");
            drop(handles);
            let handles = open();
            assert_eq!((sent(&handles, &first), sent(&handles, &last)), (Ok(long(1)), Ok(long(4))));
            for (number, byte) in numbers.iter().flatten().zip([2, 3]) {
                assert_eq!(sent(&handles, number), Ok(long(byte)));
            }
        }
    }

    #[test]
    fn a_sync_makes_all_handles_durable_that_were_learnt() {
        let directory = tempfile::tempdir().expect("a directory");
        let handles = Handles::open(Some(&at(&directory.path().join("handles")))).expect("open");
        let unsynced = || handles.kept.as_ref().expect("a file").lock().file.unsynced().is_some();
        assert!(!unsynced());
        learn(&handles, &long(1));
        assert!(unsynced());
        handles.sync().expect("synced");
        assert!(!unsynced());
    }
}
