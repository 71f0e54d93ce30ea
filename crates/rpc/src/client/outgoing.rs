//! One call as the bytes of a record: encoded once, and sent again as it is.

use std::io::IoSlice;

use howdah_wire::rpc::{CallHeader, RecordMark};
use howdah_wire::xdr::{Encode, Encoder, padding};

/// Zeros to pad with.
const ZEROS: [u8; 3] = [0; 3];
/// Room for a header with AUTH_SYS credentials and the arguments of most procedures, in bytes.
const USUAL: usize = 256;

/// What a call carries after its arguments.
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
pub enum Next<'a, P> {
    /// These, by one vectored send.
    Pieces {
        /// What lies in memory.
        pieces: [IoSlice<'a>; 3],
        /// Whether a payload follows at once that does not.
        more: bool,
    },
    /// The payload from here on, which does not lie in memory.
    Payload(&'a P, usize),
}

/// A call, ready to be sent. `P` is whatever holds the payload.
#[derive(Debug)]
pub struct Outgoing<P> {
    /// Record mark, header, arguments.
    head: Vec<u8>,
    payload: Option<P>,
}

impl<P: Payload> Outgoing<P> {
    /// Encodes a call. The payload follows the arguments and is padded; it is not copied.
    pub fn new(header: &CallHeader<'_>, arguments: &dyn Encode, payload: Option<P>) -> Self {
        let mut head = Vec::with_capacity(USUAL);
        head.extend_from_slice(&[0; RecordMark::SIZE]);
        let mut encoder = Encoder::new(&mut head);
        header.encode(&mut encoder);
        arguments.encode(&mut encoder);
        let data = payload.as_ref().map_or(0, P::length);
        let length = head.len() - RecordMark::SIZE + data + padding(data);
        let length = u32::try_from(length).expect("messages are far below 4 GiB");
        head[..RecordMark::SIZE].copy_from_slice(&RecordMark { length, last: true }.to_bytes());
        Self { head, payload }
    }

    /// Bytes in all, the record mark among them.
    pub fn length(&self) -> usize {
        let data = self.payload.as_ref().map_or(0, P::length);
        self.head.len() + data + padding(data)
    }

    /// The message without its record mark, and its payload, which must lie in memory: for a datagram, which ends where the
    /// message does.
    pub fn message(&self) -> [&[u8]; 3] {
        let data = self.payload.as_ref().map_or(Some(&[][..]), P::bytes).expect("a payload in memory");
        [&self.head[RecordMark::SIZE..], data, &ZEROS[..padding(data.len())]]
    }

    /// What to send after `sent` bytes.
    pub fn next(&self, sent: usize) -> Next<'_, P> {
        let length = self.payload.as_ref().map_or(0, P::length);
        let padding = &ZEROS[..padding(length)];
        let Some(data) = self.payload.as_ref().map_or(Some(&[][..]), P::bytes) else {
            return self.next_elsewhere(sent, length, padding);
        };
        Next::Pieces { pieces: rest([&self.head, data, padding], sent), more: false }
    }

    /// The same with a payload of this length that does not lie in memory.
    fn next_elsewhere<'a>(&'a self, sent: usize, length: usize, padding: &'a [u8]) -> Next<'a, P> {
        match (&self.payload, sent.checked_sub(self.head.len())) {
            (Some(payload), Some(sent)) if sent < length => Next::Payload(payload, sent),
            (_, Some(sent)) => Next::Pieces { pieces: rest([padding, &[], &[]], sent - length), more: false },
            (_, None) => Next::Pieces { pieces: rest([&self.head, &[], &[]], sent), more: length > 0 },
        }
    }
}

/// What is left of these pieces after their first bytes.
fn rest(pieces: [&[u8]; 3], mut skip: usize) -> [IoSlice<'_>; 3] {
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

    #[test]
    fn a_call_is_one_record_whose_pieces_can_be_sent_from_anywhere() {
        let header =
            CallHeader { xid: 7, program: 100_003, version: 3, procedure: 7, credentials: Credentials::None };
        let call = Outgoing::new(&header, &Word(5), Some(b"howdy"));
        let whole = sent_from(&call, 0);
        assert_eq!(whole.len(), call.length());
        let mark = RecordMark::from_bytes([whole[0], whole[1], whole[2], whole[3]]);
        assert_eq!(mark, RecordMark { length: whole.len() as u32 - 4, last: true });
        let Call::Call(read, rest) = Call::parse(&whole[4..]) else { panic!("not a call") };
        assert_eq!(read, header);
        assert_eq!(rest.rest(), b"\0\0\0\x05howdy\0\0\0");
        assert_eq!(call.message().concat(), whole[4..]);
        for sent in 0..=whole.len() {
            assert_eq!(sent_from(&call, sent), whole[sent..], "after {sent} bytes");
        }
    }

    #[test]
    fn a_payload_that_is_elsewhere_goes_between_the_head_and_the_padding() {
        let header =
            CallHeader { xid: 7, program: 100_003, version: 3, procedure: 7, credentials: Credentials::None };
        let call = Outgoing::new(&header, &Word(5), Some(Elsewhere(b"howdy")));
        let whole = sent_from(&Outgoing::new(&header, &Word(5), Some(b"howdy")), 0);
        assert_eq!(call.length(), whole.len());
        for start in 0..=whole.len() {
            let mut sent = start;
            let mut all = Vec::new();
            while sent < whole.len() {
                match call.next(sent) {
                    Next::Pieces { pieces, more } => {
                        let piece: Vec<u8> = pieces.iter().flat_map(|piece| piece.to_vec()).collect();
                        assert_eq!(more, sent + piece.len() < whole.len(), "at {sent}");
                        assert!(!piece.is_empty(), "at {sent}");
                        all.extend_from_slice(&piece);
                    }
                    // One byte at a time.
                    Next::Payload(payload, skip) => all.push(payload.0[skip]),
                }
                sent = start + all.len();
            }
            assert_eq!(all, whole[start..], "after {start} bytes");
        }
    }

    /// All that is left to send, which lies in memory.
    fn sent_from<P: Payload>(call: &Outgoing<P>, sent: usize) -> Vec<u8> {
        let Next::Pieces { pieces, more: false } = call.next(sent) else { panic!("not in memory") };
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
