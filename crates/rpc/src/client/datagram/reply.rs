//! A reply in a datagram: complete or worthless.

use howdah_wire::rpc::{Accepted, ReplyHeader};
use howdah_wire::xdr::{Decode, DecodeError, DecodeProblem, Decoder, padding};

use crate::client::{Locate, ReceiveInto, Reply};

/// A datagram that is a reply by its header.
#[derive(Debug, Clone, Copy)]
pub struct ReplyDatagram {
    header: ReplyHeader,
    /// Length of the header in bytes.
    results_at: usize,
}

impl ReplyDatagram {
    /// Reads the header. Whatever is not a reply says nothing about any call.
    pub fn parse(bytes: &[u8]) -> Result<Self, DecodeError> {
        let mut decoder = Decoder::new(bytes);
        let header = ReplyHeader::decode(&mut decoder)?;
        Ok(Self { header, results_at: decoder.position() })
    }

    /// Which call it is for.
    pub fn xid(&self) -> u32 {
        self.header.xid
    }

    /// Where the results begin, in bytes.
    pub(super) fn results_at(&self) -> usize {
        self.results_at
    }

    /// Whether the call was run, as far as RPC knows.
    pub(super) fn is_success(&self) -> bool {
        self.header.outcome == Ok(Accepted::Success)
    }

    /// A reply with these results.
    pub(super) fn reply(&self, results: Vec<u8>, received: Option<(Vec<u8>, usize)>) -> Reply {
        let ReplyHeader { xid, outcome } = self.header;
        Reply::plain(xid, outcome, results, received, None)
    }

    /// The reply that all of these bytes are, its data appended to the caller's buffer.
    pub(super) fn into_reply(self, bytes: &[u8], receive: Option<ReceiveInto>) -> Reply {
        let results = bytes.get(self.results_at..).unwrap_or(&[]);
        let Some(mut receive) = receive else { return self.reply(results.to_vec(), None) };
        match self.split(results, &receive) {
            Ok(Some([before, data, after])) => {
                receive.buffer.extend_from_slice(data);
                self.reply([before, after].concat(), Some((receive.buffer, data.len())))
            }
            Ok(None) => self.reply(results.to_vec(), Some((receive.buffer, 0))),
            Err(problem) => {
                let mut reply = self.reply(Vec::new(), Some((receive.buffer, 0)));
                reply.problem = Some(problem);
                reply
            }
        }
    }

    /// What stands before the data, the data, and what follows its padding; `None` if there is none.
    fn split<'b>(
        &self,
        results: &'b [u8],
        receive: &ReceiveInto,
    ) -> Result<Option<[&'b [u8]; 3]>, DecodeError> {
        if !self.is_success() {
            return Ok(None);
        }
        let truncated =
            DecodeError { what: "received data", at: results.len(), problem: DecodeProblem::Truncated };
        let (at, length) = match (receive.locate)(results) {
            Locate::NeedMore => return Err(truncated),
            Locate::NoData => return Ok(None),
            Locate::Data { at, length } => (at, length),
        };
        if length > receive.most {
            let [claimed, limit] =
                [length, receive.most].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
            let problem = DecodeProblem::TooLong { claimed, limit };
            return Err(DecodeError { what: "received data", at, problem });
        }
        let before = results.get(..at).ok_or(truncated)?;
        let data = results.get(at..at + length).ok_or(truncated)?;
        let after = results.get(at + length + padding(length)..).unwrap_or(&[]);
        Ok(Some([before, data, after]))
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::rpc::{AuthStatus, Denied};
    use howdah_wire::xdr::{Encode, Encoder};

    use super::*;

    /// Data after one word with its length.
    fn locate(results: &[u8]) -> Locate {
        match results {
            [0xff, ..] => Locate::NoData,
            [a, b, c, d, ..] => Locate::Data { at: 4, length: u32::from_be_bytes([*a, *b, *c, *d]) as usize },
            _ => Locate::NeedMore,
        }
    }

    fn reply(results: &[u8], most: usize) -> Reply {
        let mut bytes = Vec::new();
        let header = ReplyHeader { xid: 7, outcome: Ok(Accepted::Success) };
        header.encode(&mut Encoder::new(&mut bytes));
        bytes.extend_from_slice(results);
        let datagram = ReplyDatagram::parse(&bytes).expect("a reply");
        assert_eq!(datagram.xid(), 7);
        datagram.into_reply(&bytes, Some(ReceiveInto { buffer: b"<".to_vec(), most, locate }))
    }

    #[test]
    fn data_goes_to_its_buffer_and_all_else_to_the_results() {
        let reply = reply(b"\0\0\0\x05howdy\0\0\0tail", 100);
        assert_eq!(reply.received, Some((b"<howdy".to_vec(), 5)));
        assert_eq!(reply.results, b"\0\0\0\x05tail");
        assert_eq!(reply.problem, None);
    }

    #[test]
    fn a_refusal_has_no_data() {
        let reply = reply(b"\xff\0\0\0", 100);
        assert_eq!((reply.received, &reply.results[..]), (Some((b"<".to_vec(), 0)), &b"\xff\0\0\0"[..]));
    }

    #[test]
    fn a_denial_is_a_reply_whatever_its_reason() {
        for (reason, status) in [(7, AuthStatus::Other(7)), (13, AuthStatus::NoContext)] {
            let bytes = [7, 1, 1, 1, reason].map(u32::to_be_bytes).concat();
            let reply = ReplyDatagram::parse(&bytes).expect("a reply").into_reply(&bytes, None);
            let denied = Denied::Authentication(status);
            assert_eq!((reply.xid, reply.outcome), (7, Err(denied)));
        }
    }

    #[test]
    fn data_that_is_cut_or_more_than_asked_for_is_a_problem() {
        for (results, most) in [(&b"\0\0\0\x05how"[..], 100), (b"\0\0", 100), (b"\0\0\0\x05howdy\0\0\0", 4)] {
            let reply = reply(results, most);
            assert!(reply.problem.is_some());
            assert_eq!(reply.received, Some((b"<".to_vec(), 0)));
        }
    }

    #[test]
    fn what_is_no_reply_is_refused() {
        assert!(ReplyDatagram::parse(b"\0\0\0\x01\0\0\0\0").is_err());
        assert!(ReplyDatagram::parse(b"junk").is_err());
    }
}
