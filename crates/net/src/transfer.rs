//! What one system call moves: how much went, where bytes are received to, and whether it waits.

use std::io;

use rustix::io::Errno;

/// What became of a send or receive on a socket that never blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// So many bytes went.
    Bytes(usize),
    /// None can go now.
    WouldBlock,
}

/// A place to receive into: bytes are appended.
#[derive(Debug)]
pub struct Place<'a> {
    /// Takes them in its spare capacity, which is made.
    pub buffer: &'a mut Vec<u8>,
    /// How many at most.
    pub most: usize,
}

/// Whether a receive waits for bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// No: takes what is there.
    No,
    /// Until something is there.
    Some,
    /// Until all places are full.
    All,
}

pub(crate) fn outcome(result: rustix::io::Result<usize>) -> io::Result<Sent> {
    match result {
        Ok(count) => Ok(Sent::Bytes(count)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(Sent::WouldBlock),
        Err(error) => Err(error.into()),
    }
}
