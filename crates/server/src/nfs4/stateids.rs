//! TEST_STATEID and FREE_STATEID: a client finds out which of its states are left, and lets go of those that are not.

use howdah_wire::nfs4::{Status, free_stateid, test_stateid};
use howdah_wire::xdr::{Decode, Decoder, Encode};

use super::compound::{Compound, Outcome};
use super::convert::asked;
use crate::Reply;
use crate::states;

/// Answers TEST_STATEID.
pub fn test(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let test_stateid::Arguments { states } = test_stateid::Arguments::decode(arguments)?;
    let client = compound.client()?;
    let mut encoder = reply.encoder();
    encoder.u32(u32::try_from(states.len()).expect("few"));
    for state in states.iter() {
        let judged = compound.nfs4.states.ask(|states, _| states.test_stateid(client, asked(state)));
        judged.map_or_else(|error| states::status(&error), |()| Status::OK).encode(&mut encoder);
    }
    Ok(())
}

/// Answers FREE_STATEID.
pub fn free(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let free_stateid::Arguments { state } = free_stateid::Arguments::decode(arguments)?;
    let (client, state) = (compound.client()?, asked(compound.stateid_of(state)?));
    compound.nfs4.states.judge(|states, _| states.free_stateid(client, state))?;
    Ok(())
}
