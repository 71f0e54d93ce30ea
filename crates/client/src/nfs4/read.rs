//! READ: one of them, its data straight into the caller's buffer.

use howdah_vfs::{FsError, Result};
use howdah_wire::nfs4::{putfh, read};
use howdah_wire::xdr::padding;

use super::change::LOOK;
use super::client::Nfs4Client;
use super::compound::Compound;
use super::exchange::Tries;
use super::open_file::READS;
use super::operation::Operation;
use super::results::{Results, Stopped};
use crate::channel::{Answer, Class, Locate, Pending, ReceiveInto};
use crate::common::{ReadPart, ReadRange};

const NAME: &str = "READ";

impl Nfs4Client {
    pub(super) fn begin_read(&self, range: ReadRange<'_>, buffer: Vec<u8>) -> Result<Pending> {
        let count = u32::try_from(range.count).unwrap_or(u32::MAX);
        let state = self.state_for(range.caller, range.node, READS)?;
        let arguments = read::Arguments { state, offset: range.offset, count };
        // Last, as Linux sends it: the kernel's server of 6.1 misplaces what follows data that ends near the end of a page, and can only
        // send pages of its cache without a copy if nothing follows.
        let operations = [self.put(range.node)?, LOOK, Operation::Read(arguments)];
        let receive = ReceiveInto { buffer, most: range.count, locate };
        let compound = Compound::new(NAME, Class::Read, &operations);
        Ok(self.start(range.caller, &compound, None, Some(receive)))
    }

    pub(super) fn end_read(
        &self,
        range: ReadRange<'_>,
        mut started: Option<Pending>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadPart> {
        let mut tries = Tries::new(&self.calls, NAME);
        loop {
            let pending = started.take();
            let pending = pending.map_or_else(|| self.begin_read(range, std::mem::take(buffer)), Ok)?;
            let Some(answer) = tries.wait(pending, Some(buffer))? else { continue };
            let is_final = tries.is_final(&answer, None)?;
            let received = answer.received.as_ref().map_or(0, |(_, received)| *received);
            let read = take(answer, range.count, buffer);
            match read {
                _ if !is_final => {}
                Err(stopped)
                    if self.is_for_state((range.caller, range.node, READS), &mut tries, stopped)? => {}
                read => return read?,
            }
            // A refusal has no data. What a server sends with one is not that of the next try.
            buffer.truncate(buffer.len() - received);
        }
    }
}

/// Gives the buffer back, and reads what stands around the data.
fn take(
    mut answer: Answer,
    asked: usize,
    buffer: &mut Vec<u8>,
) -> std::result::Result<Result<ReadPart>, Stopped> {
    let (back, received) = answer.received.take().unwrap_or_default();
    *buffer = back;
    let results = Results { name: NAME, bytes: answer.results, repeated: false };
    let mut reader = results.read()?;
    reader.skip(putfh::OPERATION)?;
    let attributes = match reader.look() {
        Ok(attributes) => attributes,
        Err(error) => return Ok(Err(error)),
    };
    let reply = reader.take::<read::Head>(read::OPERATION)?;
    let count = reply.length as usize;
    if received > asked || count != received {
        tracing::warn!(asked, count, received, "the server sent more or less data than was requested");
        return Ok(Err(FsError::ServerFault));
    }
    Ok(Ok(ReadPart { count, end: reply.end, attributes: Some(attributes) }))
}

/// Finds the data in a reply, behind the results of SEQUENCE, PUTFH and GETATTR.
fn locate(results: &[u8]) -> Locate {
    look_for_data(results).unwrap_or(Locate::NeedMore)
}

fn look_for_data(results: &[u8]) -> Option<Locate> {
    const RESULT: usize = 8;
    const SEQUENCE: usize = RESULT + 36;
    const READ_HEAD: usize = RESULT + read::Head::SIZE;
    let sequence = behind(8, word(results, 4)? as usize)?.checked_add(4)?;
    let put = sequence.checked_add(SEQUENCE)?;
    let get = put.checked_add(RESULT)?;
    for operation in [sequence, put, get] {
        if word(results, operation.checked_add(4)?)? != 0 {
            return Some(Locate::NoData);
        }
    }
    let mask = get.checked_add(RESULT)?;
    let words = (word(results, mask)? as usize).checked_mul(4)?;
    let values = mask.checked_add(4)?.checked_add(words)?;
    let read = behind(values.checked_add(4)?, word(results, values)? as usize)?;
    if word(results, read.checked_add(4)?)? != 0 {
        return Some(Locate::NoData);
    }
    let at = read.checked_add(READ_HEAD)?;
    Some(Locate::Data { at, length: word(results, at - 4)? as usize })
}

/// What follows an opaque that begins there, of this length.
fn behind(at: usize, length: usize) -> Option<usize> {
    at.checked_add(length)?.checked_add(padding(length))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_be_bytes(*word))
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
    use howdah_wire::nfs4::{SessionId, Status, getattr, sequence};
    use howdah_wire::xdr::{Encode, Encoder};

    use super::*;

    /// A reply up to the data.
    fn reply(tag: &[u8], statuses: [Status; 4]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        ReplyHead { status: Status::OK, tag, results: 4 }.encode(&mut encoder);
        let session = sequence::Success {
            session: SessionId([1; 16]),
            sequence: 1,
            slot: 1,
            highest_slot: 1,
            target_highest_slot: 1,
            flags: 1,
        };
        let head = read::Head { end: true, length: 5 };
        let bodies: [&dyn Encode; 4] = [&session, &Nothing, &SomeAttributes, &head];
        let operations = [sequence::OPERATION, putfh::OPERATION, getattr::OPERATION, read::OPERATION];
        for ((number, status), body) in operations.into_iter().zip(statuses).zip(bodies) {
            ResultHead { operation: number, status }.encode(&mut encoder);
            if status != Status::OK {
                return bytes;
            }
            body.encode(&mut encoder);
        }
        bytes
    }

    /// Two words of a mask, and six bytes that nobody reads.
    struct SomeAttributes;

    impl Encode for SomeAttributes {
        fn encode(&self, encoder: &mut Encoder<'_>) {
            [2, 0x0010_011a, 0x0030_a23a].into_iter().for_each(|word| encoder.u32(word));
            encoder.opaque(b"values");
        }
    }

    struct Nothing;

    impl Encode for Nothing {
        fn encode(&self, _: &mut Encoder<'_>) {}
    }

    #[test]
    fn data_is_found_as_soon_as_its_place_is_known() {
        for tag in [&b""[..], b"howdy"] {
            let head = reply(tag, [Status::OK; 4]);
            for known in 0..head.len() {
                assert_eq!(locate(&head[..known]), Locate::NeedMore, "after {known} bytes");
            }
            assert_eq!(locate(&head), Locate::Data { at: head.len(), length: 5 });
        }
    }

    /// On a host of 32 bits, too.
    #[test]
    fn lengths_that_reach_nowhere_have_no_place() {
        let head = reply(b"", [Status::OK; 4]);
        // Those of the tag, of the mask and of the values.
        for at in [4, 72, 84] {
            for length in [u32::MAX, u32::MAX - 3, u32::MAX - 11, 1 << 30] {
                let mut bytes = head.clone();
                bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
                assert_eq!(locate(&bytes), Locate::NeedMore, "{length} at {at}");
            }
        }
        assert_eq!((behind(usize::MAX - 2, 3), behind(usize::MAX - 3, 3)), (None, None));
    }

    #[test]
    fn a_refusal_has_no_data() {
        for refused in 0..4 {
            let mut statuses = [Status::OK; 4];
            statuses[refused] = Status::STALE;
            assert_eq!(locate(&reply(b"", statuses)), Locate::NoData);
        }
    }
}
