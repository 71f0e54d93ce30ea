//! The payload of a bulk WRITE that waits in the socket, complete: moved from there to the file by the kernel.

use std::io;
use std::os::fd::BorrowedFd;

use howdah_net::{Pipe, Sent, Stream};
use howdah_vfs::Waiting;

use crate::request::BulkData;

/// Size of the buffer that unwanted bytes are received into.
const DRAIN: usize = 64 << 10;

/// A payload: the first bytes came with the header, the rest waits in the socket.
pub struct Payload<'a> {
    stream: &'a Stream,
    pipe: &'a mut Option<Pipe>,
    /// What came with the header and was not taken yet.
    prefix: &'a [u8],
    /// Bytes that wait in the socket, without padding.
    rest: usize,
    /// The padding after them.
    padding: usize,
    /// Bytes of arguments that follow the padding.
    behind: usize,
    /// Where the payload goes if memory is asked for.
    memory: Vec<u8>,
}

impl<'a> Payload<'a> {
    /// A payload of which `prefix` is here; `rest` bytes, their padding, and `behind` bytes of arguments are in the socket.
    pub fn new(
        stream: &'a Stream,
        pipe: &'a mut Option<Pipe>,
        prefix: &'a [u8],
        rest: usize,
        (padding, behind): (usize, usize),
    ) -> Self {
        Self { stream, pipe, prefix, rest, padding, behind, memory: Vec::new() }
    }

    /// Takes from the socket what nobody wanted, so that the next record can be read.
    pub fn finish(mut self) -> io::Result<()> {
        let left = self.rest + self.padding + self.behind;
        self.drain(left)
    }

    fn drain(&mut self, mut left: usize) -> io::Result<()> {
        self.memory.resize(left.min(DRAIN), 0);
        while left > 0 {
            let room = left.min(DRAIN);
            left -= receive(self.stream, &mut self.memory[..room])?;
        }
        Ok(())
    }

    /// Writes what came with the header, as far as `write` takes it, which is given what is left and how much was taken before.
    fn write_prefix(
        &mut self,
        mut write: impl FnMut(&[u8], usize) -> rustix::io::Result<usize>,
    ) -> io::Result<usize> {
        let mut written = 0;
        while !self.prefix.is_empty() {
            match write(self.prefix, written) {
                // A file system that takes nothing and says nothing: the client gets the shorter count, and sends the rest
                // again.
                Ok(0) if written > 0 => break,
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    self.prefix = &self.prefix[count..];
                    written += count;
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(error) if written == 0 => return Err(error.into()),
                Err(_) => break,
            }
        }
        Ok(written)
    }

    fn pipe(&mut self) -> io::Result<Pipe> {
        self.pipe.take().map_or_else(Pipe::new, Ok)
    }
}

impl Waiting for Payload<'_> {
    fn length(&self) -> usize {
        self.prefix.len() + self.rest
    }

    fn move_to(&mut self, file: BorrowedFd<'_>, offset: u64) -> io::Result<usize> {
        let first = self.write_prefix(|part, done| rustix::io::pwrite(file, part, offset + done as u64))?;
        if !self.prefix.is_empty() {
            return Ok(first);
        }
        let pipe = self.pipe()?;
        let moved = pipe.move_to(self.stream, self.rest, file, offset + first as u64)?;
        self.rest -= moved.taken;
        if moved.taken == moved.written {
            *self.pipe = Some(pipe);
        }
        match moved.error {
            Some(error) if first + moved.written == 0 => Err(error),
            _ => Ok(first + moved.written),
        }
    }

    fn take(&mut self) -> io::Result<&[u8]> {
        self.memory.clear();
        self.memory.extend_from_slice(std::mem::take(&mut self.prefix));
        let mut at = self.memory.len();
        self.memory.resize(at + self.rest, 0);
        while self.rest > 0 {
            let count = receive(self.stream, &mut self.memory[at..])?;
            (at, self.rest) = (at + count, self.rest - count);
        }
        Ok(&self.memory)
    }
}

impl BulkData for Payload<'_> {
    fn behind(&mut self) -> io::Result<&[u8]> {
        let unwanted = std::mem::take(&mut self.rest) + std::mem::take(&mut self.padding);
        self.prefix = &[];
        self.drain(unwanted)?;
        self.memory.resize(self.behind, 0);
        let mut at = 0;
        while at < self.memory.len() {
            let count = receive(self.stream, &mut self.memory[at..])?;
            (at, self.behind) = (at + count, self.behind - count);
        }
        Ok(&self.memory)
    }
}

/// Receives bytes that were seen to be there.
fn receive(stream: &Stream, buffer: &mut [u8]) -> io::Result<usize> {
    match stream.receive(buffer)? {
        Sent::Bytes(0) | Sent::WouldBlock => Err(io::ErrorKind::UnexpectedEof.into()),
        Sent::Bytes(count) => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsFd;

    use howdah_wire::xdr::padding;
    use rustix::io::Errno;

    use super::*;
    use crate::connection::tests::connected;

    const LENGTH: usize = 61;
    const BEHIND: &[u8] = b"arguments behind it";
    const NEXT: &[u8] = b"the next record";

    /// Lets `use_it` have a payload of which each possible part came with the header; whatever it does, the stream must
    /// stand at the next record afterwards.
    fn with_each_prefix(mut use_it: impl FnMut(&mut Payload<'_>, &[u8])) {
        let (stream, mut client) = connected();
        let data: Vec<u8> = (1..=LENGTH as u8).collect();
        let mut pipe = None;
        for prefix in 0..LENGTH {
            let (here, rest) = data.split_at(prefix);
            let sent = [rest, &[0; 3][..padding(LENGTH)], BEHIND, NEXT].concat();
            client.write_all(&sent).expect("sending");
            while stream.waiting().expect("a socket") < sent.len() {}
            let around = (padding(LENGTH), BEHIND.len());
            let mut payload = Payload::new(&stream, &mut pipe, here, rest.len(), around);
            assert_eq!(payload.length(), LENGTH);
            use_it(&mut payload, &data);
            payload.finish().expect("the rest is there");
            let mut buffer = [0; 64];
            assert_eq!(
                stream.receive(&mut buffer).expect("a socket"),
                Sent::Bytes(NEXT.len()),
                "prefix {prefix}"
            );
            assert_eq!(&buffer[..NEXT.len()], NEXT);
        }
    }

    fn content(mut file: &File) -> Vec<u8> {
        let mut content = Vec::new();
        file.rewind().expect("a file");
        file.read_to_end(&mut content).expect("a file");
        content
    }

    #[test]
    fn it_moves_to_a_file() {
        with_each_prefix(|payload, data| {
            let file = tempfile::tempfile().expect("a file");
            assert_eq!(payload.move_to(file.as_fd(), 3).expect("moved"), LENGTH);
            assert_eq!(content(&file), [&[0; 3], data].concat());
        });
    }

    #[test]
    fn it_reaches_a_file_that_takes_nothing_from_a_pipe() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("appended");
        with_each_prefix(|payload, data| {
            let _ = std::fs::remove_file(&path);
            let file = OpenOptions::new().create(true).append(true).read(true).open(&path).expect("a file");
            assert_eq!(payload.move_to(file.as_fd(), 0).expect("moved"), LENGTH);
            assert_eq!(content(&file), data);
        });
    }

    #[test]
    fn it_goes_to_memory() {
        with_each_prefix(|payload, data| {
            assert_eq!(payload.take().expect("all there"), data);
            assert_eq!(payload.length(), 0);
        });
    }

    #[test]
    fn what_stands_behind_it_is_received_whether_or_not_it_was_taken() {
        with_each_prefix(|payload, _| {
            let file = tempfile::tempfile().expect("a file");
            payload.move_to(file.as_fd(), 0).expect("moved");
            assert_eq!(payload.behind().expect("all there"), BEHIND);
        });
        with_each_prefix(|payload, _| assert_eq!(payload.behind().expect("all there"), BEHIND));
    }

    #[test]
    fn nobody_wants_it() {
        with_each_prefix(|_, _| {});
    }

    #[test]
    fn a_file_that_takes_nothing_ends_it() {
        with_each_prefix(|payload, data| {
            if payload.prefix.is_empty() {
                return;
            }
            let mut calls = 0;
            let error = payload.write_prefix(|_, _| {
                calls += 1;
                Ok(0)
            });
            assert_eq!((error.expect_err("refused").kind(), calls), (io::ErrorKind::WriteZero, 1));
            let first_byte = |_: &[u8], done: usize| Ok(usize::from(done == 0));
            assert_eq!(payload.write_prefix(first_byte).expect("a short write"), 1);
            assert_eq!(payload.length(), data.len() - 1);
        });
    }

    #[test]
    fn it_is_refused_by_a_file_that_cannot_be_written_and_by_a_full_one() {
        let (unwritable, full) = (File::open("/dev/null"), OpenOptions::new().write(true).open("/dev/full"));
        for (file, code) in [(unwritable, Errno::BADF), (full, Errno::NOSPC)] {
            let file = file.expect("a device");
            with_each_prefix(|payload, _| {
                let error = payload.move_to(file.as_fd(), 0).expect_err("refused");
                assert_eq!(error.raw_os_error(), Some(code.raw_os_error()));
            });
        }
    }
}
