//! A reply under construction: its bytes in one buffer that goes to the socket as it is, and bulk content between them.

use std::sync::Arc;

use howdah_gss::{MIC_MAX, WRAP_HEAD};
use howdah_vfs::{Content, ReadOutcome};
use howdah_wire::rpc::{
    Accepted, GssService, INTEGRITY_HEAD, REPLY_MIC_AT, RecordMark, ReplyHeader, SignedBody, SignedReply,
};
use howdah_wire::xdr::{Encode, Encoder};

use crate::counts::{Outcome, Ticket};
use crate::gss::SecuredCall;
use crate::segments::{Inserts, RecordSegments};
use crate::spare::LongBuffers;

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
    /// The call that it answers, if that came by a context.
    secured: Option<SecuredCall>,
    /// Where it gets a buffer for data, if it must lie in memory whole.
    long: Option<Arc<LongBuffers>>,
}

/// Bytes in front of a result that is encrypted: length of the token, its head, and the number of the call.
const PRIVACY_HEAD: usize = 4 + WRAP_HEAD + 4;

/// Content of a reply cannot be read, so that it cannot be protected, and must not be sent (RFC 2203 5.3.3.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnprotectedResult;

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
            secured: None,
            long: None,
        }
    }

    /// From now on it answers a call that came so: [`Self::protect`] signs it when it is whole.
    pub fn answer_secured(&mut self, secured: &SecuredCall, long: &Arc<LongBuffers>) {
        self.long = secured.protects_bodies().then(|| Arc::clone(long));
        self.secured = Some(secured.clone());
    }

    /// Reads a range of a file behind the bytes, if a file system gave one.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn copied(&mut self, read: ReadOutcome) -> howdah_vfs::Result<ReadOutcome> {
        if let Content::File(range) = &read.content {
            self.make_room(range.length + 4);
        }
        read.copied(&mut self.bytes)
    }

    /// Moves to a long buffer, if so many bytes need one and it may.
    fn make_room(&mut self, length: usize) {
        let room = self.bytes.len() + length + self.tail();
        let Some(long) = self.long.as_ref().filter(|_| room > self.bytes.capacity()) else { return };
        let mut buffer = long.take(room);
        buffer.extend_from_slice(&self.bytes);
        self.bytes = buffer;
    }

    /// Drops whatever was written and starts over with this header.
    pub fn start(&mut self, header: &ReplyHeader) {
        let Some(secured) = &self.secured else { return self.start_signed(header, &[]) };
        // The signature and what stands around a result come at the end. Only results are protected, no errors (RFC 2203 5.3.3.4).
        let (mic, service) = (secured.context().keys().mic_length(), secured.service());
        self.start_signed(header, &[0; MIC_MAX][..mic]);
        if let Some(at) = &mut self.result_at {
            let head = match service {
                GssService::None => 0,
                GssService::Integrity => INTEGRITY_HEAD,
                GssService::Privacy => PRIVACY_HEAD,
            };
            *at += head;
            self.bytes.resize(*at, 0);
        }
    }

    /// The same with this verifier of RPCSEC_GSS; with none, if it is empty.
    pub fn start_signed(&mut self, header: &ReplyHeader, mic: &[u8]) {
        self.bytes.truncate(RecordMark::SIZE);
        self.inserts.clear();
        self.write(&SignedReply { header: *header, mic });
        self.result_at = (header.outcome == Ok(Accepted::Success)).then_some(self.bytes.len());
    }

    /// Signs the answer to a call that came by a context, and protects the result as that call was. Nothing may be written after it.
    ///
    /// # Errors
    /// Content cannot be read: this must not be sent.
    pub fn protect(&mut self) -> Result<(), UnprotectedResult> {
        let Some(secured) = self.secured.take() else { return Ok(()) };
        let is_denied = self.message().get(8..12) == Some(&[0, 0, 0, 1]);
        if is_denied {
            return Ok(());
        }
        let (keys, sequence) = (secured.context().keys(), secured.sequence().to_be_bytes());
        let mic = keys.sign(&[&sequence]);
        let mic_at = RecordMark::SIZE + REPLY_MIC_AT;
        self.bytes[mic_at..mic_at + mic.bytes().len()].copy_from_slice(mic.bytes());
        let Some(at) = self.result_at.filter(|_| secured.protects_bodies()) else { return Ok(()) };
        if self.has_content() {
            let inserts = std::mem::take(&mut self.inserts);
            let whole = RecordSegments::new(std::mem::take(&mut self.bytes), inserts).in_memory();
            self.bytes = whole.ok_or(UnprotectedResult)?;
        }
        if secured.service() == GssService::Integrity {
            let head = SignedBody::head(secured.sequence(), self.bytes.len() - at);
            self.bytes[at - INTEGRITY_HEAD..at].copy_from_slice(&head);
            let mic = keys.sign(&[&self.bytes[at - 4..]]);
            self.encoder().opaque(mic.bytes());
        } else {
            self.bytes[at - 4..at].copy_from_slice(&sequence);
            self.bytes.resize(self.bytes.len() + keys.wrap_tail(), 0);
            let token = &mut self.bytes[at + 4 - PRIVACY_HEAD..];
            keys.wrap(token);
            let length = token.len();
            let word = u32::try_from(length).expect("replies are far below 2 GiB").to_be_bytes();
            self.bytes[at - PRIVACY_HEAD..][..4].copy_from_slice(&word);
            self.encoder().pad(length);
        }
        Ok(())
    }

    /// What a protected result still grows by.
    fn tail(&self) -> usize {
        let Some((secured, _)) = self.secured.as_ref().zip(self.result_at) else { return 0 };
        let keys = secured.context().keys();
        match secured.service() {
            GssService::None => 0,
            GssService::Integrity => 4 + keys.mic_length(),
            GssService::Privacy => keys.wrap_tail() + 3,
        }
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
        self.bytes.len() - RecordMark::SIZE + self.inserts.length() + self.tail()
    }

    /// Bytes of memory that it holds.
    pub fn memory(&self) -> usize {
        self.bytes.len() + self.inserts.memory()
    }

    /// The finished reply, with its record mark set.
    pub fn finish(mut self) -> RecordSegments {
        let length = u32::try_from(self.message_length()).expect("replies are far below 2 GiB");
        self.bytes[..RecordMark::SIZE].copy_from_slice(&RecordMark { length, last: true }.to_bytes());
        RecordSegments::new(self.bytes, self.inserts)
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
