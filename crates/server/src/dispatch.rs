//! From the bytes of a call to its reply: finds the procedure, lets it run once, answers every refusal with its status.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_net::Token;
use howdah_wire::nfs3::FileHandle;
use howdah_wire::rpc::{Accepted, AuthStatus, Call, CallHeader, Credentials, Denied, ReplyHeader, TlsProbe};
use howdah_wire::xdr::Decoder;

use crate::call_log::{CallLog, Ended};
use crate::capture::{Recorder, Seen};
use crate::counts::{Clerk, Ledger, Moment, Outcome, Timing};
use crate::gss::{GssDoor, SecuredCall};
use crate::outline::Outline;
use crate::program::{Refusal, Repetition};
use crate::programs::{Programs, Wanted};
use crate::reply_cache::{Asked, Begun, Origin, SharedReplyCache};
use crate::request::BulkData;
use crate::spare::LongBuffers;
use crate::{Peer, Reply, Request, Transport};

/// Where a call came from.
pub struct Whence<'a> {
    /// The two ends.
    pub peer: &'a Peer,
    /// The connection, or the port.
    pub origin: Origin,
    /// Whether another connection ended in order, with every answer acknowledged, though nobody saw it yet.
    pub has_ended: &'a dyn Fn(Token) -> bool,
}

impl<'a> Whence<'a> {
    /// A datagram.
    pub fn datagram(peer: &'a Peer, has_ended: &'a dyn Fn(Token) -> bool) -> Self {
        Self { peer, origin: Origin::datagrams(peer.ends.client.port()), has_ended }
    }
}

/// What to do with a message.
#[allow(clippy::large_enum_variant, reason = "a box would be an allocation for each call")]
pub enum Work<'m> {
    /// It is no call: nobody knows what its sender speaks, and a stream of it is closed.
    NoCall,
    /// It is a reply: perhaps to a call of ours.
    Reply,
    /// Refuse it.
    Refuse(ReplyHeader),
    /// It asks whether TLS may begin, as it should; if not, this is the answer.
    AskTls(ReplyHeader),
    /// Run a procedure.
    Run(DispatchJob<'m>),
}

/// A call whose procedure is known, and whose arguments were looked at once.
pub struct DispatchJob<'m> {
    header: CallHeader<'m>,
    arguments: Decoder<'m>,
    /// What was seen.
    pub outline: Outline<'m>,
    wanted: Wanted,
    /// How it came through a context, if it did.
    secured: Option<&'m SecuredCall>,
    /// It is answered that it must be asked again later.
    is_put_off: bool,
}

/// Finds the procedure of each call, lets it run once, counts it, and shows it to a capture.
pub struct Dispatcher {
    /// What is served.
    pub programs: Programs,
    /// The replies of calls that may not run twice.
    pub replies: SharedReplyCache,
    /// Question, and how long it took.
    pub counts: Ledger,
    /// The record of calls that somebody asked for.
    pub capture: Recorder,
    /// Contexts of RPCSEC_GSS, if there can be any.
    pub gss: Option<Arc<GssDoor>>,
    /// For replies that are signed or encrypted as a whole.
    pub long_buffers: Arc<LongBuffers>,
    /// What the log says of calls.
    log: CallLog,
}

impl Dispatcher {
    /// For these programs; nothing is counted yet.
    pub fn new(programs: Programs) -> Self {
        let procedures = programs.procedures();
        Self {
            counts: Ledger::new(Arc::clone(&procedures)),
            capture: Recorder::new(Arc::clone(&procedures)),
            log: CallLog::new(procedures),
            replies: SharedReplyCache::default(),
            gss: None,
            long_buffers: Arc::default(),
            programs,
        }
    }

    /// Finds what to do with a message. `secured`: it is a call by a context, which has signed it.
    pub fn read<'m>(
        &self,
        message: &'m [u8],
        secured: Option<&'m SecuredCall>,
        transport: Transport,
    ) -> Work<'m> {
        match Call::parse(message) {
            Call::Call(header, arguments) => match self.programs.find(&header, secured, transport) {
                Ok(wanted) => Work::Run(DispatchJob::at_door(header, arguments, wanted, secured)),
                Err(outcome) => match header.credentials {
                    Credentials::Tls(probe) => ask_tls(&header, probe, outcome, &arguments),
                    _ => Work::Refuse(ReplyHeader { xid: header.xid, outcome }),
                },
            },
            Call::Reply => Work::Reply,
            Call::OtherVersion { xid } => {
                Work::Refuse(ReplyHeader { xid, outcome: Err(Denied::RpcMismatch) })
            }
            Call::Malformed { xid: Some(xid), error } => {
                tracing::debug!(%error, "a call with a malformed header");
                Work::Refuse(ReplyHeader { xid, outcome: Ok(Accepted::GarbageArguments) })
            }
            Call::Malformed { xid: None, error } => {
                tracing::debug!(%error, "a message that is no call");
                Work::NoCall
            }
        }
    }

    /// Runs a call, counts it, and shows it to a capture; `None`: there is nothing to answer.
    pub fn carry_out<'a>(
        &self,
        clerk: &mut Clerk,
        job: &'a DispatchJob<'_>,
        from: &Whence<'a>,
        timing: &Timing,
        waiting: Option<&'a mut dyn BulkData>,
        buffer: Vec<u8>,
    ) -> Option<Reply> {
        let seen = self.capture.is_on().then(|| job.seen());
        clerk.start(timing);
        let mut reply = self.run(job, from, waiting, buffer);
        let operation = reply.as_ref().and_then(Reply::counted_as);
        let place = operation.map_or(job.wanted.place, |operation| job.wanted.operations + operation);
        clerk.end(place, timing, reply.as_mut());
        let outcome = reply.as_ref().map(Reply::outcome);
        if self.log.wants(outcome) {
            let (client, export) = (from.peer.ends.client, clerk.last_export());
            let took = Duration::from_nanos(Moment::now().since(timing.arrived));
            let ended = Ended { procedure: place, client, outcome, took, export };
            self.log.log(&ended, |place| self.counts.export_name(place));
        }
        if let Some(seen) = seen {
            self.capture.take(seen, from.peer, timing, reply.as_ref());
        }
        protected(reply)
    }

    /// Runs a call without a socket, and counts nothing; the reply is whole.
    pub fn run_whole(&self, job: &DispatchJob<'_>, from: &Whence<'_>) -> Option<Reply> {
        protected(self.run(job, from, None, Vec::new()))
    }

    /// Runs a call; `None`: there is nothing to answer. The reply has a header of its own also if its result was kept, and is not
    /// protected yet.
    pub(crate) fn run<'a>(
        &self,
        job: &'a DispatchJob<'_>,
        from: &Whence<'a>,
        waiting: Option<&'a mut dyn BulkData>,
        buffer: Vec<u8>,
    ) -> Option<Reply> {
        let mut reply = Reply::with_buffer(buffer);
        if let Some(secured) = job.secured {
            reply.answer_secured(secured, &self.long_buffers);
        }
        let is_once = job.wanted.procedure.repetition.is_once(from.peer.transport);
        let run = if is_once { Self::run_once } else { Self::run_again };
        run(self, job, from, waiting, &mut reply).then_some(reply)
    }

    /// Runs a call that may run twice; says whether there is an answer. A WRITE over a stream runs as often as it comes, and
    /// shows that its client had earlier answers.
    fn run_again<'a>(
        &self,
        job: &'a DispatchJob<'_>,
        from: &Whence<'a>,
        waiting: Option<&'a mut dyn BulkData>,
        reply: &mut Reply,
    ) -> bool {
        let overwrite = (job.wanted.procedure.repetition == Repetition::OnceInDatagrams)
            .then(|| self.replies.begin_write(from.peer.ends.client.ip(), job.outline.subjects[0]));
        let answered = self.answer(job, from, waiting, reply);
        if let Some(overwrite) = overwrite.flatten().filter(|_| reply.outcome() == Outcome::Well) {
            self.replies.end_write(&overwrite, Instant::now());
        }
        answered
    }

    /// Runs a call that may not run twice, unless its result is kept; says whether there is an answer.
    fn run_once<'a>(
        &self,
        job: &'a DispatchJob<'_>,
        from: &Whence<'a>,
        waiting: Option<&'a mut dyn BulkData>,
        reply: &mut Reply,
    ) -> bool {
        let asked = Asked {
            client: from.peer.ends.client.ip(),
            origin: from.origin,
            header: &job.header,
            principal: job.secured.map(|secured| &**secured.context().principal().name()),
            arguments: job.arguments.rest(),
            subjects: job.outline.subjects,
        };
        reply.start(&job.accepted());
        match self.replies.begin(&asked, Instant::now(), reply.bytes_mut(), from.has_ended) {
            Begun::InProgress => false,
            Begun::Replayed => {
                reply.set_outcome(Outcome::Replayed);
                true
            }
            Begun::New(running) => {
                let answered = self.answer(job, from, waiting, reply);
                let has_changed = reply.outcome() == Outcome::Well;
                // What got no result of its procedure is not kept, and may run again.
                if let Some(result) = reply.result() {
                    let made = job.wanted.procedure.made;
                    let made = if has_changed { made(Decoder::new(result)) } else { &[] };
                    running.finish(result, has_changed, made, Instant::now());
                }
                answered
            }
        }
    }

    /// Writes the reply; says whether there is one.
    fn answer<'a>(
        &self,
        job: &'a DispatchJob<'_>,
        from: &Whence<'a>,
        waiting: Option<&'a mut dyn BulkData>,
        reply: &mut Reply,
    ) -> bool {
        let (peer, line) = (from.peer, from.origin.line());
        let (wanted, procedure) = (job.wanted, job.wanted.procedure);
        reply.start(&job.accepted());
        let (header, outline, arguments) = (&job.header, &job.outline, job.arguments.clone());
        let is_put_off = job.is_put_off;
        let principal = job.secured.map(|secured| secured.context().principal());
        let is_protected = job.secured.is_some_and(SecuredCall::protects_bodies);
        let mut request =
            Request { header, principal, is_protected, outline, arguments, peer, line, is_put_off, waiting };
        // A handler that breaks must not take its worker along: the call is answered, and the next one served.
        let ran = catch_unwind(AssertUnwindSafe(|| self.programs.run(wanted, &mut request, reply)));
        let outcome = match ran.unwrap_or_else(|_| {
            tracing::error!(procedure = procedure.name, client = %peer.ends.client, "the handler panicked");
            Err(Refusal::System)
        }) {
            Ok(()) => {
                let status = procedure.status.then(|| reply.result()?.first_chunk()).flatten();
                reply.set_outcome(Outcome::of_status(status.copied().map_or(0, u32::from_be_bytes)));
                return true;
            }
            Err(Refusal::Silence) => return false,
            Err(Refusal::Garbage(error)) => {
                tracing::debug!(procedure = procedure.name, client = %peer.ends.client, %error, "arguments that make no sense");
                Ok(Accepted::GarbageArguments)
            }
            Err(Refusal::Unavailable) => Ok(Accepted::ProcedureUnavailable),
            Err(Refusal::System) => Ok(Accepted::SystemError),
            Err(Refusal::Authentication(status)) => Err(Denied::Authentication(status)),
        };
        reply.start(&ReplyHeader { xid: job.header.xid, outcome });
        reply.set_outcome(ending(&outcome));
        true
    }
}

impl<'m> DispatchJob<'m> {
    /// A call of this procedure. This is the door: what is behind it knows the body of the call, and what is read of it here once.
    fn at_door(
        header: CallHeader<'m>,
        mut arguments: Decoder<'m>,
        wanted: Wanted,
        secured: Option<&'m SecuredCall>,
    ) -> Self {
        if let Some(secured) = secured {
            secured.find_arguments(&mut arguments);
        }
        let mut outline = Outline::of(wanted.procedure.pace);
        (wanted.procedure.outline)(&mut outline, arguments.clone());
        Self { header, arguments, outline, wanted, secured, is_put_off: false }
    }

    /// The header of a reply that holds a result.
    fn accepted(&self) -> ReplyHeader {
        ReplyHeader { xid: self.header.xid, outcome: Ok(Accepted::Success) }
    }

    /// The user that a client says it is of.
    pub fn user(&self) -> Option<u32> {
        match &self.header.credentials {
            Credentials::Sys(sys) => Some(sys.user),
            _ => None,
        }
    }

    /// How it came through a context, if it did.
    pub fn secured(&self) -> Option<&'m SecuredCall> {
        self.secured
    }

    /// The handle of the node that it is about.
    pub fn node(&self) -> Option<FileHandle<'m>> {
        self.outline.node.map(FileHandle)
    }

    /// It is not done, but answered that it must be asked again later.
    pub fn put_off(&mut self) {
        self.is_put_off = true;
    }

    /// So many bytes were in its message, of which not all are kept.
    pub fn came_in(&mut self, length: usize) {
        self.outline.compound.iter_mut().flatten().for_each(|opening| opening.length = length);
    }

    /// Only so many bytes of its message are here: the rest is data in the socket.
    pub fn cut_at(&mut self, length: usize) {
        let opening = self.outline.compound.iter_mut().flatten().map(|opening| &mut opening.operations);
        for decoder in opening.chain([&mut self.arguments]) {
            decoder.cut(length - decoder.position());
        }
    }

    /// What a capture sees of it.
    pub fn seen(&self) -> Seen<'m> {
        Seen::new(&self.header, self.arguments.rest())
    }
}

/// A reply as it may be sent. One that cannot be protected as its call was may not.
fn protected(mut reply: Option<Reply>) -> Option<Reply> {
    let is_protected = reply.as_mut().is_none_or(|reply| reply.protect().is_ok());
    if !is_protected {
        tracing::error!("a reply could not be protected, and is not sent");
    }
    reply.filter(|_| is_protected)
}

/// What to do with a call that asks for TLS: `outcome` says that its flavor is none of ours, or that nothing of what it names is
/// served (RFC 9289 4.1).
fn ask_tls<'m>(
    header: &CallHeader<'m>,
    probe: TlsProbe,
    outcome: Result<Accepted, Denied>,
    arguments: &Decoder<'m>,
) -> Work<'m> {
    let denied =
        |status| Work::Refuse(ReplyHeader { xid: header.xid, outcome: Err(Denied::Authentication(status)) });
    match (outcome, probe) {
        (Ok(_), _) => Work::Refuse(ReplyHeader { xid: header.xid, outcome }),
        (_, TlsProbe::WithBody) => denied(AuthStatus::BadCredentials),
        (_, TlsProbe::WithVerifier) => denied(AuthStatus::BadVerifier),
        _ if header.procedure != 0 => denied(AuthStatus::BadCredentials),
        _ if !arguments.rest().is_empty() => {
            Work::Refuse(ReplyHeader { xid: header.xid, outcome: Ok(Accepted::GarbageArguments) })
        }
        (Err(_), TlsProbe::Plain) => Work::AskTls(ReplyHeader { xid: header.xid, outcome }),
    }
}

/// How a call that got no result is counted.
fn ending(outcome: &Result<Accepted, Denied>) -> Outcome {
    match outcome {
        Err(_) => Outcome::Authentication,
        Ok(Accepted::GarbageArguments) => Outcome::Garbage,
        Ok(_) => Outcome::System,
    }
}
