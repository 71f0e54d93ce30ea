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
        let operations = [self.put(range.node)?, Operation::Read(arguments), LOOK];
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
            let answer = tries.wait(pending)?;
            let is_final = tries.is_final(&answer, None)?;
            let read = take(answer, range.count, buffer);
            match read {
                _ if !is_final => {}
                Err(stopped)
                    if self.is_for_state((range.caller, range.node, READS), &mut tries, stopped)? => {}
                read => return read?,
            }
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
    let told = reader.take::<read::Head>(read::OPERATION)?;
    let count = told.length as usize;
    if received > asked || count != received {
        tracing::warn!(asked, count, received, "the server sent more or less data than was requested");
        return Ok(Err(FsError::ServerFault));
    }
    // The reader goes on behind the data, which was taken out of the reply.
    let part = |attributes| ReadPart { count, end: told.end, attributes: Some(attributes) };
    Ok(reader.look().map(part))
}

/// Finds the data in a reply, behind the results of SEQUENCE and PUTFH, which have fixed lengths.
fn locate(results: &[u8]) -> Locate {
    look_for_data(results).unwrap_or(Locate::NeedMore)
}

fn look_for_data(results: &[u8]) -> Option<Locate> {
    const SEQUENCE: usize = 8 + 36;
    const PUT_HANDLE: usize = 8;
    const READ_HEAD: usize = 8 + read::Head::SIZE;
    let tag = word(results, 4)? as usize;
    let sequence = 8 + tag + padding(tag) + 4;
    let read = sequence + SEQUENCE + PUT_HANDLE;
    for operation in [sequence, sequence + SEQUENCE, read] {
        if word(results, operation + 4)? != 0 {
            return Some(Locate::NoData);
        }
    }
    let at = read + READ_HEAD;
    Some(Locate::Data { at, length: word(results, at - 4)? as usize })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
    use howdah_wire::nfs4::{SessionId, Status, sequence};
    use howdah_wire::xdr::{Encode, Encoder};

    use super::*;

    /// A reply up to the data.
    fn reply(tag: &[u8], statuses: [Status; 3]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes);
        ReplyHead { status: Status::OK, tag, results: 3 }.encode(&mut encoder);
        let session = sequence::Success {
            session: SessionId([1; 16]),
            sequence: 1,
            slot: 1,
            highest_slot: 1,
            target_highest_slot: 1,
            flags: 1,
        };
        let head = read::Head { end: true, length: 5 };
        let bodies: [&dyn Encode; 3] = [&session, &Nothing, &head];
        for ((number, status), body) in
            [sequence::OPERATION, putfh::OPERATION, read::OPERATION].into_iter().zip(statuses).zip(bodies)
        {
            ResultHead { operation: number, status }.encode(&mut encoder);
            if status != Status::OK {
                return bytes;
            }
            body.encode(&mut encoder);
        }
        bytes
    }

    struct Nothing;

    impl Encode for Nothing {
        fn encode(&self, _: &mut Encoder<'_>) {}
    }

    #[test]
    fn data_is_found_as_soon_as_its_place_is_known() {
        for tag in [&b""[..], b"howdy"] {
            let head = reply(tag, [Status::OK; 3]);
            for known in 0..head.len() {
                assert_eq!(locate(&head[..known]), Locate::NeedMore, "after {known} bytes");
            }
            assert_eq!(locate(&head), Locate::Data { at: head.len(), length: 5 });
        }
    }

    #[test]
    fn a_refusal_has_no_data() {
        for refused in 0..3 {
            let mut statuses = [Status::OK; 3];
            statuses[refused] = Status::STALE;
            assert_eq!(locate(&reply(b"", statuses)), Locate::NoData);
        }
    }
}
