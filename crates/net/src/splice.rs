//! A pipe that carries bytes from a socket to a file, or to another socket, without user space seeing them.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

use crate::stream::Stream;
use crate::transfer::{Sent, outcome};

/// Room asked for in the pipe, in bytes: the most an ordinary user gets (`fs.pipe-max-size`), and one bulk WRITE.
const PIPE_SIZE: usize = 1 << 20;

/// How much goes through memory at a time where the kernel does not move it, in bytes.
const COPY_SIZE: usize = 64 << 10;

/// A pipe, empty between two uses.
#[derive(Debug)]
pub struct Pipe {
    reader: OwnedFd,
    writer: OwnedFd,
}

/// How far a move got.
#[derive(Debug)]
pub struct Spliced {
    /// Bytes taken from the socket.
    pub taken: usize,
    /// Bytes that reached the file.
    pub written: usize,
    /// What stopped the file from taking more.
    pub error: Option<io::Error>,
}

impl Pipe {
    /// A pipe as large as the host allows.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        // Refused where the user's pipes hold too much already: a smaller one works too, in more steps.
        let _ = fcntl_setpipe_size(&writer, PIPE_SIZE);
        Ok(Self { reader, writer })
    }

    /// Moves `length` bytes, which wait in the kernel, to the file at `offset`. Stops early where the file takes no
    /// more; the pipe must not be used again when bytes were taken that did not reach the file. Of a stream that
    /// [can][`Stream::can_splice`].
    pub fn move_to(
        &self,
        stream: &Stream,
        length: usize,
        file: BorrowedFd<'_>,
        offset: u64,
    ) -> io::Result<Spliced> {
        let mut moved = Spliced { taken: 0, written: 0, error: None };
        while moved.taken < length {
            let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
            match splice(stream, None, &self.writer, None, length - moved.taken, flags) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(count) => moved.taken += count,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(moved),
                Err(error) => return Err(error.into()),
            }
            while moved.written < moved.taken {
                let mut at = offset + moved.written as u64;
                match splice(
                    &self.reader,
                    None,
                    file,
                    Some(&mut at),
                    moved.taken - moved.written,
                    SpliceFlags::MOVE,
                ) {
                    Ok(0) => return Ok(moved.stopped(io::ErrorKind::WriteZero.into())),
                    Ok(count) => moved.written += count,
                    Err(Errno::INTR) => {}
                    Err(Errno::INVAL) => match self.copy_to(file, at, moved.taken - moved.written) {
                        Ok(count) => moved.written += count,
                        Err(error) => return Ok(moved.stopped(error.into())),
                    },
                    Err(error) => return Ok(moved.stopped(error.into())),
                }
            }
        }
        Ok(moved)
    }

    /// Takes up to `most` bytes from a socket, as many as wait there. 0 bytes: the peer has ended its side. Into a pipe that is empty:
    /// one that is full looks like a socket that has nothing.
    ///
    /// # Errors
    /// The socket's; `InvalidInput`: the kernel cannot do this with such a socket.
    pub fn take_from(&self, socket: BorrowedFd<'_>, most: usize) -> io::Result<Sent> {
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        outcome(splice(socket, None, &self.writer, None, most, flags))
    }

    /// Gives a socket up to `length` bytes that are in the pipe, as many as it takes now.
    ///
    /// # Errors
    /// The socket's; `InvalidInput`: the kernel cannot do this with such a socket.
    pub fn give_to(&self, socket: BorrowedFd<'_>, length: usize) -> io::Result<Sent> {
        let flags = SpliceFlags::MOVE | SpliceFlags::NONBLOCK;
        outcome(splice(&self.reader, None, socket, None, length, flags))
    }

    /// Reads what is in the pipe, at most so many bytes, behind what is in `buffer`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn read_out(&self, buffer: &mut Vec<u8>, length: usize) -> io::Result<()> {
        let before = buffer.len();
        buffer.resize(before + length, 0);
        let mut filled = before;
        while filled < buffer.len() {
            match rustix::io::read(&self.reader, &mut buffer[filled..])? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => filled += count,
            }
        }
        Ok(())
    }

    /// Some file systems take nothing from a pipe, and some files (opened to append): what is in it goes through memory.
    fn copy_to(&self, file: BorrowedFd<'_>, offset: u64, length: usize) -> rustix::io::Result<usize> {
        let mut buffer = vec![0; length.min(COPY_SIZE)];
        let count = rustix::io::read(&self.reader, &mut buffer)?;
        let mut written = 0;
        while written < count {
            match rustix::io::pwrite(file, &buffer[written..count], offset + written as u64) {
                Ok(0) => return Err(Errno::IO),
                Ok(more) => written += more,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(written)
    }
}

impl Spliced {
    fn stopped(mut self, error: io::Error) -> Self {
        self.error = Some(error);
        self
    }
}
