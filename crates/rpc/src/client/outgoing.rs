//! One call as the bytes of a record: encoded once, and put into an envelope each time that it is sent.

use std::io::IoSlice;

use howdah_wire::rpc::{CallHeader, RecordMark};
use howdah_wire::xdr::{Encode, Encoder, padding};

use super::envelope::{CallProtection, CallTicket, ResultsCover, TicketStamp, Unprotected};

/// Zeros to pad with.
const ZEROS: [u8; 3] = [0; 3];
/// Room for a header with AUTH_SYS credentials and the arguments of most procedures, in bytes.
const USUAL: usize = 256;

/// Bulk data among the arguments of a call.
pub trait Payload {
    /// Its length in bytes.
    fn length(&self) -> usize;

    /// Its bytes, if they lie in memory.
    fn bytes(&self) -> Option<&[u8]>;
}

impl<T: AsRef<[u8]>> Payload for T {
    fn length(&self) -> usize {
        self.as_ref().len()
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self.as_ref())
    }
}

/// What of a call goes next.
#[derive(Debug)]
pub enum NextOutgoing<'a, P> {
    /// These, by one vectored send.
    Pieces {
        /// What lies in memory.
        pieces: [IoSlice<'a>; 4],
        /// Whether a payload follows at once that does not.
        more: bool,
    },
    /// The payload from here on, which does not lie in memory.
    Payload(&'a P, usize),
}

/// A call, ready to be put into an envelope. `P` is whatever holds the payload.
#[derive(Debug)]
pub struct Outgoing<P> {
    xid: u32,
    /// Record mark, header, arguments.
    head: Vec<u8>,
    /// Where the arguments begin in it.
    arguments_at: usize,
    payload: Option<P>,
    /// The arguments behind the payload.
    tail: Vec<u8>,
}

/// Where the bytes of an envelope are made that are not those of the call itself. It may be used for one call after the other.
#[derive(Debug, Default)]
pub struct SealBuffer {
    stamped: Vec<u8>,
    before: Vec<u8>,
    after: Vec<u8>,
}

/// A call as it is sent.
#[derive(Debug)]
pub struct CallEnvelope<'e, P> {
    before: &'e [u8],
    payload: Option<&'e P>,
    after: &'e [u8],
}

impl<P: Payload> Outgoing<P> {
    /// Encodes a call. The payload follows the arguments and is padded, and the tail follows that; the payload is not copied.
    pub fn new(
        header: &CallHeader<'_>,
        arguments: &dyn Encode,
        payload: Option<P>,
        tail: Option<&dyn Encode>,
    ) -> Self {
        let mut head = Vec::with_capacity(USUAL);
        head.extend_from_slice(&[0; RecordMark::SIZE]);
        header.encode(&mut Encoder::new(&mut head));
        let arguments_at = head.len();
        arguments.encode(&mut Encoder::new(&mut head));
        let tail = tail.map_or_else(Vec::new, |tail| {
            let mut bytes = Vec::new();
            tail.encode(&mut Encoder::new(&mut bytes));
            bytes
        });
        let mut outgoing = Self { xid: header.xid, head, arguments_at, payload, tail };
        let mark = mark_of(outgoing.plain().length());
        outgoing.head[..RecordMark::SIZE].copy_from_slice(&mark);
        outgoing
    }

    /// The call as it is sent now: with its ticket, which `stamp` writes, and protected. Sent again it differs as far as its protection
    /// says. A call whose arguments are protected must have its payload in memory.
    pub fn seal<'e>(
        &'e self,
        ticket: Option<(CallTicket, TicketStamp)>,
        protection: Option<&dyn CallProtection>,
        desk: &'e mut SealBuffer,
    ) -> CallEnvelope<'e, P> {
        if ticket.is_none() && protection.is_none() {
            return self.plain();
        }
        let SealBuffer { stamped, before, after } = desk;
        stamped.clear();
        stamped.extend_from_slice(&self.head);
        if let Some((ticket, stamp)) = ticket {
            (stamp.write)(&ticket, &mut stamped[self.arguments_at..]);
        }
        let Some(protection) = protection else {
            return CallEnvelope { before: stamped, payload: self.payload.as_ref(), after: &self.tail };
        };
        before.clear();
        after.clear();
        before.extend_from_slice(&[0; RecordMark::SIZE]);
        let call = Unprotected {
            xid: self.xid,
            header: &stamped[RecordMark::SIZE..self.arguments_at],
            arguments: &stamped[self.arguments_at..],
            payload: if protection.cover() == ResultsCover::Header {
                &[]
            } else {
                in_memory(self.payload.as_ref())
            },
            tail: &self.tail,
        };
        protection.protect(&call, before, after);
        // What was sealed is among the bytes before.
        let payload = self.payload.as_ref().filter(|_| protection.cover() != ResultsCover::Sealed);
        let length = CallEnvelope { before, payload, after }.length();
        before[..RecordMark::SIZE].copy_from_slice(&mark_of(length));
        CallEnvelope { before, payload, after }
    }

    /// Bytes in all, the record mark among them, without what protects it.
    pub fn length(&self) -> usize {
        self.plain().length()
    }

    fn plain(&self) -> CallEnvelope<'_, P> {
        CallEnvelope { before: &self.head, payload: self.payload.as_ref(), after: &self.tail }
    }
}

impl<'e, P: Payload> CallEnvelope<'e, P> {
    /// Bytes in all, the record mark among them.
    pub fn length(&self) -> usize {
        let data = self.payload.map_or(0, P::length);
        self.before.len() + data + padding(data) + self.after.len()
    }

    /// The message without its record mark, and its payload, which must lie in memory: for a datagram, which ends where the
    /// message does.
    pub fn message(&self) -> [&'e [u8]; 4] {
        let data = in_memory(self.payload);
        [&self.before[RecordMark::SIZE..], data, &ZEROS[..padding(data.len())], self.after]
    }

    /// What to send after `sent` bytes.
    pub fn next(&self, sent: usize) -> NextOutgoing<'e, P> {
        let length = self.payload.map_or(0, P::length);
        let padding = &ZEROS[..padding(length)];
        let Some(data) = self.payload.map_or(Some(&[][..]), P::bytes) else {
            return self.next_elsewhere(sent, length, padding);
        };
        NextOutgoing::Pieces { pieces: rest([self.before, data, padding, self.after], sent), more: false }
    }

    /// The same with a payload of this length that does not lie in memory.
    fn next_elsewhere(&self, sent: usize, length: usize, padding: &'e [u8]) -> NextOutgoing<'e, P> {
        match (self.payload, sent.checked_sub(self.before.len())) {
            (Some(payload), Some(sent)) if sent < length => NextOutgoing::Payload(payload, sent),
            (_, Some(sent)) => NextOutgoing::Pieces {
                pieces: rest([padding, self.after, &[], &[]], sent - length),
                more: false,
            },
            (_, None) => {
                NextOutgoing::Pieces { pieces: rest([self.before, &[], &[], &[]], sent), more: length > 0 }
            }
        }
    }
}

fn in_memory<P: Payload>(payload: Option<&P>) -> &[u8] {
    payload.map_or(Some(&[][..]), P::bytes).expect("a payload in memory")
}

/// The mark of a record of so many bytes, its own among them.
fn mark_of(length: usize) -> [u8; RecordMark::SIZE] {
    let length = u32::try_from(length - RecordMark::SIZE).expect("messages are far below 4 GiB");
    RecordMark { length, last: true }.to_bytes()
}

/// What is left of these pieces after their first bytes.
fn rest(pieces: [&[u8]; 4], mut skip: usize) -> [IoSlice<'_>; 4] {
    pieces.map(|piece| {
        let skipped = skip.min(piece.len());
        skip -= skipped;
        IoSlice::new(&piece[skipped..])
    })
}

#[cfg(test)]
mod tests {
    use howdah_wire::rpc::{Call, Credentials};

    use super::*;
    use crate::client::envelope::TicketNeed;

    const HEADER: CallHeader<'_> =
        CallHeader { xid: 7, program: 100_003, version: 3, procedure: 7, credentials: Credentials::None };

    #[test]
    fn a_call_is_one_record_whose_pieces_can_be_sent_from_anywhere() {
        let call = Outgoing::new(&HEADER, &Word(5), Some(b"howdy"), Some(&Word(6)));
        let call = call.plain();
        let whole = sent_from(&call, 0);
        assert_eq!(whole.len(), call.length());
        let mark = RecordMark::from_bytes([whole[0], whole[1], whole[2], whole[3]]);
        assert_eq!(mark, RecordMark { length: whole.len() as u32 - 4, last: true });
        let Call::Call(read, rest) = Call::parse(&whole[4..]) else { panic!("not a call") };
        assert_eq!(read, HEADER);
        assert_eq!(rest.rest(), b"\0\0\0\x05howdy\0\0\0\0\0\0\x06");
        assert_eq!(call.message().concat(), whole[4..]);
        for sent in 0..=whole.len() {
            assert_eq!(sent_from(&call, sent), whole[sent..], "after {sent} bytes");
        }
    }

    #[test]
    fn a_payload_that_is_elsewhere_goes_between_the_head_and_the_tail() {
        let call = Outgoing::new(&HEADER, &Word(5), Some(Elsewhere(b"howdy")), Some(&Word(6)));
        let in_memory = Outgoing::new(&HEADER, &Word(5), Some(b"howdy"), Some(&Word(6)));
        let (call, whole) = (call.plain(), sent_from(&in_memory.plain(), 0));
        assert_eq!(call.length(), whole.len());
        for start in 0..=whole.len() {
            let mut sent = start;
            let mut all = Vec::new();
            while sent < whole.len() {
                match call.next(sent) {
                    NextOutgoing::Pieces { pieces, more } => {
                        let piece: Vec<u8> = pieces.iter().flat_map(|piece| piece.to_vec()).collect();
                        assert_eq!(more, sent < call.before.len(), "at {sent}");
                        assert!(!piece.is_empty(), "at {sent}");
                        all.extend_from_slice(&piece);
                    }
                    // One byte at a time.
                    NextOutgoing::Payload(payload, skip) => all.push(payload.0[skip]),
                }
                sent = start + all.len();
            }
            assert_eq!(all, whole[start..], "after {start} bytes");
        }
    }

    /// Turns the header round and counts.
    struct Counting(std::sync::atomic::AtomicU8);

    impl CallProtection for Counting {
        fn protect(&self, call: &Unprotected<'_>, before: &mut Vec<u8>, after: &mut Vec<u8>) {
            before.extend(call.header.iter().rev());
            before.extend_from_slice(call.arguments);
            after.extend_from_slice(call.tail);
            after.push(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
            after.push(call.payload.len() as u8);
        }
    }

    #[test]
    fn an_envelope_bears_the_ticket_and_is_protected_at_each_send() {
        let call = Outgoing::new(&HEADER, &Word(0), Some(b"howdy"), Some(&Word(6)));
        let stamp = TicketStamp {
            write: |ticket, arguments| arguments.copy_from_slice(&ticket.number.to_be_bytes()),
            need: TicketNeed::Usual,
        };
        let ticket = Some((CallTicket { session: [0; 16], slot: 1, number: 9, highest_slot: 1 }, stamp));
        let (protection, mut desk) = (Counting(3.into()), SealBuffer::default());
        let stamped = call.seal(ticket, None, &mut desk).message().concat();
        let header = &sent_from(&call.plain(), 4)[..stamped.len() - 16];
        assert_eq!(stamped, [header, b"\0\0\0\x09howdy\0\0\0\0\0\0\x06"].concat());
        for number in 3..5 {
            let sealed = call.seal(ticket, Some(&protection), &mut desk);
            let turned: Vec<u8> = header.iter().rev().copied().collect();
            let rest = [b"\0\0\0\x09howdy\0\0\0\0\0\0\x06", &[number, 5][..]].concat();
            assert_eq!(sealed.message().concat(), [turned, rest].concat());
            assert_eq!(sealed.next(0).pieces_len(), sealed.length());
        }
    }

    impl<P> NextOutgoing<'_, P> {
        fn pieces_len(&self) -> usize {
            let NextOutgoing::Pieces { pieces, .. } = self else { panic!("not in memory") };
            pieces.iter().map(|piece| piece.len()).sum()
        }
    }

    /// All that is left to send, which lies in memory.
    fn sent_from<P: Payload>(call: &CallEnvelope<'_, P>, sent: usize) -> Vec<u8> {
        let NextOutgoing::Pieces { pieces, more: false } = call.next(sent) else { panic!("not in memory") };
        pieces.iter().flat_map(|piece| piece.to_vec()).collect()
    }

    struct Elsewhere(&'static [u8]);

    impl Payload for Elsewhere {
        fn length(&self) -> usize {
            self.0.len()
        }

        fn bytes(&self) -> Option<&[u8]> {
            None
        }
    }

    struct Word(u32);

    impl Encode for Word {
        fn encode(&self, encoder: &mut Encoder<'_>) {
            encoder.u32(self.0);
        }
    }
}
