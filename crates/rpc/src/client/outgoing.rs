//! One call as the bytes of a record: encoded once, and sent again as it is.

use std::io::IoSlice;

use howdah_wire::rpc::{CallHeader, RecordMark};
use howdah_wire::xdr::{Encode, Encoder, padding};

/// Zeros to pad with.
const ZEROS: [u8; 3] = [0; 3];
/// Room for a header with AUTH_SYS credentials and the arguments of most procedures, in bytes.
const USUAL: usize = 256;

/// A call, ready to be sent. `P` is whatever holds the payload.
#[derive(Debug)]
pub struct Outgoing<P> {
    /// Record mark, header, arguments.
    head: Vec<u8>,
    payload: Option<P>,
}

impl<P: AsRef<[u8]>> Outgoing<P> {
    /// Encodes a call. The payload follows the arguments and is padded; it is not copied.
    pub fn new(header: &CallHeader<'_>, arguments: &dyn Encode, payload: Option<P>) -> Self {
        let mut head = Vec::with_capacity(USUAL);
        head.extend_from_slice(&[0; RecordMark::SIZE]);
        let mut encoder = Encoder::new(&mut head);
        header.encode(&mut encoder);
        arguments.encode(&mut encoder);
        let data = payload.as_ref().map_or(0, |payload| payload.as_ref().len());
        let length = head.len() - RecordMark::SIZE + data + padding(data);
        let length = u32::try_from(length).expect("messages are far below 4 GiB");
        head[..RecordMark::SIZE].copy_from_slice(&RecordMark { length, last: true }.to_bytes());
        Self { head, payload }
    }

    /// Bytes in all, the record mark among them.
    pub fn length(&self) -> usize {
        let data = self.data().len();
        self.head.len() + data + padding(data)
    }

    /// The message without its record mark, and its payload: for a datagram, which ends where the message does.
    pub fn message(&self) -> [&[u8]; 3] {
        let data = self.data();
        [&self.head[RecordMark::SIZE..], data, &ZEROS[..padding(data.len())]]
    }

    /// What is left to send after `sent` bytes, for one vectored send.
    pub fn pieces(&self, sent: usize) -> [IoSlice<'_>; 3] {
        let data = self.data();
        let mut skip = sent;
        [&self.head[..], data, &ZEROS[..padding(data.len())]].map(|piece| {
            let skipped = skip.min(piece.len());
            skip -= skipped;
            IoSlice::new(&piece[skipped..])
        })
    }

    fn data(&self) -> &[u8] {
        self.payload.as_ref().map_or(&[], AsRef::as_ref)
    }
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
        let whole: Vec<u8> = call.pieces(0).iter().flat_map(|piece| piece.to_vec()).collect();
        assert_eq!(whole.len(), call.length());
        let mark = RecordMark::from_bytes([whole[0], whole[1], whole[2], whole[3]]);
        assert_eq!(mark, RecordMark { length: whole.len() as u32 - 4, last: true });
        let Call::Call(read, rest) = Call::parse(&whole[4..]) else { panic!("not a call") };
        assert_eq!(read, header);
        assert_eq!(rest.rest(), b"\0\0\0\x05howdy\0\0\0");
        assert_eq!(call.message().concat(), whole[4..]);
        for sent in 0..=whole.len() {
            let rest: Vec<u8> = call.pieces(sent).iter().flat_map(|piece| piece.to_vec()).collect();
            assert_eq!(rest, whole[sent..], "after {sent} bytes");
        }
    }

    struct Word(u32);

    impl Encode for Word {
        fn encode(&self, encoder: &mut Encoder<'_>) {
            encoder.u32(self.0);
        }
    }
}
