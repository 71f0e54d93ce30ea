//! SEQUENCE (RFC 8881 18.46): a compound takes a slot of its session, and its reply is kept there if the client asks for it.

use std::hash::Hasher;
use std::sync::Arc;

use howdah_state::{LiveSession, SequenceAnswer, SequenceRequest, SessionId};
use howdah_wire::nfs4::Status;
use howdah_wire::nfs4::compound::ResultPlace;
use howdah_wire::nfs4::sequence::{Arguments, Success};
use howdah_wire::xdr::Decoder;
use siphasher::sip::SipHasher13;

use super::compound::{Compound, CompoundEnd};
use super::sequence::Sequence;
use crate::Reply;
use crate::exports::Identity;
use crate::states::{self, SessionData};

/// How many bytes of a request distinguish it from another with the same number: the data of a WRITE may never come into user
/// space.
const DIGEST_MAX: usize = 512;

/// Length of what SEQUENCE answers, in bytes.
const RESULT: usize = 16 + 5 * 4;

/// What SEQUENCE found.
pub enum Sequenced {
    /// A new call.
    New(Sequence),
    /// A retry, whose results behind SEQUENCE's are known.
    Replay(Kept),
}

/// The end of a reply that was sent before.
pub enum Kept {
    /// How it ended, how many results it had, and those behind SEQUENCE's.
    Reply(Arc<[u8]>),
    /// It was not kept. The number of the call's second operation, if it has one.
    Nothing(Option<u32>),
}

/// Takes a slot, and appends what SEQUENCE answers.
///
/// # Errors
/// Why it is refused; no slot has moved then.
pub fn begin(
    compound: &Compound<'_>,
    sequence: &Arguments,
    arguments: &Decoder<'_>,
    reply: &mut Reply,
) -> Result<Sequenced, Status> {
    let sessions = compound.nfs4.states.sessions();
    let begin = |session: &Arc<_>| take(compound, session, sequence, arguments, reply);
    sessions.with(SessionId(sequence.session.0), begin).unwrap_or(Err(Status::BADSESSION))
}

/// Takes a slot of this session.
fn take(
    compound: &Compound<'_>,
    session: &Arc<LiveSession<SessionData>>,
    sequence: &Arguments,
    arguments: &Decoder<'_>,
    reply: &mut Reply,
) -> Result<Sequenced, Status> {
    let states = &compound.nfs4.states;
    // Who has the name of another's session, and not what protected its making, finds none.
    if !session.data().takes(compound.peer) {
        return Err(Status::BADSESSION);
    }
    let fore = session.data().fore;
    if compound.operations > fore.operations {
        return Err(Status::TOO_MANY_OPS);
    }
    if compound.opening.length > fore.request as usize {
        return Err(Status::REQ_TOO_BIG);
    }
    let own = reply.message_length() + RESULT;
    if own > fore.response as usize {
        return Err(Status::REP_TOO_BIG);
    }
    if sequence.keep && own > fore.kept_response as usize {
        return Err(Status::REP_TOO_BIG_TO_CACHE);
    }
    let request = SequenceRequest {
        sequence: sequence.sequence,
        slot: sequence.slot,
        highest_slot: sequence.highest_slot,
        digest: digest(compound),
    };
    let answer = session.sequence(states.now(), request).map_err(|error| states::status(&error))?;
    let slots = session.slots();
    reply.write(&Success {
        session: sequence.session,
        sequence: sequence.sequence,
        slot: sequence.slot,
        highest_slot: slots.granted() - 1,
        target_highest_slot: slots.target() - 1,
        flags: session.flags(),
    });
    Ok(match answer {
        SequenceAnswer::New(guard) => Sequenced::New(Sequence::new(guard, sequence.keep)),
        SequenceAnswer::Replay(kept) => Sequenced::Replay(Kept::Reply(kept)),
        SequenceAnswer::Uncached if compound.operations == 1 => Sequenced::Replay(Kept::Nothing(None)),
        SequenceAnswer::Uncached => {
            let next = arguments.clone().u32("operation").map_err(|_| Status::BADXDR)?;
            Sequenced::Replay(Kept::Nothing(Some(next)))
        }
    })
}

/// Distinguishes requests: by their sender, and by what follows SEQUENCE.
fn digest(compound: &Compound<'_>) -> u64 {
    let mut hasher = SipHasher13::new();
    hasher.write_u32(compound.minor_version);
    hasher.write_u32(compound.operations);
    match compound.identity {
        Identity::Unknown => {}
        Identity::User(caller) => hasher.write_u32(caller.user),
        Identity::Principal(principal) => hasher.write(principal.name.as_bytes()),
    }
    let told_by = compound.opening.told_by;
    hasher.write(&told_by[..told_by.len().min(DIGEST_MAX)]);
    hasher.finish()
}

impl Kept {
    /// Appends the results behind SEQUENCE's. How the compound ended, and how many results it has.
    pub fn append_to(&self, reply: &mut Reply) -> CompoundEnd {
        match self {
            Self::Reply(kept) => {
                let mut decoder = Decoder::new(kept);
                let mut word = || decoder.u32("kept reply").unwrap_or_default();
                let (status, results) = (Status(word()), word());
                reply.bytes_mut().extend_from_slice(decoder.rest());
                CompoundEnd { status, results }
            }
            Self::Nothing(None) => CompoundEnd { status: Status::OK, results: 1 },
            Self::Nothing(Some(next)) => {
                let result = ResultPlace::begin(&mut reply.encoder(), *next);
                result.refuse(&mut reply.encoder(), Status::RETRY_UNCACHED_REP);
                CompoundEnd { status: Status::RETRY_UNCACHED_REP, results: 2 }
            }
        }
    }
}
