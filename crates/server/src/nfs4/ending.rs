//! DESTROY_SESSION, DESTROY_CLIENTID and RECLAIM_COMPLETE: the ends of a session, of a client, and of what it reclaims.

use howdah_state::{ClientId, SessionId};
use howdah_wire::nfs4::{Status, destroy_clientid, destroy_session, reclaim_complete};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use crate::Reply;

/// Answers DESTROY_SESSION.
pub fn session(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let destroy_session::Arguments { session } = destroy_session::Arguments::decode(arguments)?;
    let session = SessionId(session.0);
    // What comes after it would run in a session that is gone (RFC 8881 18.37.3).
    if compound.left > 0 && compound.session().is_ok_and(|own| own.id() == session) {
        return Err(Status::NOT_ONLY_OP.into());
    }
    compound.refuse_other_session(session)?;
    compound.nfs4.states.judge(|state, _| state.destroy_session(session))?;
    compound.nfs4.back.end(session);
    Ok(())
}

/// Answers DESTROY_CLIENTID.
pub fn client(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let destroy_clientid::Arguments { client } = destroy_clientid::Arguments::decode(arguments)?;
    let client = ClientId(client.0);
    let caller = compound.caller();
    compound
        .without_gone_files(client, |state, now| state.destroy_client_id(now, client, caller.as_client()))?;
    Ok(())
}

/// Answers RECLAIM_COMPLETE.
pub fn reclaim(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let reclaim_complete::Arguments { one_file_system } = reclaim_complete::Arguments::decode(arguments)?;
    if one_file_system && compound.current.is_none() {
        return Err(Status::NOFILEHANDLE.into());
    }
    let client = compound.client()?;
    compound.nfs4.states.judge(|state, now| state.reclaim_complete(now, client, one_file_system))?;
    Ok(())
}
