//! READ: one of them, its data straight into the caller's buffer.

use howdah_vfs::{FsError, Result};
use howdah_wire::nfs3::{self, Refused, read};
use howdah_wire::xdr::{Decode, DecodeError, Decoder};

use super::client::Nfs3;
use super::convert::{attributes, file_handle};
use super::exchange::{is_not_now, malformed, success};
use super::procedure::Procedure;
use crate::channel::{Answer, CallError, Class, Locate, Pending, ReceiveInto};
use crate::common::{Jukebox, NewKeys, ReadPart, ReadRange, Transfers, failure};

const PROCEDURE: Procedure = Procedure::idempotent(read::PROCEDURE, "READ", Class::Read);

impl Nfs3 {
    pub(super) fn begin_read(&self, range: ReadRange<'_>, buffer: Vec<u8>) -> Result<Pending> {
        let arguments = arguments(range);
        let receive = ReceiveInto { buffer, most: range.count, locate };
        Ok(self.channel.start(self.request(range.caller, PROCEDURE, &arguments, None, Some(receive))))
    }

    pub(super) fn end_read(
        &self,
        range: ReadRange<'_>,
        mut started: Option<Pending>,
        buffer: &mut Vec<u8>,
    ) -> Result<ReadPart> {
        let mut jukebox = Jukebox::new(self.patience());
        let mut new_keys = NewKeys::default();
        loop {
            let pending = started.take();
            let pending = pending.map_or_else(|| self.begin_read(range, std::mem::take(buffer)), Ok)?;
            let answer = match pending.wait() {
                Err(CallError::TooLarge { buffer: back, .. }) => {
                    *buffer = back.unwrap_or_default();
                    let (answered, attributes) = self.read_parts(range, buffer)?;
                    return Ok(ReadPart { attributes: Some(attributes), ..answered });
                }
                Err(CallError::NewKeys { buffer: back, .. }) if new_keys.next() => {
                    *buffer = back.unwrap_or_default();
                    continue;
                }
                outcome => outcome.map_err(|error| failure(PROCEDURE.name, &error))?,
            };
            let not_now = is_not_now(&answer.results);
            let answered = take(answer, range.count, buffer);
            if !not_now {
                return answered;
            }
            jukebox.wait()?;
        }
    }
}

fn arguments<'r>(range: ReadRange<'r>) -> read::Arguments<'r> {
    let count = u32::try_from(range.count).unwrap_or(u32::MAX);
    read::Arguments { node: file_handle(range.node), offset: range.offset, count }
}

/// Gives the buffer back and reads what stands before the data.
fn take(answer: Answer, asked: usize, buffer: &mut Vec<u8>) -> Result<ReadPart> {
    let (back, received) = answer.received.unwrap_or_default();
    *buffer = back;
    let reply = head(&answer.results).map_err(|error| malformed(PROCEDURE, &error))?;
    let (answered, end, count) = success(reply, |_| {})?;
    if received > asked || count > received {
        tracing::warn!(
            asked,
            count,
            received,
            "the server sent more or less data than it announced, or than was requested"
        );
        return Err(FsError::ServerFault);
    }
    // A server that says one count and sends more is believed in its count.
    buffer.truncate(buffer.len() - (received - count));
    Ok(ReadPart { count, end, attributes: answered.as_ref().map(attributes) })
}

/// What stands before the data: attributes, whether it reaches the end, how much of it counts.
type Head = (Option<nfs3::Attributes>, bool, usize);
type HeadReply = std::result::Result<Head, Refused<Option<nfs3::Attributes>>>;

fn head(results: &[u8]) -> std::result::Result<HeadReply, DecodeError> {
    let mut decoder = Decoder::new(results);
    if decoder.u32("status")? != 0 {
        return read::Reply::decode(&mut Decoder::new(results)).map(|reply| reply.map(|_| (None, false, 0)));
    }
    let attributes = Option::decode(&mut decoder)?;
    let count = decoder.u32("count")? as usize;
    Ok(Ok((attributes, decoder.bool("end of file")?, count)))
}

/// Finds the data in an answer (`READ3res`): after status, attributes if there are any, count, end, and its own length.
fn locate(results: &[u8]) -> Locate {
    const FLAG_AT: usize = 4;
    let Some(status) = word(results, 0) else { return Locate::NeedMore };
    if status != 0 {
        return Locate::NoData;
    }
    let Some(flag) = word(results, FLAG_AT) else { return Locate::NeedMore };
    let attributes = if flag == 0 { 0 } else { nfs3::Attributes::SIZE };
    let length_at = FLAG_AT + 4 + attributes + 4 + 4;
    match word(results, length_at) {
        Some(length) => Locate::Data { at: length_at + 4, length: length as usize },
        None => Locate::NeedMore,
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
}

#[cfg(test)]
mod tests {
    use howdah_wire::nfs3::{Device, FileType, Status, Time};
    use howdah_wire::xdr::Encoder;

    use super::*;

    const ATTRIBUTES: nfs3::Attributes = nfs3::Attributes {
        kind: FileType::Regular,
        mode: 0o644,
        links: 1,
        user: 0,
        group: 0,
        size: 5,
        used: 4096,
        device: Device { major: 0, minor: 0 },
        file_system: 1,
        file: 2,
        accessed: Time { seconds: 1, nanoseconds: 0 },
        modified: Time { seconds: 2, nanoseconds: 0 },
        changed: Time { seconds: 3, nanoseconds: 0 },
    };

    fn answer(attributes: Option<nfs3::Attributes>) -> Vec<u8> {
        Encoder::to_vec(&read::Reply::Ok(read::Success { attributes, end: true, data: b"howdy" }))
    }

    #[test]
    fn data_is_found_as_soon_as_its_place_is_known() {
        for attributes in [None, Some(ATTRIBUTES)] {
            let whole = answer(attributes);
            let at = whole.len() - 8;
            for known in 0..at {
                assert_eq!(locate(&whole[..known]), Locate::NeedMore, "after {known} bytes");
            }
            for known in at..=whole.len() {
                assert_eq!(locate(&whole[..known]), Locate::Data { at, length: 5 }, "after {known} bytes");
            }
            let (answered, end, count) = head(&whole[..at]).expect("a head").expect("a success");
            assert_eq!((answered, end, count), (attributes, true, 5));
        }
    }

    #[test]
    fn a_refusal_has_no_data() {
        let refused = Refused { status: Status::Stale, detail: Some(ATTRIBUTES) };
        let whole = Encoder::to_vec(&read::Reply::Err(refused));
        assert_eq!(locate(&whole), Locate::NoData);
        assert_eq!(head(&whole).expect("an answer"), Err(refused));
    }

    #[test]
    fn a_count_that_the_data_does_not_bear_out_is_not_believed() {
        let results = answer(Some(ATTRIBUTES));
        let results = results[..results.len() - 8].to_vec();
        let answer = |received: &[u8]| Answer {
            results: results.clone(),
            received: Some((received.to_vec(), received.len())),
            sent_more_than_once: false,
        };
        let mut buffer = Vec::new();
        assert!(take(answer(b"howdy, more"), 100, &mut buffer).is_ok_and(|answered| answered.count == 5));
        assert_eq!(buffer, b"howdy");
        assert!(take(answer(b"how"), 100, &mut buffer).is_err());
        assert!(take(answer(b"howdy"), 4, &mut buffer).is_err());
    }
}
