//! Reading and writing.

use bytes::Bytes;
use fuser::Errno;
use howdah_vfs::{Change, Content, Data, FsError, ReadFile, Stability, WriteFile};

use crate::opens::KernelFile;
use crate::refused::{Answer, Refused};
use crate::shared::Shared;

/// What was read.
pub enum Read {
    Vector(Vec<u8>),
    Shared(Bytes),
}

impl AsRef<[u8]> for Read {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Vector(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Shared {
    /// READ, past the caches for O_DIRECT: programs of several hosts share files by it. The kernel takes what is short for the end of the
    /// file.
    pub fn read(&self, open: &KernelFile, offset: u64, count: usize, flags: i32) -> Answer<Read> {
        let (mut buffer, caller) = (Vec::new(), &open.caller);
        let read = ReadFile::new(&open.node.handle, offset, count);
        let outcome = match flags & libc::O_DIRECT {
            0 => self.file_system.read(caller, read, &mut buffer),
            _ => self.consistency.read_now(caller, read, &mut buffer),
        }?;
        let read = match outcome.content {
            Content::Appended(_) => Read::Vector(buffer),
            Content::Bytes(bytes) => Read::Shared(bytes),
            Content::File(range) => {
                buffer.reserve_exact(range.length);
                range.append_to(&mut buffer).map_err(|_| FsError::Io)?;
                Read::Vector(buffer)
            }
        };
        self.counters.on_read(read.as_ref().len());
        Ok(read)
    }

    /// WRITE: all of it, or as much as went before an error. With O_APPEND it goes to the end of the file as it is known here, which
    /// the kernel does not know of a file that another client made longer.
    pub fn write(&self, open: &KernelFile, offset: u64, data: Bytes, flags: i32) -> Answer<usize> {
        let _one_after_the_other = open.appends.then(|| open.node.appending.lock());
        let offset = match open.appends {
            true => self.file_system.attributes(&open.caller, &open.node.handle)?.size,
            false => offset,
        };
        let stability = if flags & libc::O_DIRECT == 0 { open.stability } else { open.direct_stability() };
        let mut done = 0;
        while done < data.len() {
            match self.write_some(open, offset + done as u64, data.slice(done..), stability) {
                Ok(0) if done == 0 => return Err(Refused(Errno::EIO)),
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) => {
                    open.on_refused_write(error, done == 0);
                    if done == 0 {
                        return Err(error);
                    }
                    break;
                }
            }
        }
        self.counters.on_write(done);
        Ok(done)
    }

    fn write_some(&self, open: &KernelFile, offset: u64, data: Bytes, stability: Stability) -> Answer<usize> {
        let (caller, node, mut change) = (&open.caller, &open.node, Change::default());
        node.content.lock().unset.wrote();
        let data = Data::Shared(data);
        let written = self.file_system.write(
            caller,
            WriteFile::new(&node.handle, offset, data, stability),
            &mut change,
        )?;
        open.wrote(&written);
        Ok(written.count)
    }
}
