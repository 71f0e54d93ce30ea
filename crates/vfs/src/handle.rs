//! A handle: opaque bytes that name a node, valid across restarts of the file system that made it.

use std::fmt;
use std::hash::{Hash, Hasher};

/// Names a node. Made by a file system, opaque to everybody else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Handle {
    length: u8,
    bytes: [u8; Self::MAX],
}

/// More bytes than a handle holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandleTooLong;

impl Handle {
    /// The longest handle, in bytes: that of another server, as NFSv3 allows it (RFC 1813 2.4, `NFS3_FHSIZE`).
    pub const MAX: usize = 64;
    /// The longest that can be exported, in bytes: what NFSv3 leaves of its 64 after the server's own envelope.
    pub const EXPORTABLE_MAX: usize = 48;

    /// A handle of these bytes.
    pub fn new(bytes: &[u8]) -> Result<Self, HandleTooLong> {
        let mut handle = Self { length: 0, bytes: [0; Self::MAX] };
        handle.bytes.get_mut(..bytes.len()).ok_or(HandleTooLong)?.copy_from_slice(bytes);
        handle.length = u8::try_from(bytes.len()).map_err(|_| HandleTooLong)?;
        Ok(handle)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

/// Of the bytes that it has: tables of handles are looked at in every call.
impl Hash for Handle {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.as_bytes().hash(hasher);
    }
}

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Handle(")?;
        self.as_bytes().iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))?;
        formatter.write_str(")")
    }
}

impl fmt::Display for HandleTooLong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a handle holds at most {} bytes", Handle::MAX)
    }
}

impl std::error::Error for HandleTooLong {}
