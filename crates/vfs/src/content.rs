//! Bulk data on its way through: what a READ answers with, and what a WRITE brings.
//!
//! Neither is copied where the kernel can move it: a READ may answer with a range of an open file, which the
//! transport sends by `sendfile`; a WRITE's data is borrowed from the receive buffer, or still waits in the socket, or lies in a
//! file that our client reads it from.

use std::io;
use std::os::fd::BorrowedFd;

use bytes::Bytes;

use crate::FileRange;

/// The data that a READ answers with.
#[derive(Debug, Clone)]
pub enum Content {
    /// The file system appended so many bytes to the buffer it was given.
    Appended(usize),
    /// Shared bytes.
    Bytes(Bytes),
    /// A range of an open file, to be sent without passing through user space.
    File(FileRange),
}

impl Content {
    /// Length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Appended(length) => *length,
            Self::Bytes(bytes) => bytes.len(),
            Self::File(range) => range.length,
        }
    }

    /// Whether there is nothing to send.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The data that a WRITE brings.
pub enum Data<'a> {
    /// Borrowed from the receive buffer.
    Bytes(&'a [u8]),
    /// Shared, so that it can be kept while it is on its way without a copy.
    Shared(Bytes),
    /// A range of an open file, which does not pass through user space where it is sent on.
    File(FileRange),
    /// All there, but still in the kernel's receive queue.
    Waiting(&'a mut dyn Waiting),
}

/// Data that waits, complete, in a socket's receive queue. The owner of the socket drains what is left of it.
pub trait Waiting {
    /// Length in bytes of what has not been taken yet.
    fn length(&self) -> usize;

    /// Moves the data to `file` at `offset` without passing through user space, and says how many bytes got there.
    /// As with `write(2)`, an error after some bytes is reported as the shorter count.
    fn move_to(&mut self, file: BorrowedFd<'_>, offset: u64) -> io::Result<usize>;

    /// Takes all of it into memory.
    fn take(&mut self) -> io::Result<&[u8]>;
}

impl<'a> Data<'a> {
    /// The same data, for a shorter time.
    pub(crate) fn shortened<'b>(self) -> Data<'b>
    where
        'a: 'b,
    {
        match self {
            Self::Bytes(bytes) => Data::Bytes(bytes),
            Self::Shared(bytes) => Data::Shared(bytes),
            Self::File(range) => Data::File(range),
            Self::Waiting(waiting) => Data::Waiting(waiting),
        }
    }
}

impl Data<'_> {
    /// Length in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Shared(bytes) => bytes.len(),
            Self::File(range) => range.length,
            Self::Waiting(waiting) => waiting.length(),
        }
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The data in memory, wherever it was.
    pub fn bytes(&mut self) -> io::Result<&[u8]> {
        if let Self::File(range) = self {
            *self = Self::Shared(whole(range)?);
        }
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::Shared(bytes) => Ok(bytes),
            Self::Waiting(waiting) => waiting.take(),
            Self::File(_) => unreachable!("it was read"),
        }
    }

    /// The data as bytes that may be kept; copied unless it is shared already.
    pub fn into_shared(mut self) -> io::Result<Bytes> {
        match self {
            Self::Shared(bytes) => Ok(bytes),
            Self::File(range) => whole(&range),
            Self::Bytes(_) | Self::Waiting(_) => self.bytes().map(Bytes::copy_from_slice),
        }
    }
}

/// All of a range: a file that was cut has not what was promised.
fn whole(range: &FileRange) -> io::Result<Bytes> {
    let mut data = Vec::with_capacity(range.length);
    match range.append_to(&mut data)? {
        read if read == range.length => Ok(data.into()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
