//! CREATE_SESSION: makes a session of a client, and confirms the client.

use howdah_state::{ClientId, SessionAnswer};
use howdah_wire::limits::ITEMS4_MAX;
use howdah_wire::nfs4::compound::OPERATIONS_MAX;
use howdah_wire::nfs4::create_session::{Arguments, BACK_CHANNEL, ChannelSizes, PERSISTENT, RDMA, Success};
use howdah_wire::nfs4::{CallbackSecurity, SessionId, Status};
use howdah_wire::rpc::AuthSys;
use howdah_wire::xdr::{Array, Decode, Decoder};

use super::compound::{Compound, Outcome};
use crate::Reply;
use crate::back_channel::{BackCredentials, BackSession};
use crate::limits::TRANSFER_MAX;
use crate::states::{SessionData, status};

/// The largest request and reply, in bytes: a READ or WRITE of the largest transfer with everything around it.
const MESSAGE_MAX: u32 = (TRANSFER_MAX + (4 << 10)) as u32;
/// The least size of a request or a reply that anything can be done with, in bytes.
const MESSAGE_MIN: u32 = 256;
/// The same of the channel for callbacks: CB_SEQUENCE and one operation behind it.
const CALLBACK_MIN: u32 = 128;
const CALLBACK_OPERATIONS_MIN: u32 = 2;
/// The largest reply that is kept for a retry, in bytes: more than any of what may not run twice.
const KEPT_MAX: u32 = 8 << 10;

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let wanted = Arguments::decode(arguments)?;
    if wanted.flags & !(PERSISTENT | BACK_CHANNEL | RDMA) != 0 {
        return Err(Status::INVAL.into());
    }
    let fore = granted(&wanted.fore)?;
    if wanted.back.request < CALLBACK_MIN
        || wanted.back.response < CALLBACK_MIN
        || wanted.back.operations < CALLBACK_OPERATIONS_MIN
    {
        return Err(Status::TOOSMALL.into());
    }
    let (client, sequence) = (ClientId(wanted.client.0), wanted.sequence);
    compound.refuse_strangers()?;
    let caller = compound.caller();
    let states = &compound.nfs4.states;
    let data = SessionData::new(fore, compound.peer);
    let mut made = false;
    let answer = states.ask(|state, now| {
        let answer = state.create_session(now, client, sequence, caller.as_client(), fore.slots, data);
        made = matches!(answer, Ok(SessionAnswer::Created(_)));
        answer
    });
    if made && answer.is_err() {
        // The record cannot be written now. The client sends the same number again, also when it can be.
        states.judge(|state, _| {
            state.answer_created(client, sequence, None);
            Ok(())
        })?;
    }
    let session = match answer.map_err(|error| status(&error))? {
        SessionAnswer::Replay(kept) => {
            reply.bytes_mut().extend_from_slice(&kept);
            return Ok(());
        }
        SessionAnswer::Created(session) => session,
    };
    let flags = match credentials(&wanted.security) {
        Some(credentials) => {
            let (id, minor_version) = (session.id(), compound.minor_version);
            let program = wanted.callback_program;
            let line = compound.line.filter(|_| wanted.flags & BACK_CHANNEL != 0);
            let back = BackSession { id, client, minor_version, program, credentials };
            compound.nfs4.back.begin(back, line);
            // Its client may have ended before the channel was there, and does not end again.
            if session.has_ended() {
                compound.nfs4.back.end(id);
            }
            if line.is_some() { BACK_CHANNEL } else { 0 }
        }
        None => 0,
    };
    let start = reply.message().len();
    reply.write(&Success {
        session: SessionId(session.id().0),
        sequence,
        flags,
        fore: ChannelSizes { slots: session.slots().granted(), ..fore },
        back: wanted.back,
    });
    let result = &reply.message()[start..];
    states.judge(|state, _| {
        state.answer_created(client, sequence, Some(result));
        Ok(())
    })?;
    Ok(())
}

/// How the server proves itself in callbacks: as a user if the client lets it, since Linux takes no other; `None` if only in ways that
/// this server does not know.
pub fn credentials(security: &Array<'_, CallbackSecurity<'_>, ITEMS4_MAX>) -> Option<BackCredentials> {
    let mut none = None;
    for way in security.iter() {
        match way {
            CallbackSecurity::Sys(AuthSys { machine, user, group, .. }) => {
                return Some(BackCredentials::Sys { machine: machine.into(), user, group });
            }
            CallbackSecurity::None => none = Some(BackCredentials::None),
            CallbackSecurity::Gss(_) => {}
        }
    }
    none
}

/// What a client gets of what it wants.
fn granted(wanted: &ChannelSizes) -> Result<ChannelSizes, Status> {
    if wanted.request < MESSAGE_MIN || wanted.response < MESSAGE_MIN {
        return Err(Status::TOOSMALL);
    }
    if wanted.operations == 0 || wanted.slots == 0 {
        return Err(Status::INVAL);
    }
    Ok(ChannelSizes {
        header_padding: 0,
        request: wanted.request.min(MESSAGE_MAX),
        response: wanted.response.min(MESSAGE_MAX),
        kept_response: wanted.kept_response.min(KEPT_MAX),
        operations: wanted.operations.min(OPERATIONS_MAX),
        slots: wanted.slots,
        rdma_reads: None,
    })
}
