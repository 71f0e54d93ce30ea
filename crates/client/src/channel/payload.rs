//! What a call carries after its arguments, and how it gets into a connection.

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use bytes::Bytes;
use howdah_net::{Connection, Sent};

/// The most that is read of a file at once, where it cannot be sent as it lies.
const PIECE_MAX: usize = 1 << 20;

/// The data of a WRITE. A clone shares it.
#[derive(Debug, Clone)]
pub enum Payload {
    /// In memory.
    Memory(Bytes),
    /// In a file, from which the kernel sends it.
    File {
        /// The open file.
        file: Arc<OwnedFd>,
        /// Where the data starts in it, in bytes.
        offset: u64,
        /// Length of the data in bytes.
        length: usize,
    },
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
            Self::File { file, offset, length } => {
                let front = Self::File { file: file.clone(), offset: *offset, length: size.min(*length) };
                *offset += front.len() as u64;
                *length -= front.len();
                front
            }
        }
    }

    /// Leaves no more than the first `size` bytes.
    pub fn truncate(&mut self, size: usize) {
        match self {
            Self::Memory(bytes) => bytes.truncate(size),
            Self::File { length, .. } => *length = size.min(*length),
        }
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::File { length, .. } => *length,
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
            Self::File { file, offset, length } => Ok(Self::Memory(read(&file, offset, length)?.into())),
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
            Self::File { length: 0, .. } => Some(&[]),
            Self::File { .. } => None,
        }
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self::Memory(bytes)
    }
}

/// Sends a part of a file, as much of it as the kernel takes now: at least a byte, if it takes any.
pub(super) fn send_file(
    connection: &Connection,
    file: &OwnedFd,
    offset: u64,
    length: usize,
) -> Result<Sent, SendError> {
    match connection.send_file(file.as_fd(), offset, length) {
        Ok(Sent::Bytes(0)) => Err(SendError::Source(ErrorKind::UnexpectedEof.into())),
        Ok(sent) => Ok(sent),
        // Of the file, of the connection, or that files of this kind cannot be sent: reading it shows which.
        Err(_) => {
            let bytes = read(file, offset, length.min(PIECE_MAX)).map_err(SendError::Source)?;
            connection.send(&[IoSlice::new(&bytes)], false).map_err(SendError::Connection)
        }
    }
}

/// All of a part. A file that was cut meanwhile does not have it.
fn read(file: &OwnedFd, offset: u64, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    File::from(file.try_clone()?).read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}
