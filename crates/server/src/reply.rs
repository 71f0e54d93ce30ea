//! A reply under construction: its bytes in one buffer that goes to the socket as it is, and bulk content beside it.

use howdah_vfs::Content;
use howdah_wire::rpc::{RecordMark, ReplyHeader};
use howdah_wire::xdr::{Encode, Encoder, padding};

use crate::counts::{Outcome, Ticket};

/// A reply. The buffer starts with room for the record mark, so that a reply on a stream is one piece of memory.
#[derive(Debug, Default)]
pub struct Reply {
    /// Record mark, RPC header, and the result as far as it is not bulk.
    head: Vec<u8>,
    /// What follows the head: the payload of a READ that was not appended to the head.
    content: Option<Content>,
    /// How the call ended.
    outcome: Outcome,
    /// Where it is counted when it is sent.
    ticket: Option<Ticket>,
}

impl Reply {
    /// An empty reply that writes into `buffer`, whose capacity is kept and whose bytes are forgotten.
    pub fn with_buffer(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        buffer.extend_from_slice(&[0; RecordMark::SIZE]);
        Self { head: buffer, content: None, outcome: Outcome::Well, ticket: None }
    }

    /// Drops whatever was written and starts over with this header.
    pub fn start(&mut self, header: &ReplyHeader) {
        self.head.truncate(RecordMark::SIZE);
        self.content = None;
        self.write(header);
    }

    /// Appends a value.
    pub fn write(&mut self, value: &impl Encode) {
        value.encode(&mut Encoder::new(&mut self.head));
    }

    /// An encoder that appends.
    pub fn encoder(&mut self) -> Encoder<'_> {
        Encoder::new(&mut self.head)
    }

    /// The bytes so far, to patch a count that was not known before, or to let a file system append.
    pub fn head_mut(&mut self) -> &mut Vec<u8> {
        &mut self.head
    }

    /// Ends the reply with content that the transport sends after the head. What a file system appended to the head
    /// itself is only padded.
    pub fn end_with(&mut self, content: Content) {
        match content {
            Content::Appended(length) => self.encoder().pad(length),
            _ if content.is_empty() => {}
            _ => self.content = Some(content),
        }
    }

    /// How the call ended.
    pub(crate) fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Says how the call ended.
    pub(crate) fn set_outcome(&mut self, outcome: Outcome) {
        self.outcome = outcome;
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
        let content = self.content.as_ref().map_or(0, Content::len);
        self.head.len() - RecordMark::SIZE + content + padding(content)
    }

    /// The finished reply: the buffer with its record mark set, and the content that follows, which the transport
    /// pads to four bytes.
    pub fn finish(mut self) -> (Vec<u8>, Option<Content>) {
        let length = u32::try_from(self.message_length()).expect("replies are far below 2 GiB");
        self.head[..RecordMark::SIZE].copy_from_slice(&RecordMark { length, last: true }.to_bytes());
        (self.head, self.content)
    }

    /// The message so far, without the record mark: what the reply cache keeps.
    pub fn message(&self) -> &[u8] {
        &self.head[RecordMark::SIZE..]
    }
}
