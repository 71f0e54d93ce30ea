//! Handles of a server, which have up to 128 bytes, as those of the file system, which have up to 64: longer ones go by number.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use howdah_vfs::{FsError, Handle, Result};
use howdah_wire::nfs4::FileHandle;
use howdah_wire::xdr::{Encode, Encoder};
use parking_lot::RwLock;

/// The longest handle of NFSv4, in bytes (RFC 8881 3.1, `NFS4_FHSIZE`).
const LONGEST: usize = 128;
/// The length of a number with its mark, in bytes.
const NUMBER: usize = 17;
/// Marks a number. A server's own handle may look the same: then no long handle is known for it, and it is sent as it is.
const MARK: u8 = 0xa7;

/// The handles that callers were given. A long one is kept as long as this: nothing says when its caller forgets it.
#[derive(Default)]
pub(super) struct Handles {
    long: RwLock<HashMap<Handle, Arc<[u8]>>>,
    keys: [RandomState; 2],
}

/// A handle as it goes into an operation.
#[derive(Clone, Copy)]
pub(super) struct WireHandle {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Handles {
    /// For callers.
    pub(super) fn learn(&self, told: FileHandle<'_>) -> Result<Handle> {
        Handle::new(told.0).or_else(|_| self.number(told.0))
    }

    /// For the server.
    pub(super) fn to_wire(&self, handle: &Handle) -> WireHandle {
        let bytes = handle.as_bytes();
        if bytes.len() == NUMBER
            && bytes[0] == MARK
            && let Some(long) = self.long.read().get(handle)
        {
            return WireHandle::of(long);
        }
        WireHandle::of(bytes)
    }

    /// The same number for the same handle, and another one for each other: 128 bits of keyed hashes.
    fn number(&self, long: &[u8]) -> Result<Handle> {
        let [first, second] = [0, 1].map(|key: usize| self.keys[key].hash_one(long).to_be_bytes());
        let number = [&[MARK][..], &first, &second].concat();
        let number = Handle::new(&number).map_err(|_| FsError::BadHandle)?;
        if !self.long.read().contains_key(&number) {
            self.long.write().insert(number, long.into());
        }
        Ok(number)
    }
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
    use super::*;

    #[test]
    fn handles_of_all_lengths_come_back_as_they_were() {
        let handles = Handles::default();
        let all: Vec<Vec<u8>> = (0..=LONGEST).map(|length| vec![MARK; length]).collect();
        let numbers: Vec<Handle> =
            all.iter().map(|bytes| handles.learn(FileHandle(bytes)).expect("a handle")).collect();
        for (bytes, number) in all.iter().zip(&numbers) {
            let back = handles.to_wire(number);
            assert_eq!(&back.bytes[..back.length], bytes);
            assert_eq!(handles.learn(FileHandle(bytes)), Ok(*number));
        }
        assert_eq!(handles.long.read().len(), LONGEST - Handle::MAX);
    }
}
