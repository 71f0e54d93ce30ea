//! Records out of a stream, against a reading of the whole stream at once.

use howdah_rpc::server::{Assembly, BufferPool, Poll};
use howdah_wire::rpc::RecordMark;

/// The longest record here: beyond the small and the medium buffers of the pool.
const RECORD_MAX: usize = 80 << 10;
/// The most fragments of one record, as the assembly has it.
const FRAGMENTS_MAX: usize = 1024;

/// The first two bytes say in what pieces the stream arrives; the rest is the stream.
pub fn run(input: &[u8]) {
    let Some((&[one, other], stream)) = input.split_first_chunk::<2>() else { return };
    let expected = records(stream);
    let pieces = [usize::from(one) + 1, (usize::from(other) + 1) * 16];
    let (got, failed) = assembled(stream, pieces);
    assert_eq!((got, failed), expected, "in pieces of {pieces:?}");
}

/// The records in a stream, and whether it breaks the rules after them.
fn records(stream: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let (mut records, mut record, mut fragments, mut rest) = (Vec::new(), Vec::new(), 0, stream);
    while let Some((&mark, after)) = rest.split_first_chunk::<{ RecordMark::SIZE }>() {
        let mark = RecordMark::from_bytes(mark);
        fragments += 1;
        if record.len() + mark.length as usize > RECORD_MAX || fragments > FRAGMENTS_MAX {
            return (records, true);
        }
        let Some((fragment, after)) = after.split_at_checked(mark.length as usize) else { break };
        record.extend_from_slice(fragment);
        rest = after;
        if mark.last {
            records.push(std::mem::take(&mut record));
            fragments = 0;
        }
    }
    (records, false)
}

/// The same by the assembly, which receives the stream in pieces of two lengths in turn.
fn assembled(stream: &[u8], pieces: [usize; 2]) -> (Vec<Vec<u8>>, bool) {
    let (mut assembly, mut pool) = (Assembly::new(RECORD_MAX), BufferPool::new(RECORD_MAX));
    let (mut records, mut held, mut rest) = (Vec::new(), Vec::new(), stream);
    for piece in pieces.into_iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let room = assembly.buffer(&mut pool);
        assert!(!room.is_empty(), "no room to receive into");
        let count = room.len().min(piece).min(rest.len());
        room[..count].copy_from_slice(&rest[..count]);
        rest = &rest[count..];
        assembly.received(count);
        loop {
            match assembly.poll() {
                Ok(Poll::Record(record)) => {
                    records.push(record.bytes().to_vec());
                    // Some records are still in use while the next ones come in.
                    held.push(record);
                    if held.len() > 2 {
                        pool.put(held.remove(0).into_buffer());
                    }
                }
                Ok(Poll::More) => break,
                Err(_) => return (records, true),
            }
        }
        // A pause in the stream: little memory is held through it.
        if pieces[0] % 2 == 1 {
            assembly.rest(&mut pool);
        }
        let bound = RECORD_MAX + BufferPool::usual_size();
        assert!(assembly.memory() <= bound, "{} bytes held, more than {bound}", assembly.memory());
    }
    (records, false)
}
