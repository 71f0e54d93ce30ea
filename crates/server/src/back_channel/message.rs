//! A callback as bytes, and what a client answers it.

use howdah_wire::nfs4::callback::compound::Head;
use howdah_wire::nfs4::callback::{COMPOUND, VERSION, sequence};
use howdah_wire::nfs4::compound::{ReplyHead, ResultHead};
use howdah_wire::nfs4::{SessionId, Status};
use howdah_wire::rpc::{Accepted, AuthSys, CallHeader, Credentials, ReplyHeader};
use howdah_wire::xdr::{Array, Decode, Decoder, Encode, Encoder};

use super::back_call::BackCall;
use super::session::{BackCredentials, BackSession};

/// What a client answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackAnswer {
    /// It was carried out, or refused by itself.
    Done(Status),
    /// It is to be sent again a little later.
    Later,
    /// The client does not take callbacks of this session.
    Refused,
}

/// A callback: CB_SEQUENCE in slot 0, and one operation.
pub fn call(session: &BackSession, xid: u32, sequence: u32, call: &BackCall) -> Vec<u8> {
    let credentials = match &session.credentials {
        BackCredentials::None => Credentials::None,
        BackCredentials::Sys { machine, user, group } => {
            Credentials::Sys(AuthSys::new(machine, *user, *group, &[]))
        }
    };
    let program = session.program;
    let header = CallHeader { xid, program, version: VERSION, procedure: COMPOUND, credentials };
    let mut message = Encoder::to_vec(&header);
    let mut encoder = Encoder::new(&mut message);
    Head { tag: b"", minor_version: session.minor_version, identifier: 0, operations: 2 }
        .encode(&mut encoder);
    encoder.u32(sequence::OPERATION);
    let id = SessionId(session.id.0);
    let referring = Array::of(&[]);
    sequence::Arguments { session: id, sequence, slot: 0, highest_slot: 0, keep: false, referring }
        .encode(&mut encoder);
    encoder.u32(call.operation());
    call.encode(&mut encoder);
    message
}

/// The number of a reply.
pub fn xid(message: &[u8]) -> Option<u32> {
    message.first_chunk().copied().map(u32::from_be_bytes)
}

/// What a reply says.
pub fn answer(message: &[u8]) -> BackAnswer {
    parse(&mut Decoder::new(message)).unwrap_or(BackAnswer::Refused)
}

/// `None`: it makes no sense.
fn parse(decoder: &mut Decoder<'_>) -> Option<BackAnswer> {
    let header = ReplyHeader::decode(decoder).ok()?;
    if header.outcome != Ok(Accepted::Success) {
        return Some(BackAnswer::Refused);
    }
    let compound = ReplyHead::decode(decoder).ok()?;
    if compound.results == 0 {
        return Some(later_if(compound.status));
    }
    let head = ResultHead::decode(decoder).ok()?;
    if head.status != Status::OK {
        return Some(later_if(head.status));
    }
    sequence::Success::decode(decoder).ok()?;
    Some(BackAnswer::Done(if compound.results == 1 {
        compound.status
    } else {
        ResultHead::decode(decoder).ok()?.status
    }))
}

fn later_if(status: Status) -> BackAnswer {
    if status == Status::DELAY { BackAnswer::Later } else { BackAnswer::Refused }
}
