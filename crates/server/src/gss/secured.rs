//! A call that came through a context: what its answer needs, and where its arguments are.

use std::ops::Range;
use std::sync::Arc;

use howdah_gss::{SequenceRefusal, WRAP_HEAD};
use howdah_rpc::server::{BufferPool, Record};
use howdah_wire::rpc::{AuthFlavor, GssService, SealedBody, SignedBody};
use howdah_wire::xdr::{Decode, Decoder};

use super::context::ClientContext;

/// Where the flavor of the credential stands in a call: behind xid, type, version of RPC, program, version, procedure.
const FLAVOR_AT: usize = 24;

/// Whether a message is a call by a context, or for one. A message that is no call may look so.
#[inline]
pub fn is_secured(message: &[u8]) -> bool {
    message.get(FLAVOR_AT..FLAVOR_AT + 4) == Some(&AuthFlavor::GSS.0.to_be_bytes())
}

/// A call whose header its context has signed.
#[derive(Debug, Clone)]
pub struct SecuredCall {
    context: Arc<ClientContext>,
    sequence: u32,
    service: GssService,
    /// Where its arguments begin in the message, and where they end once they were checked.
    arguments: Range<usize>,
}

/// The arguments are not what the context has signed or encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DamagedBody;

impl SecuredCall {
    /// A call of this number, whose arguments begin there and are protected so.
    pub fn new(context: Arc<ClientContext>, sequence: u32, service: GssService, begin: usize) -> Self {
        Self { context, sequence, service, arguments: begin..usize::MAX }
    }

    /// Its context.
    pub fn context(&self) -> &ClientContext {
        &self.context
    }

    /// Its number in the context, which the verifier of the answer is about.
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// How its arguments are protected, and so its results.
    pub fn service(&self) -> GssService {
        self.service
    }

    /// Lets a decoder that stands behind the header of the message see the arguments, and nothing else. They may be cut.
    pub fn find_arguments(&self, decoder: &mut Decoder<'_>) {
        let (start, end) = (self.arguments.start, self.arguments.end);
        let skipped = start.saturating_sub(decoder.position()).min(decoder.rest().len());
        decoder.bytes(skipped, "protection").expect("so many are there");
        decoder.cut((end - start).min(decoder.rest().len()));
    }

    /// Whether all arguments must be in memory, and all results.
    pub fn protects_bodies(&self) -> bool {
        self.service != GssService::None
    }

    /// Takes its number. Only once, and only when its header was checked.
    ///
    /// # Errors
    /// It came before, or too late, or the context has no numbers left.
    pub fn take(&self) -> Result<(), SequenceRefusal> {
        self.context.window().take(self.sequence)
    }

    /// Checks the arguments, and finds where they are. If they were encrypted, the message in clear is given back in its place, in a
    /// buffer of these.
    ///
    /// # Errors
    /// They are damaged.
    pub fn open(&mut self, message: &[u8], buffers: &mut BufferPool) -> Result<Option<Record>, DamagedBody> {
        let begin = self.arguments.start;
        let arguments = message.get(begin..).ok_or(DamagedBody)?;
        match self.service {
            GssService::None => {
                self.arguments.end = message.len();
                Ok(None)
            }
            GssService::Integrity => {
                let mut decoder = Decoder::new(arguments);
                let body = SignedBody::decode(&mut decoder).map_err(|_| DamagedBody)?;
                self.context.keys().verify(&[body.signed], body.mic).map_err(|_| DamagedBody)?;
                let (sequence, inner) = body.parts().map_err(|_| DamagedBody)?;
                self.check_inner(sequence, decoder.rest().is_empty())?;
                // Behind the length of what is signed, and the number.
                self.arguments = begin + 8..begin + 8 + inner.len();
                Ok(None)
            }
            GssService::Privacy => {
                let sealed = SealedBody::find(arguments).map_err(|_| DamagedBody)?;
                // Calls of others lie in the same memory, so it is not decrypted where it is.
                let token = &arguments[sealed.token];
                let mut buffer = buffers.take(begin + token.len());
                let clear =
                    Arc::get_mut(&mut buffer).and_then(|its| its.bytes_mut().get_mut(..begin + token.len()));
                let clear = clear.ok_or(DamagedBody)?;
                clear[..begin].copy_from_slice(&message[..begin]);
                clear[begin..].copy_from_slice(token);
                let opened = self.context.keys().unwrap(&mut clear[begin..]).map_err(|_| DamagedBody)?;
                let (sequence, inner) = SealedBody::parts(opened).map_err(|_| DamagedBody)?;
                let length = inner.len();
                self.check_inner(sequence, true)?;
                let inner_at = begin + WRAP_HEAD + 4;
                self.arguments = inner_at..inner_at + length;
                Ok(Some(Record::new(buffer, 0..inner_at + length)))
            }
        }
    }

    fn check_inner(&self, sequence: u32, is_whole: bool) -> Result<(), DamagedBody> {
        if sequence == self.sequence && is_whole { Ok(()) } else { Err(DamagedBody) }
    }
}
