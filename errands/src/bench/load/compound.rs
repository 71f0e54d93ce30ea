//! Calls of NFSv4.1: SEQUENCE, PUTFH, and one operation. Each place in flight has a slot of the session for itself.

use std::ops::Range;

use anyhow::ensure;
use howdah_random::Random;
use howdah_wire::nfs4::attributes::{
    CHANGE, FILEID, FSID, MODE, MOUNTED_ON_FILEID, NUMLINKS, OWNER, OWNER_GROUP, RAWDEV, SIZE, SPACE_USED,
    TIME_ACCESS, TIME_METADATA, TIME_MODIFY, TYPE,
};
use howdah_wire::nfs4::compound::Head;
use howdah_wire::nfs4::{
    Bitmap, COMPOUND, FileHandle, PROGRAM, SessionId, StateId, VERSION, getattr, putfh, read, sequence,
};
use howdah_wire::xdr::{Encode, Encoder};

use super::super::export::file_name;
use super::data::{LARGE, LARGE_FILE};
use super::place::{self, FEW_COUNT};
use super::{Load, Scene, call};

/// What the Linux client asks for with every GETATTR.
const ATTRIBUTES: Bitmap = Bitmap::of(&[
    TYPE,
    CHANGE,
    SIZE,
    FSID,
    FILEID,
    MODE,
    NUMLINKS,
    OWNER,
    OWNER_GROUP,
    RAWDEV,
    SPACE_USED,
    TIME_ACCESS,
    TIME_METADATA,
    TIME_MODIFY,
    MOUNTED_ON_FILEID,
]);

/// Compounds of one kind.
#[derive(Debug)]
pub struct Compounds {
    calls: Vec<Vec<u8>>,
    /// Where the arguments of SEQUENCE stand that change from call to call: number and slot.
    sequence: Range<usize>,
    /// The last number in each slot.
    numbers: Vec<u32>,
    random: Random,
    /// For READ: the bytes of a piece, and where the next is.
    piece: Option<(u32, u64)>,
}

/// Arguments that are encoded already.
struct Encoded<'b>(&'b [u8]);

impl Encode for Encoded<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.output().extend_from_slice(self.0);
    }
}

impl Compounds {
    /// GETATTR.
    pub fn attributes(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        let directory = scene.export.lasting_directory(place::FEW, FEW_COUNT)?;
        let handles: Vec<_> = (0..FEW_COUNT)
            .map(|number| scene.handle(&directory.join(file_name(number))))
            .collect::<anyhow::Result<_>>()?;
        let operation = step(getattr::OPERATION, &getattr::Arguments { wanted: ATTRIBUTES });
        Self::of(scene, &handles, &operation, None)
    }

    /// READ of large pieces, one after the other.
    pub fn read(scene: &mut Scene<'_>) -> anyhow::Result<Self> {
        let file = scene.export.lasting_file(place::READ_STREAM, LARGE_FILE)?;
        let handle = scene.handle(&file)?;
        let arguments = read::Arguments { state: StateId::ANONYMOUS, offset: 0, count: LARGE };
        Self::of(scene, &[handle], &step(read::OPERATION, &arguments), Some((LARGE, 0)))
    }

    fn of(
        scene: &mut Scene<'_>,
        handles: &[Vec<u8>],
        operation: &[u8],
        piece: Option<(u32, u64)>,
    ) -> anyhow::Result<Self> {
        let session = match &mut scene.session {
            Some(session) => session.nfs4_session()?,
            None => SessionId([0; 16]),
        };
        let head = Encoder::to_vec(&Head { tag: b"", minor_version: 1, operations: 3 });
        let arguments = sequence::Arguments { session, sequence: 0, slot: 0, highest_slot: 0, keep: false };
        let first = step(sequence::OPERATION, &arguments);
        let calls: Vec<Vec<u8>> = handles
            .iter()
            .map(|handle| {
                let put = step(putfh::OPERATION, &putfh::Arguments { node: FileHandle(handle) });
                let steps = [&head[..], &first, &put, operation].concat();
                call::encode(PROGRAM, VERSION, COMPOUND, &Encoded(&steps), 0)
            })
            .collect();
        let rest: usize = 4 + 4 + handles[0].len().next_multiple_of(4) + operation.len();
        // Number, slot, highest slot, whether it is kept: what SEQUENCE ends with.
        let at = calls[0].len() - rest - 16;
        let numbers = vec![0; 256];
        Ok(Self { calls, sequence: at..at + 12, numbers, random: Random::new(1), piece })
    }
}

fn step(operation: u32, arguments: &impl Encode) -> Vec<u8> {
    [&operation.to_be_bytes()[..], &Encoder::to_vec(arguments)].concat()
}

impl Load for Compounds {
    fn call(&mut self, slot: usize, xid: u32, output: &mut Vec<u8>) -> bool {
        let which = self.random.below(self.calls.len() as u64) as usize;
        self.numbers[slot] += 1;
        let words = [self.numbers[slot], slot as u32, slot as u32].map(u32::to_be_bytes);
        let call = &mut self.calls[which];
        call::set_xid(call, xid);
        call[self.sequence.clone()].copy_from_slice(words.as_flattened());
        if let Some((piece, next)) = &mut self.piece {
            let at = call.len() - 12;
            call[at..at + 8].copy_from_slice(&next.to_be_bytes());
            *next = (*next + u64::from(*piece)) % LARGE_FILE;
        }
        output.extend_from_slice(call);
        true
    }

    fn reply(&mut self, _: usize, _: &[u8], length: usize) -> anyhow::Result<u64> {
        let least = self.piece.map_or(100, |(piece, _)| piece as usize);
        ensure!(length > least, "a reply of {length} bytes, where more than {least} are expected");
        Ok(self.piece.map_or(1, |(piece, _)| u64::from(piece)))
    }
}
