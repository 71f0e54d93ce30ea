//! A call that a context signs, and its reply.

use std::ops::Range;
use std::sync::Arc;

use howdah_gss::WRAP_HEAD;
use howdah_wire::rpc::{
    AuthStatus, Credentials, GssCredential, GssProcedure, GssService, GssVerifier, INTEGRITY_HEAD,
    SealedBody, SignedBody,
};
use howdah_wire::xdr::{Decoder, Encode, Encoder, padding};
use parking_lot::Mutex;

use super::context::ClientContext;
use crate::channel::{CallProtection, CoveredReply, DeniedCall, ResultsCover, Unprotected};

/// Bytes of a call in front of its credentials: xid, type, version of RPC, program, version, procedure.
const CALL_WORDS: usize = 24;
/// Zeros to pad with.
const ZEROS: [u8; 3] = [0; 3];
/// So many sendings of a call are known: the reply may be to any of them.
const SENDINGS_MAX: usize = 8;

/// A call under way.
#[derive(Debug)]
pub(super) struct ProtectedCall {
    context: Arc<ClientContext>,
    service: GssService,
    sendings: Mutex<Sendings>,
}

/// The numbers of the last sendings.
#[derive(Debug, Default)]
struct Sendings {
    numbers: [u32; SENDINGS_MAX],
    count: usize,
}

impl Sendings {
    fn add(&mut self, number: u32) {
        self.numbers[self.count % SENDINGS_MAX] = number;
        self.count += 1;
    }

    fn all(&self) -> &[u32] {
        &self.numbers[..self.count.min(SENDINGS_MAX)]
    }
}

impl ProtectedCall {
    /// A call that was not sent yet.
    pub(super) fn new(context: Arc<ClientContext>, service: GssService) -> Self {
        Self { context, service, sendings: Mutex::default() }
    }

    /// Appends header and verifier.
    fn sign_header(&self, header: &[u8], sequence: u32, before: &mut Vec<u8>) {
        let start = before.len();
        before.extend_from_slice(&header[..CALL_WORDS]);
        let (procedure, handle) = (GssProcedure::Data, &self.context.handle[..]);
        let credential = GssCredential { procedure, sequence, service: self.service, handle };
        Credentials::Gss(credential).encode(&mut Encoder::new(before));
        let mic = self.context.keys.sign(&[&before[start..]]);
        GssVerifier { mic: mic.bytes() }.encode(&mut Encoder::new(before));
    }

    /// The number of the sending that this verifier is for.
    fn answered(&self, mic: &[u8]) -> Option<u32> {
        let sendings = self.sendings.lock();
        let is_signed = |number: &u32| self.context.keys.verify(&[&number.to_be_bytes()], mic).is_ok();
        sendings.all().iter().copied().rev().find(is_signed)
    }

    /// Where the plain results are in signed ones, from which `data` was taken out.
    fn check(&self, results: &[u8], data: Option<(usize, &[u8])>, sequence: u32) -> Option<Range<usize>> {
        let length = word(results, 0)? as usize;
        let (at, data) = data.unwrap_or((INTEGRITY_HEAD, &[]));
        let zeros = &ZEROS[..padding(data.len())];
        let removed = data.len() + zeros.len();
        let end = length.checked_add(4)?.checked_sub(removed)?;
        if word(results, 4)? != sequence || !length.is_multiple_of(4) {
            return None;
        }
        let (front, back) = (results.get(4..at)?, results.get(at..end)?);
        let mut decoder = Decoder::new(results.get(end..)?);
        let mic = decoder.opaque(howdah_wire::limits::CREDENTIALS_MAX, "checksum").ok()?;
        decoder.finish("signed results").ok()?;
        self.context.keys.verify(&[front, data, zeros, back], mic).ok()?;
        Some(INTEGRITY_HEAD..end)
    }

    /// Where the plain results are in encrypted ones, once these are decrypted.
    fn decrypt(&self, results: &mut [u8], sequence: u32) -> Option<Range<usize>> {
        let token = SealedBody::find(results).ok()?.token;
        let start = token.start + WRAP_HEAD;
        let opened = self.context.keys.unwrap(&mut results[token]).ok()?;
        let (number, body) = SealedBody::parts(opened).ok()?;
        let start = start + 4;
        (number == sequence).then_some(start..start + body.len())
    }
}

impl CallProtection for ProtectedCall {
    fn protect(&self, call: &Unprotected<'_>, before: &mut Vec<u8>, after: &mut Vec<u8>) {
        let sequence = self.context.next_sequence();
        self.sendings.lock().add(sequence);
        self.sign_header(call.header, sequence, before);
        let zeros = &ZEROS[..padding(call.payload.len())];
        let length = call.arguments.len() + call.payload.len() + zeros.len() + call.tail.len();
        match self.service {
            GssService::None => {
                before.extend_from_slice(call.arguments);
                after.extend_from_slice(call.tail);
            }
            GssService::Integrity => {
                let head = SignedBody::head(sequence, length);
                let body = [&head[4..], call.arguments, call.payload, zeros, call.tail];
                let mic = self.context.keys.sign(&body);
                before.extend_from_slice(&head);
                before.extend_from_slice(call.arguments);
                after.extend_from_slice(call.tail);
                Encoder::new(after).opaque(mic.bytes());
            }
            GssService::Privacy => {
                let token = WRAP_HEAD + 4 + length + self.context.keys.wrap_tail();
                before.reserve(4 + token + 3);
                before.extend_from_slice(&(token as u32).to_be_bytes());
                let start = before.len();
                before.resize(start + WRAP_HEAD, 0);
                for part in [&sequence.to_be_bytes(), call.arguments, call.payload, zeros, call.tail] {
                    before.extend_from_slice(part);
                }
                before.resize(start + token, 0);
                self.context.keys.wrap(&mut before[start..]);
                before.extend_from_slice(&ZEROS[..padding(token)]);
            }
        }
    }

    fn cover(&self) -> ResultsCover {
        match self.service {
            GssService::None => ResultsCover::Header,
            GssService::Integrity => ResultsCover::Signed,
            GssService::Privacy => ResultsCover::Sealed,
        }
    }

    fn open(&self, reply: CoveredReply<'_>) -> Option<Range<usize>> {
        let sequence = self.answered(reply.mic)?;
        match (reply.results, self.service) {
            (Some(results), GssService::Integrity) => self.check(results, reply.data, sequence),
            (Some(results), GssService::Privacy) => self.decrypt(results, sequence),
            (None, _) | (_, GssService::None) => Some(0..0),
        }
    }

    fn on_denied(&self, status: AuthStatus) -> DeniedCall {
        match status {
            AuthStatus::NoContext
            | AuthStatus::ContextEnded
            | AuthStatus::RejectedCredentials
            | AuthStatus::RejectedVerifier => {
                self.context.refuse();
                DeniedCall::NewKeys
            }
            // The next sending has another number.
            AuthStatus::BadCredentials | AuthStatus::BadVerifier => DeniedCall::NewKeys,
            AuthStatus::TooWeak | AuthStatus::Other(_) => DeniedCall::Over,
        }
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_be_bytes([word[0], word[1], word[2], word[3]]))
}

#[cfg(test)]
mod tests;
