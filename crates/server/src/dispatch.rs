//! From the bytes of a call to its reply: finds the procedure, lets it run once, answers every refusal with its status.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use howdah_net::Token;
use howdah_vfs::Waiting;
use howdah_wire::nfs3::{FileHandle, HANDLE_MAX};
use howdah_wire::rpc::{Accepted, AuthStatus, Call, CallHeader, Credentials, Denied, ReplyHeader};
use howdah_wire::xdr::Decoder;

use crate::capture::Seen;
use crate::counts::Outcome;
use crate::limits::BULK_MIN;
use crate::program::{Bulk, Pace, Procedure, Program, Refusal};
use crate::reply_cache::{Asked, Begun, Origin};
use crate::service::Service;
use crate::{Peer, Reply, Request};

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
        Self { peer, origin: Origin::datagrams(peer.client.port()), has_ended }
    }
}

/// What to do with a message.
pub enum Work<'m> {
    /// It is no call: nobody knows what its sender speaks, and a stream of it is closed.
    NoCall,
    /// Refuse it.
    Refuse(ReplyHeader),
    /// Run a procedure.
    Run(Job<'m>),
}

/// A call whose procedure is known.
pub struct Job<'m> {
    header: CallHeader<'m>,
    arguments: Decoder<'m>,
    procedure: &'static Procedure,
    /// Its place among all procedures.
    place: u16,
    /// It is answered that it must be asked again later.
    is_put_off: bool,
}

/// Finds what to do with a message.
pub fn read<'m>(programs: &'static [Program], message: &'m [u8]) -> Work<'m> {
    match Call::parse(message) {
        Call::Call(header, arguments) => match find(programs, &header) {
            Ok((place, procedure)) => {
                Work::Run(Job { header, arguments, procedure, place, is_put_off: false })
            }
            Err(outcome) => Work::Refuse(ReplyHeader { xid: header.xid, outcome }),
        },
        Call::OtherVersion { xid } => Work::Refuse(ReplyHeader { xid, outcome: Err(Denied::RpcMismatch) }),
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

fn find(
    programs: &'static [Program],
    header: &CallHeader<'_>,
) -> Result<(u16, &'static Procedure), Result<Accepted, Denied>> {
    let program = programs
        .iter()
        .position(|program| program.number == header.program)
        .ok_or(Ok(Accepted::ProgramUnavailable))?;
    let (before, program) = (&programs[..program], &programs[program]);
    let version = program.versions.iter().position(|(version, _)| *version == header.version);
    let version = version.ok_or_else(|| Ok(mismatch(program)))?;
    let procedures = program.versions[version].1;
    match header.credentials {
        Credentials::None | Credentials::Sys(_) => {}
        Credentials::Other(_) => return Err(Err(Denied::Authentication(AuthStatus::TooWeak))),
        Credentials::Malformed(_) => return Err(Err(Denied::Authentication(AuthStatus::BadCredentials))),
    }
    let procedure = procedures.get(header.procedure as usize).ok_or(Ok(Accepted::ProcedureUnavailable))?;
    let tables = before.iter().flat_map(|program| program.versions).chain(&program.versions[..version]);
    let place = tables.map(|(_, table)| table.len()).sum::<usize>() + header.procedure as usize;
    Ok((place as u16, procedure))
}

/// Tells the versions there are, so that a client which tried another one falls back by itself.
fn mismatch(program: &Program) -> Accepted {
    let version = |entry: Option<&(u32, &[Procedure])>| entry.map_or(0, |&(version, _)| version);
    Accepted::ProgramMismatch {
        low: version(program.versions.first()),
        high: version(program.versions.last()),
    }
}

impl<'m> Job<'m> {
    /// Whether it may keep its worker waiting.
    pub fn pace(&self) -> Pace {
        match self.bulk() {
            None => self.procedure.pace,
            Some(bulk) if bulk.durable => Pace::Slow,
            Some(bulk) if bulk.length >= BULK_MIN => Pace::Long,
            Some(_) => Pace::Quick,
        }
    }

    /// Its procedure's place among all of them, one table after the other.
    pub fn place(&self) -> u16 {
        self.place
    }

    /// The bulk data that it brings.
    pub fn bulk(&self) -> Option<Bulk> {
        self.procedure.bulk.and_then(|bulk| bulk(self.arguments.clone()))
    }

    /// The handle of the node that it is about.
    pub fn node(&self) -> Option<FileHandle<'m>> {
        let mut arguments = self.arguments.clone();
        let node = self.procedure.names_node.then(|| arguments.opaque(HANDLE_MAX as u32, "handle"))?;
        node.ok().map(FileHandle)
    }

    /// It is not done, but answered that it must be asked again later.
    pub fn put_off(&mut self) {
        self.is_put_off = true;
    }

    /// Where its arguments start in the message.
    pub fn arguments_at(&self) -> usize {
        self.arguments.position()
    }

    /// Only the first `length` bytes of the arguments are here: the rest is data in the socket.
    pub fn cut_arguments(&mut self, length: usize) {
        self.arguments.cut(length);
    }

    /// What a capture sees of it.
    pub fn seen(&self) -> Seen<'m> {
        Seen::new(&self.header, self.arguments.rest())
    }

    /// Runs the procedure; `None`: there is nothing to answer.
    pub fn run<'a>(
        &'a self,
        service: &Service,
        from: &Whence<'a>,
        waiting: Option<&'a mut dyn Waiting>,
        buffer: Vec<u8>,
    ) -> Option<Reply> {
        let mut reply = Reply::with_buffer(buffer);
        let peer = from.peer;
        if !self.procedure.repetition.is_once(peer.transport) {
            return self.answer(service, peer, waiting, &mut reply).then_some(reply);
        }
        let asked = Asked {
            client: peer.client.ip(),
            origin: from.origin,
            header: &self.header,
            arguments: self.arguments.rest(),
            subjects: (self.procedure.subjects)(self.arguments.clone()),
        };
        match service.replies.begin(&asked, Instant::now(), reply.head_mut(), from.has_ended) {
            Begun::InProgress => None,
            Begun::Replayed => {
                reply.set_outcome(Outcome::Replayed);
                Some(reply)
            }
            Begun::New(running) => {
                let answered = self.answer(service, peer, waiting, &mut reply);
                let has_changed = reply.outcome() == Outcome::Well;
                running.finish(reply.message(), has_changed, Instant::now());
                answered.then_some(reply)
            }
        }
    }

    /// Writes the reply; says whether there is one.
    fn answer<'a>(
        &'a self,
        service: &Service,
        peer: &'a Peer,
        waiting: Option<&'a mut dyn Waiting>,
        reply: &mut Reply,
    ) -> bool {
        let (xid, procedure) = (self.header.xid, self.procedure);
        reply.start(&ReplyHeader { xid, outcome: Ok(Accepted::Success) });
        let result_at = reply.message().len();
        let arguments = self.arguments.clone();
        let mut request =
            Request { header: &self.header, arguments, peer, is_put_off: self.is_put_off, waiting };
        // A handler that breaks must not take its worker along: the call is answered, and the next one served.
        let ran = catch_unwind(AssertUnwindSafe(|| (procedure.run)(service, &mut request, reply)));
        let outcome = match ran.unwrap_or_else(|_| {
            tracing::error!(procedure = procedure.name, client = %peer.client, "the handler panicked");
            Err(Refusal::System)
        }) {
            Ok(()) => {
                let status = procedure.status.then(|| reply.message()[result_at..].first_chunk()).flatten();
                reply.set_outcome(Outcome::of_status(status.copied().map_or(0, u32::from_be_bytes)));
                return true;
            }
            Err(Refusal::Silence) => return false,
            Err(Refusal::Garbage(error)) => {
                tracing::debug!(procedure = procedure.name, client = %peer.client, %error, "arguments that make no sense");
                Ok(Accepted::GarbageArguments)
            }
            Err(Refusal::Unavailable) => Ok(Accepted::ProcedureUnavailable),
            Err(Refusal::System) => Ok(Accepted::SystemError),
            Err(Refusal::Authentication(status)) => Err(Denied::Authentication(status)),
        };
        reply.start(&ReplyHeader { xid, outcome });
        reply.set_outcome(ending(&outcome));
        true
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
