//! One datagram as it is received: in pieces, so that the data of a READ comes to lie by itself, where the caller can have it
//! without a copy. Where it begins and how long it is was learnt from the replies before; a datagram that is different is
//! joined again.

use howdah_wire::xdr::padding;

use super::reply::ReplyDatagram;
use crate::client::{Locate, ReceiveInto, Reply};

/// Nothing larger comes in a datagram.
const DATAGRAM_MAX: usize = 64 << 10;

/// What a datagram is received into.
#[derive(Debug, Default)]
pub struct Message {
    /// The first bytes; of a message that is joined, all of them.
    head: Vec<u8>,
    /// What follows: the data of a READ, if the guess is right.
    data: Vec<u8>,
    /// What follows that.
    rest: Vec<u8>,
    /// The guess: how many bytes come before the data, and how long it is. Nothing before the first.
    expected: Option<(usize, usize)>,
}

impl Message {
    /// The places to receive the next datagram into, one after the other, and how many bytes at most.
    pub fn places(&mut self) -> [(&mut Vec<u8>, usize); 3] {
        self.head.clear();
        self.data.clear();
        self.rest.clear();
        let (head, data) = self.expected.unwrap_or((0, 0));
        [(&mut self.head, head), (&mut self.data, data), (&mut self.rest, DATAGRAM_MAX)]
    }

    /// Reads the header; what is no reply says nothing about any call.
    pub fn parse(&mut self) -> Result<ReplyDatagram, howdah_wire::xdr::DecodeError> {
        ReplyDatagram::parse(&self.head).or_else(|_| {
            self.join();
            ReplyDatagram::parse(&self.head)
        })
    }

    /// The reply, whose header was read, its data appended to the caller's buffer, or in the caller's buffer's place.
    pub fn to_reply(&mut self, datagram: ReplyDatagram, receive: Option<ReceiveInto>) -> Reply {
        let Some(receive) = receive else {
            self.join();
            return datagram.into_reply(&self.head, None);
        };
        match self.data_apart(&datagram, &receive) {
            Some(length) => self.hand_out(&datagram, receive, length),
            None => {
                self.join();
                self.learn(&datagram, &receive);
                datagram.into_reply(&self.head, Some(receive))
            }
        }
    }

    /// The length of the data, if that is what lies apart.
    fn data_apart(&self, datagram: &ReplyDatagram, receive: &ReceiveInto) -> Option<usize> {
        let results = self.head.get(datagram.results_at()..)?;
        if self.data.is_empty() || !datagram.is_success() {
            return None;
        }
        let Locate::Data { at, length } = (receive.locate)(results) else { return None };
        let behind = (self.data.len() + self.rest.len()).checked_sub(length)?;
        let is_apart = at == results.len() && length <= self.data.len() && behind == padding(length);
        (is_apart && length <= receive.most).then_some(length)
    }

    /// Gives the data out: the memory that it lies in for the caller's, where that holds nothing and is not larger.
    fn hand_out(&mut self, datagram: &ReplyDatagram, mut receive: ReceiveInto, length: usize) -> Reply {
        self.data.truncate(length);
        if receive.buffer.is_empty() && receive.buffer.capacity() <= self.data.capacity() {
            std::mem::swap(&mut receive.buffer, &mut self.data);
        } else {
            receive.buffer.extend_from_slice(&self.data);
        }
        let results = self.head[datagram.results_at()..].to_vec();
        datagram.reply(results, Some((receive.buffer, length)))
    }

    /// Where the data of this one is, that of the next one may be too.
    fn learn(&mut self, datagram: &ReplyDatagram, receive: &ReceiveInto) {
        let Some(results) = self.head.get(datagram.results_at()..).filter(|_| datagram.is_success()) else {
            return;
        };
        if let Locate::Data { at, length } = (receive.locate)(results)
            && length <= receive.most
            && at + length <= results.len()
        {
            let longest = self.expected.map_or(0, |(_, longest)| longest);
            self.expected = Some((datagram.results_at() + at, length.max(longest)));
        }
    }

    fn join(&mut self) {
        self.head.append(&mut self.data);
        self.head.append(&mut self.rest);
    }
}

#[cfg(test)]
mod tests {
    use howdah_wire::rpc::{Accepted, ReplyHeader};
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

    fn datagram(results: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let header = ReplyHeader { xid: 7, outcome: Ok(Accepted::Success) };
        header.encode(&mut Encoder::new(&mut bytes));
        [bytes, results.to_vec()].concat()
    }

    fn data(length: usize) -> Vec<u8> {
        let bytes: Vec<u8> = (0..length).map(|at| at as u8).collect();
        [&(length as u32).to_be_bytes()[..], &bytes, &[0; 3][..padding(length)]].concat()
    }

    /// As a socket does it.
    fn receive(message: &mut Message, mut bytes: &[u8]) {
        for (place, most) in message.places() {
            let (here, rest) = bytes.split_at(most.min(bytes.len()));
            place.extend_from_slice(here);
            bytes = rest;
        }
        assert!(bytes.is_empty());
    }

    fn reply(message: &mut Message, results: &[u8], buffer: Vec<u8>, most: usize) -> Reply {
        receive(message, &datagram(results));
        let parsed = message.parse().expect("a reply");
        assert_eq!(parsed.xid(), 7);
        message.to_reply(parsed, Some(ReceiveInto { buffer, most, locate }))
    }

    #[test]
    fn whatever_was_received_before_a_reply_is_the_same() {
        let kinds =
            [data(1024), data(1021), data(8), data(0), data(3000), b"\xff\0\0\0".to_vec(), data(1024)];
        for first in &kinds {
            for second in &kinds {
                let mut message = Message::default();
                reply(&mut message, first, Vec::new(), 4096);
                for buffer in [Vec::new(), b"<".to_vec(), Vec::with_capacity(1 << 16)] {
                    let expected = reply(&mut Message::default(), second, buffer.clone(), 4096);
                    let got = reply(&mut message, second, buffer, 4096);
                    assert_eq!(
                        (got.results, got.received, got.problem),
                        (expected.results, expected.received, expected.problem)
                    );
                }
            }
        }
    }

    #[test]
    fn data_where_it_is_expected_is_not_copied() {
        let mut message = Message::default();
        reply(&mut message, &data(1024), Vec::new(), 1024);
        let [_, (place, _), _] = message.places();
        place.reserve(1024);
        let memory = place.as_ptr();
        let (buffer, count) = reply(&mut message, &data(1024), Vec::new(), 1024).received.expect("data");
        assert_eq!((buffer.as_ptr(), count), (memory, 1024));
    }

    #[test]
    fn a_buffer_that_is_larger_is_kept() {
        let mut message = Message::default();
        reply(&mut message, &data(1024), Vec::new(), 1024);
        let buffer = Vec::with_capacity(1 << 16);
        let memory = buffer.as_ptr();
        let (buffer, _) = reply(&mut message, &data(1024), buffer, 1024).received.expect("data");
        assert_eq!(buffer.as_ptr(), memory);
    }

    #[test]
    fn data_that_is_more_than_asked_for_or_cut_is_a_problem() {
        let mut message = Message::default();
        reply(&mut message, &data(1024), Vec::new(), 1024);
        let (long, cut) = (data(1024), &data(1024)[..1000]);
        assert!(reply(&mut message, &long, Vec::new(), 1020).problem.is_some());
        assert!(reply(&mut message, cut, Vec::new(), 1024).problem.is_some());
    }
}
