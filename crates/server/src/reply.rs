//! A reply under construction: its bytes in one buffer that goes to the socket as it is, and bulk content between them.

use howdah_vfs::Content;
use howdah_wire::rpc::{Accepted, RecordMark, ReplyHeader};
use howdah_wire::xdr::{Encode, Encoder};

use crate::counts::{Outcome, Ticket};
use crate::segments::{Inserts, Segments};

/// A reply. The buffer starts with room for the record mark, so that a reply on a stream is one piece of memory.
#[derive(Debug, Default)]
pub struct Reply {
    /// Record mark, RPC header, and the result as far as it is not bulk.
    bytes: Vec<u8>,
    /// Payloads of READs that were not appended to the bytes.
    inserts: Inserts,
    /// Where the result of the procedure begins, if it got one.
    result_at: Option<usize>,
    /// How the call ended.
    outcome: Outcome,
    /// Where it is counted when it is sent.
    ticket: Option<Ticket>,
    /// As which operation of its program it is counted.
    operation: Option<u16>,
}

impl Reply {
    /// An empty reply that writes into `buffer`, whose capacity is kept and whose bytes are forgotten.
    pub fn with_buffer(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        buffer.extend_from_slice(&[0; RecordMark::SIZE]);
        Self {
            bytes: buffer,
            inserts: Inserts::default(),
            result_at: None,
            outcome: Outcome::Well,
            ticket: None,
            operation: None,
        }
    }

    /// Drops whatever was written and starts over with this header.
    pub fn start(&mut self, header: &ReplyHeader) {
        self.bytes.truncate(RecordMark::SIZE);
        self.inserts.clear();
        self.write(header);
        self.result_at = (header.outcome == Ok(Accepted::Success)).then_some(self.bytes.len());
    }

    /// Appends a value.
    pub fn write(&mut self, value: &impl Encode) {
        value.encode(&mut Encoder::new(&mut self.bytes));
    }

    /// An encoder that appends.
    pub fn encoder(&mut self) -> Encoder<'_> {
        Encoder::new(&mut self.bytes)
    }

    /// The bytes so far, to patch a count that was not known before, or to let a file system append.
    pub fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Appends content that the transport sends from where it is; more may follow. What a file system appended to the bytes
    /// itself is only padded.
    pub fn insert(&mut self, content: Content) {
        match content {
            Content::Appended(length) => self.encoder().pad(length),
            _ if content.is_empty() => {}
            _ => self.inserts.push(self.bytes.len(), content),
        }
    }

    /// Whether there is content between the bytes.
    pub fn has_content(&self) -> bool {
        self.inserts.length() > 0
    }

    /// Forgets content behind so many bytes.
    pub fn forget_content_from(&mut self, at: usize) {
        self.inserts.forget_from(at);
    }

    /// How the call ended.
    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Says how the call ended.
    pub(crate) fn set_outcome(&mut self, outcome: Outcome) {
        self.outcome = outcome;
    }

    /// Has the call counted as this operation of its program, not as its procedure.
    pub fn count_as(&mut self, operation: u16) {
        self.operation = Some(operation);
    }

    /// As which operation of its program the call is counted.
    pub(crate) fn counted_as(&self) -> Option<u16> {
        self.operation
    }

    /// Where it is counted when it is sent.
    pub(crate) fn ticket(&self) -> Option<Ticket> {
        self.ticket
    }

    /// Says where it is counted when it is sent.
    pub(crate) fn set_ticket(&mut self, ticket: Ticket) {
        self.ticket = Some(ticket);
    }

    /// Length of the message in bytes, without the record mark.
    pub fn message_length(&self) -> usize {
        self.bytes.len() - RecordMark::SIZE + self.inserts.length()
    }

    /// The finished reply, with its record mark set.
    pub fn finish(mut self) -> Segments {
        let length = u32::try_from(self.message_length()).expect("replies are far below 2 GiB");
        self.bytes[..RecordMark::SIZE].copy_from_slice(&RecordMark { length, last: true }.to_bytes());
        Segments::new(self.bytes, self.inserts)
    }

    /// The result so far but for content, if the call gets one of its procedure: what the reply cache keeps.
    pub fn result(&self) -> Option<&[u8]> {
        self.result_at.map(|at| &self.bytes[at..])
    }

    /// The message so far but for content, without the record mark.
    pub fn message(&self) -> &[u8] {
        &self.bytes[RecordMark::SIZE..]
    }
}
