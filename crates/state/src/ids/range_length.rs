//! Ranges from what stands in messages.

use super::ByteRange;
use crate::error::StateError;

impl ByteRange {
    /// The range of an NFSv4 lock: a length of all ones is "to the end" (RFC 8881 18.10.3).
    ///
    /// # Errors
    ///
    /// [`StateError::Invalid`] if the length is 0 or the end is beyond 2^64 - 1.
    pub fn from_length(first: u64, length: u64) -> Result<Self, StateError> {
        let last = match length {
            0 => return Err(StateError::Invalid),
            u64::MAX => u64::MAX,
            _ if first.checked_add(length).is_none() => return Err(StateError::Invalid),
            _ => first + (length - 1),
        };
        Ok(Self { first, last })
    }
}
