//! A range of an open file: data that the kernel can move to where it goes, and that can be read where it must be in memory.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::buffer::spare_capacity;
use rustix::io::Errno;

/// Reading so small a part too much costs less than zeroing all that is wanted.
const BEYOND_PART: usize = 8;

/// A range of an open file. Its holder only ever reads, by offset.
#[derive(Debug, Clone)]
pub struct FileRange {
    /// The open file.
    pub file: Arc<OwnedFd>,
    /// Where the range starts, in bytes.
    pub offset: u64,
    /// Its length in bytes.
    pub length: usize,
}

impl FileRange {
    /// Takes up to `size` bytes off the front.
    pub fn split_to(&mut self, size: usize) -> Self {
        let front = Self { length: size.min(self.length), ..self.clone() };
        self.offset += front.length as u64;
        self.length -= front.length;
        front
    }

    /// The range without its first `size` bytes.
    pub fn after(&self, size: usize) -> Self {
        let mut rest = self.clone();
        rest.split_to(size);
        rest
    }

    /// Leaves no more than the first `size` bytes.
    pub fn truncate(&mut self, size: usize) {
        self.length = self.length.min(size);
    }

    /// Appends what is in the file to a buffer: fewer bytes than the range has only where the file ends before it does,
    /// since it was cut. Says how many; on an error the buffer is as it was.
    pub fn append_to(&self, buffer: &mut Vec<u8>) -> io::Result<usize> {
        let start = buffer.len();
        buffer.reserve(self.length);
        let mut read = 0;
        while read < self.length {
            match self.append_once(read, buffer) {
                Ok(0) => break,
                Ok(count) => read += count,
                Err(Errno::INTR) => {}
                Err(error) => {
                    buffer.truncate(start);
                    return Err(error.into());
                }
            }
        }
        Ok(read)
    }

    /// One read behind what the buffer holds, for which it has room.
    fn append_once(&self, done: usize, buffer: &mut Vec<u8>) -> rustix::io::Result<usize> {
        let (at, left, held) = (self.offset + done as u64, self.length - done, buffer.len());
        // A buffer of about this size is the usual one, and need not be zeroed: what is read too much is cut off.
        let beyond = buffer.capacity() - held - left;
        let read = if beyond <= left / BEYOND_PART {
            rustix::io::pread(&self.file, spare_capacity(buffer), at)
        } else {
            buffer.resize(held + left, 0);
            rustix::io::pread(&self.file, &mut buffer[held..], at)
        };
        let read = read.map(|count| count.min(left));
        buffer.truncate(held + read.unwrap_or(0));
        read
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;

    use super::*;

    fn range(offset: u64, length: usize) -> FileRange {
        let file = tempfile::tempfile().expect("a file");
        file.write_all_at(b"0123456789", 0).expect("written");
        FileRange { file: Arc::new(file.into()), offset, length }
    }

    #[test]
    fn a_range_is_read_behind_what_is_there_and_ends_where_the_file_does() {
        for (offset, length, expected) in
            [(2, 5, &b"23456"[..]), (8, 5, b"89"), (20, 5, b""), (0, 0, b""), (0, 8, b"01234567")]
        {
            for room in [length, length + 1, 100] {
                let mut buffer = Vec::with_capacity(4 + room);
                buffer.extend_from_slice(b"head");
                let read = range(offset, length).append_to(&mut buffer).expect("readable");
                assert_eq!((read, &buffer[..4], &buffer[4..]), (expected.len(), &b"head"[..], expected));
            }
        }
    }

    #[test]
    fn what_cannot_be_read_leaves_the_buffer_as_it_was() {
        // A pipe has no offsets.
        let (pipe, _end) = std::io::pipe().expect("a pipe");
        let range = FileRange { file: Arc::new(pipe.into()), offset: 0, length: 5 };
        let mut buffer = b"head".to_vec();
        range.append_to(&mut buffer).expect_err("not readable");
        assert_eq!(buffer, b"head");
    }

    #[test]
    fn a_range_falls_into_parts() {
        let mut rest = range(1, 7);
        let first = rest.split_to(3);
        rest.truncate(2);
        let at = |range: &FileRange| (range.offset, range.length);
        assert_eq!((at(&first), at(&rest)), ((1, 3), (4, 2)));
        assert_eq!(at(&rest.split_to(9)), (4, 2));
        assert_eq!(at(&rest), (6, 0));
    }
}
