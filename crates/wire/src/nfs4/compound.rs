//! COMPOUND (RFC 8881 16.2): what stands before the operations of a call, and before their results in a reply.

use super::Status;
use crate::limits::TAG_MAX;
use crate::message::message;
use crate::xdr::{Decode, DecodeError, Decoder, Encode, Encoder, padding};

/// The most operations of a compound that a server carries out: it answers NFS4ERR_TOO_MANY_OPS (in a session) or
/// NFS4ERR_RESOURCE to more. Linux sends up to 8, macOS 20.
pub const OPERATIONS_MAX: u32 = 64;

/// Arguments of COMPOUND up to its first operation (`COMPOUND4args`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head<'a> {
    /// A text of the client's, which the reply repeats.
    pub tag: &'a [u8],
    /// The minor version, which all of its operations are of.
    pub minor_version: u32,
    /// How many operations follow, as the client claims. Each is its number (`u32`) and its arguments.
    pub operations: u32,
}

/// Result of COMPOUND up to the first operation's (`COMPOUND4res`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyHead<'a> {
    /// That of the last operation carried out.
    pub status: Status,
    /// That of the call.
    pub tag: &'a [u8],
    /// How many results follow.
    pub results: u32,
}

message! {
    /// What each result starts with (`nfs_resop4`).
    pub struct ResultHead {
        /// The operation.
        pub operation: u32,
        /// How it ended.
        pub status: Status,
    }
}

/// Where the head of a reply stands that is being written. Positions are those in the encoder's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyPlace {
    status: usize,
    results: usize,
}

/// Where the head of a result stands that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultPlace {
    status: usize,
}

impl ReplyPlace {
    /// Starts a reply: OK, and no results.
    pub fn begin(encoder: &mut Encoder<'_>, tag: &[u8]) -> Self {
        let status = encoder.output().len();
        ReplyHead { status: Status::OK, tag, results: 0 }.encode(encoder);
        Self { status, results: status + 8 + tag.len() + padding(tag.len()) }
    }

    /// Ends it, once all results are written.
    pub fn finish(self, encoder: &mut Encoder<'_>, status: Status, results: u32) {
        let output = encoder.output();
        output[self.status..self.status + 4].copy_from_slice(&status.0.to_be_bytes());
        output[self.results..self.results + 4].copy_from_slice(&results.to_be_bytes());
    }
}

impl ResultPlace {
    /// Starts a result that goes well; its body is to be appended.
    pub fn begin(encoder: &mut Encoder<'_>, operation: u32) -> Self {
        ResultHead { operation, status: Status::OK }.encode(encoder);
        Self { status: encoder.output().len() - 4 }
    }

    /// Makes it a refusal, and takes back what was appended of a body. What a refusal holds may be appended then.
    pub fn refuse(self, encoder: &mut Encoder<'_>, status: Status) {
        encoder.output().truncate(self.status);
        status.encode(encoder);
    }

    /// Where its body starts.
    pub fn body(self) -> usize {
        self.status + 4
    }
}

impl<'a> Decode<'a> for Head<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            tag: decoder.opaque(TAG_MAX, "tag")?,
            minor_version: decoder.u32("minor version")?,
            operations: decoder.u32("number of operations")?,
        })
    }
}

impl Encode for Head<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        encoder.opaque(self.tag);
        encoder.u32(self.minor_version);
        encoder.u32(self.operations);
    }
}

impl<'a> Decode<'a> for ReplyHead<'a> {
    fn decode(decoder: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self {
            status: Status::decode(decoder)?,
            tag: decoder.opaque(TAG_MAX, "tag")?,
            results: decoder.u32("number of results")?,
        })
    }
}

impl Encode for ReplyHead<'_> {
    fn encode(&self, encoder: &mut Encoder<'_>) {
        self.status.encode(encoder);
        encoder.opaque(self.tag);
        encoder.u32(self.results);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_written_in_place() {
        let mut output = b"before: ".to_vec();
        let mut encoder = Encoder::new(&mut output);
        let reply = ReplyPlace::begin(&mut encoder, b"mount");
        ResultPlace::begin(&mut encoder, 24);
        let result = ResultPlace::begin(&mut encoder, 15);
        encoder.u64(7);
        assert_eq!(encoder.output().len(), result.body() + 8);
        result.refuse(&mut encoder, Status::NOENT);
        reply.finish(&mut encoder, Status::NOENT, 2);
        let mut decoder = Decoder::new(&output[8..]);
        let head = ReplyHead { status: Status::NOENT, tag: b"mount", results: 2 };
        assert_eq!(ReplyHead::decode(&mut decoder), Ok(head));
        let results = [0; 2].map(|_| ResultHead::decode(&mut decoder).expect("a result"));
        assert_eq!(
            results.map(|result| (result.operation, result.status)),
            [(24, Status::OK), (15, Status::NOENT)]
        );
        assert_eq!(decoder.finish("reply"), Ok(()));
    }
}
