//! What a call carries after its arguments, and how it gets into a connection.

use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::AsFd;

use bytes::Bytes;
use howdah_net::{Connection, Sent};
use howdah_vfs::FileRange;

/// The most that is read of a file at once, where it cannot be sent as it lies.
const PIECE_MAX: usize = 1 << 20;

/// The data of a WRITE. A clone shares it.
#[derive(Debug, Clone)]
pub enum Payload {
    /// In memory.
    Memory(Bytes),
    /// In a file, from which the kernel sends it.
    File(FileRange),
}

/// Why a piece of a file did not go.
#[derive(Debug)]
pub(super) enum SendError {
    /// It could not be read, or is not there any more: what was promised cannot be sent.
    Source(io::Error),
    /// The connection did not take it.
    Connection(io::Error),
}

impl Payload {
    /// Takes up to `size` bytes off the front.
    pub fn split_to(&mut self, size: usize) -> Self {
        match self {
            Self::Memory(bytes) => Self::Memory(bytes.split_to(size.min(bytes.len()))),
            Self::File(range) => Self::File(range.split_to(size)),
        }
    }

    /// Leaves no more than the first `size` bytes.
    pub fn truncate(&mut self, size: usize) {
        match self {
            Self::Memory(bytes) => bytes.truncate(size),
            Self::File(range) => range.truncate(size),
        }
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::File(range) => range.length,
        }
    }

    /// Whether there is nothing of it.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same in memory.
    pub(super) fn in_memory(self) -> io::Result<Self> {
        match self {
            Self::Memory(bytes) => Ok(Self::Memory(bytes)),
            Self::File(range) => read(&range).map(|bytes| Self::Memory(bytes.into())),
        }
    }
}

impl howdah_rpc::client::Payload for Payload {
    fn length(&self) -> usize {
        self.len()
    }

    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Memory(bytes) => Some(bytes),
            Self::File(range) if range.length == 0 => Some(&[]),
            Self::File(_) => None,
        }
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self::Memory(bytes)
    }
}

/// Sends a range of a file, as much of it as the kernel takes now: at least a byte, if it takes any.
pub(super) fn send_file(connection: &Connection, range: &FileRange) -> Result<Sent, SendError> {
    match connection.send_file(range.file.as_fd(), range.offset, range.length) {
        Ok(Sent::Bytes(0)) => Err(SendError::Source(ErrorKind::UnexpectedEof.into())),
        Ok(sent) => Ok(sent),
        // Of the file, of the connection, or that files of this kind cannot be sent: reading it tells.
        Err(_) => {
            let piece = FileRange { length: range.length.min(PIECE_MAX), ..range.clone() };
            let bytes = read(&piece).map_err(SendError::Source)?;
            connection.send(&[IoSlice::new(&bytes)], false).map_err(SendError::Connection)
        }
    }
}

/// All of a range. A file that was cut meanwhile does not have it.
fn read(range: &FileRange) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(range.length);
    match range.append_to(&mut bytes)? {
        read if read == range.length => Ok(bytes),
        _ => Err(ErrorKind::UnexpectedEof.into()),
    }
}
