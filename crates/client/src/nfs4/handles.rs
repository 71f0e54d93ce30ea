//! Handles of a server, which have up to 128 bytes, as those of the file system, which have up to 64: longer ones go by number.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hasher;
use std::io;
use std::path::Path;
use std::sync::Arc;

use howdah_vfs::{FsError, Handle, Result};
use howdah_wire::nfs4::FileHandle;
use howdah_wire::xdr::{Encode, Encoder};
use parking_lot::{Mutex, RwLock};
use rustix::rand::{GetRandomFlags, getrandom};
use siphasher::sip128::{Hasher128, SipHasher24};

use super::handle_file::{HandleFile, LONGEST};

/// The length of a number with its mark, in bytes.
const NUMBER: usize = 17;
/// Marks a number. A server's own handle that looks the same goes by number, too.
const MARK: u8 = 0xa7;

/// The handles that callers were given. A long one is kept as long as this: nothing says when its caller forgets it.
pub(super) struct Handles {
    long: RwLock<HashMap<Handle, Arc<[u8]>>>,
    hasher: SipHasher24,
    /// Where long ones are kept before a caller gets their numbers.
    file: Option<Mutex<HandleFile>>,
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
    pub(super) fn open(file: Option<&Path>) -> io::Result<Self> {
        let Some(path) = file else {
            let mut key = [0; 16];
            getrandom(&mut key, GetRandomFlags::empty())?;
            return Ok(Self { long: RwLock::default(), hasher: SipHasher24::new_with_key(&key), file: None });
        };
        let mut kept: Vec<Arc<[u8]>> = Vec::new();
        let file = HandleFile::open(path, &mut |handle| kept.push(handle.into()))?;
        let hasher = file.hasher();
        let long = kept.into_iter().map(|handle| (number(&hasher, &handle), handle)).collect();
        Ok(Self { long: RwLock::new(long), hasher, file: Some(Mutex::new(file)) })
    }

    /// For callers.
    pub(super) fn learn(&self, told: FileHandle<'_>) -> Result<Handle> {
        match Handle::new(told.0) {
            Ok(handle) if !is_number(&handle) => Ok(handle),
            _ => self.number(told.0),
        }
    }

    /// For the server. Stale if it is a number that no caller was given, or one whose handle was lost.
    pub(super) fn to_wire(&self, handle: &Handle) -> Result<WireHandle> {
        if is_number(handle) {
            return self.long.read().get(handle).map(|long| WireHandle::of(long)).ok_or(FsError::Stale);
        }
        Ok(WireHandle::of(handle.as_bytes()))
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
        let mut file = self.file.as_ref().map(|file| file.lock());
        if self.long.read().contains_key(&number) {
            return Ok(number);
        }
        if let Some(file) = &mut file {
            file.append(long).map_err(|error| {
                tracing::error!(%error, "writing the file of long handles");
                FsError::Io
            })?;
        }
        self.long.write().insert(number, long.into());
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
    fn of(handle: &[u8]) -> Self {
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

    use super::*;

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
        let open = || Handles::open(Some(&path)).expect("open");
        let handles = open();
        let in_use = Handles::open(Some(&path)).err().map(|error| error.kind());
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
        let open = || Handles::open(Some(&path)).expect("open");
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
}
