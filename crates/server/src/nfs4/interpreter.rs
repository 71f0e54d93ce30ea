//! COMPOUND (RFC 8881 16.2): operations one after the other, until one is refused. Each is decoded, run and answered before the
//! next is looked at.

use howdah_wire::nfs4::compound::{ReplyPlace, ResultPlace};
use howdah_wire::nfs4::operation::{self, ILLEGAL};
use howdah_wire::nfs4::{Status, sequence};
use howdah_wire::xdr::Decoder;

use super::Nfs4;
use super::compound::{Compound, CompoundEnd, Outcome, Refused};
use super::sequence::Sequence;
use super::session::{self, Sequenced};
use super::table::{self, Operation, Place};
use crate::{Refusal, Reply, Request};

/// The most bytes of a result that changes something and names no data: a reply must have room for it before it runs.
const CHANGE_RESULT_MAX: usize = 2 << 10;

/// Answers COMPOUND.
///
/// # Errors
/// Its credentials are not taken, or its head makes no sense.
pub fn run(nfs4: &Nfs4, request: &mut Request<'_, '_>, reply: &mut Reply) -> Result<(), Refusal> {
    let exports = nfs4.exports();
    let identity =
        exports.identify(&request.header.credentials, request.principal).map_err(Refusal::Authentication)?;
    // Only COMPOUND comes here.
    let opening = request.outline.compound.clone().ok_or(Refusal::Unavailable)??;
    let place = ReplyPlace::begin(&mut reply.encoder(), opening.head.tag);
    let mut operations = opening.operations.clone();
    let mut compound = Compound::new(nfs4, &exports, &identity, opening, request);
    let ending = match compound.minor_version {
        1 | 2 => compound.answer(&mut operations, reply),
        _ => CompoundEnd { status: Status::MINOR_VERS_MISMATCH, results: 0 },
    };
    place.finish(&mut reply.encoder(), ending.status, ending.results);
    if let Some(operation) = compound.purpose.operation() {
        reply.count_as(operation as u16);
    }
    Ok(())
}

impl Compound<'_> {
    fn answer(&mut self, arguments: &mut Decoder<'_>, reply: &mut Reply) -> CompoundEnd {
        if self.operations == 0 {
            return CompoundEnd { status: Status::OK, results: 0 };
        }
        let Some(sequence) = self.opening.sequence.take() else {
            return self.without_session(arguments, reply);
        };
        let result = ResultPlace::begin(&mut reply.encoder(), sequence::OPERATION);
        let begun = sequence.map_err(|_| Status::BADXDR);
        match begun.and_then(|sequence| session::begin(self, &sequence, arguments, reply)) {
            Ok(Sequenced::New(sequence)) => self.in_session(sequence, arguments, reply),
            Ok(Sequenced::Replay(kept)) => kept.append_to(reply),
            Err(status) => {
                result.refuse(&mut reply.encoder(), status);
                CompoundEnd { status, results: 1 }
            }
        }
    }

    /// The operations behind SEQUENCE.
    fn in_session(
        &mut self,
        sequence: Sequence,
        arguments: &mut Decoder<'_>,
        reply: &mut Reply,
    ) -> CompoundEnd {
        let kept_from = reply.message().len();
        self.sequence = Some(sequence);
        let mut ending = CompoundEnd { status: Status::OK, results: 1 };
        self.steps(arguments, reply, &mut ending);
        if let Some(behind) = self.behind.take() {
            self.steps(&mut Decoder::new(&behind), reply, &mut ending);
        }
        if let Some(sequence) = self.sequence.take() {
            sequence.finish(reply, kept_from, ending.status, ending.results);
        }
        ending
    }

    /// Carries out operations until one is refused, or the arguments go on elsewhere.
    fn steps(&mut self, arguments: &mut Decoder<'_>, reply: &mut Reply, ending: &mut CompoundEnd) {
        while ending.status == Status::OK && ending.results < self.operations && self.behind.is_none() {
            self.left = self.operations - ending.results - 1;
            ending.status = self.step(arguments, reply);
            ending.results += 1;
        }
    }

    fn step(&mut self, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Status {
        let Ok(number) = arguments.u32("operation") else {
            ResultPlace::begin(&mut reply.encoder(), ILLEGAL).refuse(&mut reply.encoder(), Status::BADXDR);
            return Status::BADXDR;
        };
        let found = self.find(number, Place::InSession);
        let shown = if matches!(found, Err(Status::OP_ILLEGAL)) { ILLEGAL } else { number };
        let result = ResultPlace::begin(&mut reply.encoder(), shown);
        let outcome = found.map_err(Refused::Alone).and_then(|found| {
            self.purpose.note(number);
            if found.changes {
                self.room(reply, CHANGE_RESULT_MAX)?;
            }
            (found.run)(self, arguments, reply)?;
            if !found.changes {
                self.room(reply, 0)?;
            }
            Ok(())
        });
        refused(outcome, result, reply)
    }

    /// An operation that makes or ends sessions, alone.
    fn without_session(&mut self, arguments: &mut Decoder<'_>, reply: &mut Reply) -> CompoundEnd {
        let number = arguments.u32("operation").unwrap_or(ILLEGAL);
        let found = self.find(number, Place::Alone);
        let shown = if matches!(found, Err(Status::OP_ILLEGAL)) { ILLEGAL } else { number };
        let result = ResultPlace::begin(&mut reply.encoder(), shown);
        let outcome = found.map_err(Refused::Alone).and_then(|found| {
            self.purpose.note(number);
            if self.operations > 1 {
                return Err(Status::NOT_ONLY_OP.into());
            }
            (found.run)(self, arguments, reply)
        });
        CompoundEnd { status: refused(outcome, result, reply), results: 1 }
    }

    fn find(&self, number: u32, place: Place) -> Result<&'static Operation, Status> {
        if !operation::exists(number, self.minor_version) {
            return Err(Status::OP_ILLEGAL);
        }
        if number == sequence::OPERATION {
            return Err(Status::SEQUENCE_POS);
        }
        let found = table::find(number);
        match (place, found) {
            (Place::Alone, Some(found)) if found.makes_sessions => Ok(found),
            (Place::Alone, _) => Err(Status::OP_NOT_IN_SESSION),
            (Place::InSession, Some(found)) if found.is_alone => Err(Status::NOT_ONLY_OP),
            (Place::InSession, Some(found)) => Ok(found),
            (Place::InSession, None) => Err(Status::NOTSUPP),
        }
    }
}

fn refused(outcome: Outcome, result: ResultPlace, reply: &mut Reply) -> Status {
    let (status, body) = match outcome {
        Ok(()) => return Status::OK,
        Err(Refused::Alone(status)) => (status, Vec::new()),
        Err(Refused::With(status, body)) => (status, body),
    };
    reply.forget_content_from(result.body());
    result.refuse(&mut reply.encoder(), status);
    reply.bytes_mut().extend_from_slice(&body);
    status
}
