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

    /// The range of an NLM lock: a length of 0 is "to the end", and so is what ends beyond 2^64 - 1 (C702).
    pub fn from_nlm_length(first: u64, length: u64) -> Self {
        let last = if length == 0 { u64::MAX } else { first.saturating_add(length - 1) };
        Self { first, last }
    }
}
