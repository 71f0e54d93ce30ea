//! The journal as a file beside the partial one.

use bytes::Bytes;
use howdah_vfs::{Data, Handle, NewAttributes, Node, Result, Stability};

use super::Side;
use super::journal::{HEADER, Identity, RECORD};
use super::ranges::RangeSet;
use super::side::{in_memory, reclaim};

/// Bytes of a journal that are read at once.
const PIECE: usize = 256 * 1024;

/// The largest journal that is read: 10^6 records, which is a file of 60 TB. A larger one does not count.
const LARGEST: u64 = (HEADER + RECORD * 1_000_000) as u64;

/// Bytes of zeros that a journal begins with, in place of records: some hundred of them.
const ROOM: usize = 8192;

/// An open journal.
pub(super) struct JournalFile {
    pub(super) name: Vec<u8>,
    handle: Handle,
    identity: Identity,
    length: u64,
    durability: Stability,
}

/// A journal that was found.
pub(super) struct Found {
    pub(super) identity: Identity,
    pub(super) committed: RangeSet,
    good: u64,
}

/// A journal that was made at the same time as the file which it is to speak of.
pub(super) struct NewJournal {
    name: Vec<u8>,
    handle: Handle,
    durability: Stability,
}

impl NewJournal {
    /// It speaks of that file, once something is recorded: an empty journal is as good as none.
    pub(super) fn of(self, identity: Identity) -> JournalFile {
        let Self { name, handle, durability } = self;
        JournalFile { name, handle, identity, length: 0, durability }
    }
}

impl JournalFile {
    /// Begins a journal in place of what has the name, as durable as the data that it speaks of: with [`Stability::FileSync`]
    /// every record is safe before it counts.
    pub(super) fn begin(
        side: &Side,
        directory: &Handle,
        name: Vec<u8>,
        durability: Stability,
    ) -> Result<NewJournal> {
        let new = NewAttributes::with_mode(0o600);
        let handle = side.create_afresh(directory, &name, new)?.handle;
        // Room for the first records, so that they can be written when the data has filled the disk. If there is none, writing
        // the data fails and says so.
        let room = Bytes::from_static(&[0; ROOM]);
        let _ =
            side.write(&handle, (0, ROOM), |done| Data::Shared(room.slice(done..)), durability, |_, _| {});
        Ok(NewJournal { name, handle, durability })
    }

    /// Goes on with a journal that was found.
    pub(super) fn go_on(name: Vec<u8>, node: &Node, found: &Found, durability: Stability) -> Self {
        Self { name, handle: node.handle, identity: found.identity, length: found.good, durability }
    }

    /// Whether nothing was recorded yet.
    pub(super) fn is_empty(side: &Side, node: &Node) -> Result<bool> {
        let mut buffer = Vec::new();
        let read = side.read(&node.handle, 0, HEADER, &mut buffer)?;
        let bytes = in_memory(read.content, &mut buffer)?;
        Ok(bytes.iter().all(|&byte| byte == 0))
    }

    /// What a file says if it is a journal.
    pub(super) fn read(side: &Side, node: &Node) -> Result<Option<Found>> {
        let size = node.attributes.size;
        if size > LARGEST {
            return Ok(None);
        }
        let (mut all, mut buffer) = (Vec::new(), Vec::new());
        while (all.len() as u64) < size {
            let read = side.read(&node.handle, all.len() as u64, PIECE, &mut buffer)?;
            let bytes = in_memory(read.content, &mut buffer)?;
            if bytes.is_empty() {
                break;
            }
            all.extend_from_slice(&bytes);
            reclaim(bytes, &mut buffer);
        }
        let parsed = Identity::parse(&all);
        Ok(parsed.map(|(identity, committed, good)| Found { identity, committed, good: good as u64 }))
    }

    /// These ranges are committed.
    pub(super) fn record(&mut self, side: &Side, ranges: &RangeSet) -> Result<()> {
        let records = ranges.iter().flat_map(|range| self.identity.record(&range));
        let header = (self.length == 0).then(|| self.identity.header());
        self.append(side, header.into_iter().flatten().chain(records).collect())
    }

    /// Whether something was recorded.
    pub(super) fn has_record(&self) -> bool {
        self.length > 0
    }

    fn append(&mut self, side: &Side, bytes: Vec<u8>) -> Result<()> {
        let bytes = Bytes::from(bytes);
        let rest = |done| Data::Shared(bytes.slice(done..));
        side.write(&self.handle, (self.length, bytes.len()), rest, self.durability, |_, _| {})?;
        self.length += bytes.len() as u64;
        Ok(())
    }
}
