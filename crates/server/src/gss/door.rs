//! What each call by a context meets first, in the order of RFC 2203 5.3.3: context, signature, number. Then the arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use howdah_gss::{SequenceRefusal, WINDOW};
use howdah_rpc::server::{BufferPool, Record};
use howdah_wire::rpc::{
    Accepted, AuthStatus, Call, CallHeader, Credentials, Denied, GssCredential, GssInit, GssInitResult,
    GssProcedure, ReplyHeader, SignedCall,
};
use howdah_wire::xdr::{Decode, Decoder};
use rustix::rand::{GetRandomFlags, getrandom};

use super::acceptor::{TokenAcceptor, TokenRefusal};
use super::context::ClientContext;
use super::contexts::{ContextHandle, ContextTable};
use super::figures::{GssEvent, GssFigures, GssReport};
use super::refusals::{ContextRefusal, ContextRefusals};
use super::secured::SecuredCall;
use crate::exports::PrincipalMap;
use crate::seldom::Seldom;
use crate::{Peer, Reply};

/// `GSS_S_FAILURE` (RFC 2743 1.2.1.1).
const FAILURE: u32 = 13 << 16;
/// How often contexts whose ticket has ended are removed, at most: in seconds.
const SWEEP_INTERVAL: u64 = 60;

/// What a message turned out to be.
#[derive(Debug)]
pub enum Checked {
    /// A call whose header is signed, and whose number was not seen before. Its arguments are not checked yet.
    Call(SecuredCall),
    /// The end of a context, which is gone now: answered like a call without result.
    Ended(SecuredCall, ReplyHeader),
    /// The first token of a context, and nothing else.
    Begin,
    /// It is refused.
    Refused(ReplyHeader),
    /// It came before, or too late. There is no answer to that, and the client would wait for ever: the connection ends.
    Repeated,
    /// It only looked like a call by a context.
    Other,
}

/// The contexts of a server, and who makes them.
pub struct GssDoor {
    contexts: ContextTable,
    acceptor: Box<dyn TokenAcceptor>,
    figures: GssFigures,
    refusals: ContextRefusals,
    /// When contexts whose ticket has ended were removed last, in seconds since 1970.
    last_sweep: AtomicU64,
    /// Of refusals.
    seldom: Seldom,
    /// Of contexts that were made.
    news: Seldom,
}

impl GssDoor {
    /// No context yet; this makes them.
    pub fn new(acceptor: Box<dyn TokenAcceptor>) -> Self {
        Self {
            contexts: ContextTable::default(),
            acceptor,
            figures: GssFigures::default(),
            refusals: ContextRefusals::default(),
            last_sweep: AtomicU64::default(),
            seldom: Seldom::default(),
            news: Seldom::default(),
        }
    }

    /// How many threads may establish contexts at the same time.
    pub fn width(&self) -> usize {
        self.acceptor.width()
    }

    /// How many contexts there are.
    pub fn contexts(&self) -> usize {
        self.contexts.count()
    }

    /// What was counted.
    pub fn report(&self) -> GssReport {
        self.figures.report()
    }

    /// The last contexts that were refused.
    pub fn refusals(&self) -> Vec<ContextRefusal> {
        self.refusals.all()
    }

    /// Checks the header of a message, and takes its number.
    pub fn check(&self, message: &[u8]) -> Checked {
        let Call::Call(header, arguments) = Call::parse(message) else { return Checked::Other };
        let credential = match header.credentials {
            Credentials::Gss(credential) => credential,
            Credentials::Malformed(_) => return denied(&header, AuthStatus::BadCredentials),
            _ => return Checked::Other,
        };
        let is_end = match credential.procedure {
            GssProcedure::Data => false,
            // What makes or ends contexts is a NULL call (RFC 2203 5.2.2).
            _ if header.procedure != 0 => return denied(&header, AuthStatus::BadCredentials),
            GssProcedure::Init => return begin(&header, arguments),
            // Kerberos needs one token, so there is nothing to continue.
            GssProcedure::ContinueInit => return denied(&header, AuthStatus::NoContext),
            GssProcedure::Destroy => true,
        };
        let Some(secured) = self.verify(message, &credential, &arguments) else {
            return denied(&header, AuthStatus::NoContext);
        };
        match secured.take() {
            Ok(()) => {}
            Err(SequenceRefusal::Exhausted) => return denied(&header, AuthStatus::ContextEnded),
            Err(SequenceRefusal::Seen | SequenceRefusal::Old) => {
                self.figures.count(GssEvent::Repeated);
                return Checked::Repeated;
            }
        }
        if is_end {
            self.contexts.remove(credential.handle);
            return Checked::Ended(secured, accepted(&header, Accepted::Success));
        }
        Checked::Call(secured)
    }

    /// The call of a message that may be cut behind its header, if its context has signed the header. Its number is not taken.
    pub fn verify_header(&self, message: &[u8]) -> Option<SecuredCall> {
        let Call::Call(header, arguments) = Call::parse(message) else { return None };
        match header.credentials {
            Credentials::Gss(credential) if credential.procedure == GssProcedure::Data => {
                self.verify(message, &credential, &arguments)
            }
            _ => None,
        }
    }

    fn verify(
        &self,
        message: &[u8],
        credential: &GssCredential<'_>,
        arguments: &Decoder<'_>,
    ) -> Option<SecuredCall> {
        let now = now();
        let found = self.contexts.find(credential.handle).filter(|context| !context.has_ended(now));
        let Some(context) = found else {
            self.figures.count(GssEvent::Unknown);
            return None;
        };
        let call = SignedCall::of(message).ok()?;
        if context.keys().verify(&[call.signed], call.mic).is_err() {
            self.figures.count(GssEvent::Forged);
            return None;
        }
        context.touch(now);
        Some(SecuredCall::new(context, credential.sequence, credential.service, arguments.position()))
    }

    /// Checks the arguments of a call. If they were encrypted, the message in clear is given back in its place, in a buffer of these.
    ///
    /// # Errors
    /// They are damaged: this is the answer.
    pub fn open(
        &self,
        secured: &mut SecuredCall,
        message: &[u8],
        buffers: &mut BufferPool,
    ) -> Result<Option<Record>, ReplyHeader> {
        secured.open(message, buffers).map_err(|_| {
            self.figures.count(GssEvent::Damaged);
            let xid = message.first_chunk().copied().map_or(0, u32::from_be_bytes);
            ReplyHeader { xid, outcome: Ok(Accepted::GarbageArguments) }
        })
    }

    /// Answers a call by a context without a result of its procedure, or with an empty one: signed, and not protected otherwise.
    pub fn answer_bare(secured: &SecuredCall, header: &ReplyHeader, reply: &mut Reply) {
        let mic = secured.context().keys().sign(&[&secured.sequence().to_be_bytes()]);
        reply.start_signed(header, mic.bytes());
    }

    /// Makes a context of the token in a message, of a principal that is mapped so, and answers. May wait for the helper and what it
    /// asks.
    pub fn establish(&self, message: &[u8], peer: &Peer, map: &PrincipalMap, reply: &mut Reply) {
        let Call::Call(header, mut arguments) = Call::parse(message) else { return };
        let Ok(GssInit { token }) = GssInit::decode(&mut arguments) else {
            return reply.start(&ReplyHeader { xid: header.xid, outcome: Ok(Accepted::GarbageArguments) });
        };
        match self.accept(token, peer, map) {
            Ok((handle, context, token)) => {
                let mic = context.keys().sign(&[&WINDOW.to_be_bytes()]);
                reply.start_signed(
                    &ReplyHeader { xid: header.xid, outcome: Ok(Accepted::Success) },
                    mic.bytes(),
                );
                let (major, minor) = (0, 0);
                reply.write(&GssInitResult { handle: &handle, major, minor, window: WINDOW, token: &token });
            }
            Err(TokenRefusal { major, minor, why }) => {
                self.figures.count(GssEvent::Refused);
                self.refuse(peer, why);
                answer_refusal(header.xid, (major, minor), reply);
            }
        }
    }

    /// Answers a token that is not looked at, since too many wait.
    pub fn refuse_busy(&self, message: &[u8], peer: &Peer, reply: &mut Reply) {
        self.figures.count(GssEvent::Busy);
        self.refuse(
            peer,
            "too many Kerberos contexts are asked for by this client at the same time".to_owned(),
        );
        let xid = message.first_chunk().copied().map_or(0, u32::from_be_bytes);
        answer_refusal(xid, (FAILURE, 0), reply);
    }

    fn accept(
        &self,
        token: &[u8],
        peer: &Peer,
        map: &PrincipalMap,
    ) -> Result<(ContextHandle, Arc<ClientContext>, Vec<u8>), TokenRefusal> {
        let accepted = self.acceptor.accept(token)?;
        let (now, maker) = (now(), peer.ends.client.ip());
        let service_realm = accepted.service.rsplit_once('@').map_or("", |(_, realm)| realm);
        let principal = map.map(&accepted.client, service_realm);
        let context = Arc::new(ClientContext::new(&accepted, principal, maker, now));
        if context.has_ended(now) {
            let why = format!("the ticket of {} has ended; its user must run kinit", accepted.client);
            return Err(TokenRefusal { major: FAILURE, minor: 0, why });
        }
        let mut handle = ContextHandle::default();
        getrandom(&mut handle, GetRandomFlags::empty()).map_err(|_| TokenRefusal {
            major: FAILURE,
            minor: 0,
            why: "the system has no random numbers".to_owned(),
        })?;
        if self.last_sweep.load(Ordering::Relaxed) + SWEEP_INTERVAL <= now {
            self.last_sweep.store(now, Ordering::Relaxed);
            self.contexts.sweep(now);
        }
        self.contexts.add(handle, Arc::clone(&context), now);
        self.figures.count(GssEvent::Established);
        if let Some(others) = self.news.log(Instant::now()) {
            let (client, enctype) = (peer.ends.client, context.keys().enctype());
            let (principal, is) = (context.principal().name(), context.principal().kind());
            tracing::info!(%client, %principal, %is, %enctype, others, "Kerberos context established");
        }
        Ok((handle, context, accepted.reply))
    }

    /// A context was refused: says so, but not for each one.
    fn refuse(&self, peer: &Peer, why: String) {
        if let Some(others) = self.seldom.log(Instant::now()) {
            tracing::warn!(client = %peer.ends.client, others, "Kerberos context refused: {why}");
        }
        self.refusals.add(peer.ends.client.ip(), why);
    }
}

/// A message without a token, with too long a one, or with more behind it, is refused before it takes room in the line of those that wait.
fn begin(header: &CallHeader<'_>, mut arguments: Decoder<'_>) -> Checked {
    let is_whole = GssInit::decode(&mut arguments).is_ok() && arguments.rest().is_empty();
    match is_whole {
        true => Checked::Begin,
        false => Checked::Refused(accepted(header, Accepted::GarbageArguments)),
    }
}

fn answer_refusal(xid: u32, (major, minor): (u32, u32), reply: &mut Reply) {
    reply.start(&ReplyHeader { xid, outcome: Ok(Accepted::Success) });
    reply.write(&GssInitResult { handle: &[], major, minor, window: 0, token: &[] });
}

fn denied(header: &CallHeader<'_>, status: AuthStatus) -> Checked {
    Checked::Refused(ReplyHeader { xid: header.xid, outcome: Err(Denied::Authentication(status)) })
}

fn accepted(header: &CallHeader<'_>, accepted: Accepted) -> ReplyHeader {
    ReplyHeader { xid: header.xid, outcome: Ok(accepted) }
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
