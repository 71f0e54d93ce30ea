//! What a compound is about, seen from its first bytes: nearly all are SEQUENCE, PUTFH, and one operation that matters.

use howdah_wire::nfs4::compound::Head;
use howdah_wire::nfs4::{
    Stability, allocate, clone, commit, copy, deallocate, putfh, readdir, savefh, sequence, write,
};
use howdah_wire::xdr::{Decode, Decoder};

use crate::limits::BULK_MIN;
use crate::program::{Bulk, Pace};

/// The most bytes of operations behind a WRITE that is moved past memory: those of the usual clients have 20.
const BEHIND_MAX: usize = 512;

/// The handle of the first node that it names.
pub fn node(arguments: Decoder<'_>) -> Option<&[u8]> {
    to_node(arguments).map(|(node, _)| node)
}

/// Whether it may keep its worker waiting.
pub fn pace(arguments: Decoder<'_>) -> Pace {
    let Some((_, rest)) = to_node(arguments) else { return Pace::Quick };
    match to_work(rest.clone()) {
        Some(
            commit::OPERATION
            | copy::OPERATION
            | clone::OPERATION
            | allocate::OPERATION
            | deallocate::OPERATION,
        ) => Pace::Slow,
        Some(readdir::OPERATION) => Pace::Dear,
        Some(write::OPERATION) => match to_write(rest) {
            Some((_, head)) if head.stability != Stability::Unstable => Pace::Slow,
            Some((_, head)) if head.length as usize >= BULK_MIN => Pace::Long,
            _ => Pace::Quick,
        },
        _ => Pace::Quick,
    }
}

/// The bulk data of a WRITE in it, and where that stands.
pub fn bulk(arguments: Decoder<'_>) -> Option<Bulk> {
    let start = arguments.position();
    let (_, rest) = to_node(arguments)?;
    let (position, head) = to_write(rest)?;
    Some(Bulk {
        before: position - start,
        length: head.length as usize,
        durable: head.stability != Stability::Unstable,
        behind_max: BEHIND_MAX,
    })
}

/// How many bytes of what follows SEQUENCE are in memory in any case: all but the data of a WRITE.
pub fn in_memory(rest: &[u8]) -> usize {
    let mut decoder = Decoder::new(rest);
    let to_data = |decoder: &mut Decoder<'_>| {
        if decoder.u32("operation").ok()? != putfh::OPERATION {
            return None;
        }
        putfh::Arguments::decode(decoder).ok()?;
        to_write(decoder.clone()).map(|(position, _)| position)
    };
    to_data(&mut decoder).unwrap_or(rest.len())
}

/// The operation that comes next, or the one behind SAVEFH and the second node: so stand COPY and CLONE.
fn to_work(mut rest: Decoder<'_>) -> Option<u32> {
    let next = rest.u32("operation").ok()?;
    if next != savefh::OPERATION || rest.u32("operation").ok()? != putfh::OPERATION {
        return Some(next);
    }
    putfh::Arguments::decode(&mut rest).ok()?;
    rest.u32("operation").ok()
}

/// Where the data of a WRITE stands, if that is what comes next.
fn to_write(mut rest: Decoder<'_>) -> Option<(usize, write::Head)> {
    if rest.u32("operation").ok()? != write::OPERATION {
        return None;
    }
    let head = write::Head::decode(&mut rest).ok()?;
    Some((rest.position(), head))
}

/// The first node that it names, and what stands behind.
fn to_node(mut arguments: Decoder<'_>) -> Option<(&[u8], Decoder<'_>)> {
    Head::decode(&mut arguments).ok()?;
    if arguments.u32("operation").ok()? != sequence::OPERATION {
        return None;
    }
    sequence::Arguments::decode(&mut arguments).ok()?;
    if arguments.u32("operation").ok()? != putfh::OPERATION {
        return None;
    }
    let putfh::Arguments { node } = putfh::Arguments::decode(&mut arguments).ok()?;
    Some((node.0, arguments))
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs4::{FileHandle, SessionId, copy, getattr, seek};
    use howdah_wire::xdr::Encoder;

    use super::*;

    #[test]
    fn what_may_take_long_is_slow_wherever_it_stands() {
        let session = SessionId([1; 16]);
        let sequence = sequence::Arguments { session, sequence: 1, slot: 0, highest_slot: 0, keep: false };
        let pace = |operations: &[u32]| {
            let head = Head { tag: b"", minor_version: 2, operations: operations.len() as u32 + 1 };
            let mut message = Encoder::to_vec(&head);
            message.extend(sequence::OPERATION.to_be_bytes());
            message.extend(Encoder::to_vec(&sequence));
            for operation in operations {
                message.extend(operation.to_be_bytes());
                if *operation == putfh::OPERATION {
                    message.extend(Encoder::to_vec(&putfh::Arguments { node: FileHandle(b"handle") }));
                }
            }
            super::pace(Decoder::new(&message))
        };
        let (put, save) = (putfh::OPERATION, savefh::OPERATION);
        assert_eq!(pace(&[put, save, put, copy::OPERATION]), Pace::Slow);
        assert_eq!(pace(&[put, copy::OPERATION]), Pace::Slow);
        for quick in
            [&[put, getattr::OPERATION][..], &[put, seek::OPERATION], &[put, save, put], &[put, save], &[put]]
        {
            assert_eq!(pace(quick), Pace::Quick);
        }
    }
}
