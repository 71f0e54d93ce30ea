//! CLOSE and OPEN_DOWNGRADE: end an open of the current file, or leave it less.

use howdah_state::{ShareAccess, ShareDeny};
use howdah_wire::nfs4::{StateId, Status, close, open_downgrade};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::convert::{asked, told};
use crate::Reply;

/// Answers CLOSE.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let close::Arguments { state, .. } = close::Arguments::decode(arguments)?;
    let (client, state) = (compound.client()?, asked(compound.stateid_of(state)?));
    let key = compound.object(Status::BAD_STATEID)?.key();
    compound.nfs4.states.judge(|states, now| states.close(now, client, state, &key))?;
    compound.stateid = Some(StateId::INVALID);
    reply.write(&close::Success { state: StateId::INVALID });
    Ok(())
}

/// Answers OPEN_DOWNGRADE.
pub fn downgrade(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let open_downgrade::Arguments { state, access, deny, .. } = open_downgrade::Arguments::decode(arguments)?;
    let (client, state) = (compound.client()?, asked(compound.stateid_of(state)?));
    let key = compound.object(Status::BAD_STATEID)?.key();
    let access = ShareAccess::from_bits(access).filter(|access| *access != ShareAccess::NONE);
    let (Some(access), Some(deny)) = (access, ShareDeny::from_bits(deny)) else {
        return Err(Status::INVAL.into());
    };
    let states = &compound.nfs4.states;
    let state = told(states.judge(|states, _| states.downgrade(client, state, &key, access, deny))?);
    compound.stateid = Some(state);
    reply.write(&open_downgrade::Success { state });
    Ok(())
}
