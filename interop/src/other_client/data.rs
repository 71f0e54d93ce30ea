//! READ and WRITE, in parts that the server takes.

use howdah_vfs::{Caller, Change, Content, Handle, ReadOutcome, Result, Stability, Written};
use nfs3_types::nfs3::{NFS_PROGRAM, READ3args, READ3res, WRITE3args, WRITE3res};
use nfs3_types::xdr_codec::Opaque;

use super::OtherClient;
use super::client::success;
use super::convert::{note, stability, stable_how};

impl OtherClient {
    /// READs until all of it or the end is there.
    pub(super) fn read_parts(
        &self,
        caller: &Caller,
        node: &Handle,
        offset: u64,
        count: usize,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadOutcome> {
        let mut done = 0;
        loop {
            let file = self.handles.give(node);
            let left = u32::try_from(count - done).unwrap_or(u32::MAX).min(self.largest.0);
            let arguments = READ3args { file, offset: offset.saturating_add(done as u64), count: left };
            let result: READ3res<'_> = self.call(caller, NFS_PROGRAM::NFSPROC3_READ, &arguments);
            let part = success(result, |_| {})?;
            assert_eq!(part.count as usize, part.data.len(), "the count of a READ is that of its data");
            assert!(part.count <= left, "{} bytes where {left} were asked for", part.count);
            buffer.extend_from_slice(&part.data);
            done += part.data.len();
            if part.eof || done == count {
                let attributes = self.told(caller, node, &part.file_attributes)?;
                return Ok(ReadOutcome { content: Content::Appended(done), end: part.eof, attributes });
            }
            assert!(part.count > 0, "neither a byte nor the end");
        }
    }

    /// One WRITE, of as much as the server takes at once.
    pub(super) fn write_part(
        &self,
        caller: &Caller,
        node: &Handle,
        (offset, data): (u64, &[u8]),
        how: Stability,
        change: &mut Change,
    ) -> Result<Written> {
        let data = &data[..data.len().min(self.largest.1 as usize)];
        let arguments = WRITE3args {
            file: self.handles.give(node),
            offset,
            count: data.len() as u32,
            stable: stable_how(how),
            data: Opaque::borrowed(data),
        };
        let result: WRITE3res = self.call(caller, NFS_PROGRAM::NFSPROC3_WRITE, &arguments);
        let written = success(result, |reply| note(change, &reply.file_wcc))?;
        note(change, &written.file_wcc);
        let count = written.count as usize;
        assert!(count <= data.len(), "{count} bytes written of {}", data.len());
        Ok(Written { count, stability: stability(written.committed), verifier: written.verf.0 })
    }
}
