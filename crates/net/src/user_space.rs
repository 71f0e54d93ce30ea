//! For tests: a carrier that takes each byte in hand in user space, in records, as encryption does.

use std::io;
use std::sync::{Mutex, PoisonError};

use crate::transfer::Sent;

/// The longest record, in bytes: that of TLS (RFC 8446 5.1).
const RECORD: usize = 16 << 10;

/// Bytes that were received and not given yet.
#[derive(Debug, Default)]
pub struct UserSpace(Mutex<Vec<u8>>);

impl UserSpace {
    /// Whether there are any.
    pub fn keeps_bytes(&self) -> bool {
        !self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Gives what is kept, else what a record brings.
    pub fn receive(
        &self,
        buffer: &mut [u8],
        from_kernel: impl FnOnce(&mut [u8]) -> io::Result<Sent>,
    ) -> io::Result<Sent> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_empty() {
            let mut record = vec![0; RECORD];
            match from_kernel(&mut record)? {
                Sent::Bytes(count) => kept.extend_from_slice(&record[..count]),
                Sent::WouldBlock => return Ok(Sent::WouldBlock),
            }
        }
        // Never all at once: who takes less than a buffer for all that there is, is found out.
        let count = kept.len().div_ceil(2).min(buffer.len());
        buffer[..count].copy_from_slice(&kept[..count]);
        kept.drain(..count);
        Ok(Sent::Bytes(count))
    }
}
