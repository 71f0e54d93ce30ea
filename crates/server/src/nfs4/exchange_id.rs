//! EXCHANGE_ID: client and server get to know each other.

use howdah_state::{ClientCaller, ClientIdentity};
use howdah_wire::nfs4::exchange_id::{
    Arguments, CONFIRMED, FENCING, Implementation, OF_CALLS, Protection, ServerOwner, Success, UPDATE,
    WITHOUT_PNFS,
};
use howdah_wire::nfs4::{ClientId, Opaque, Status, Time};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use crate::Reply;
use crate::states::{ServingHead, status};

/// Answers it.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { owner, flags, protection, .. } = Arguments::decode(arguments)?;
    // Fencing came with minor version 2 (RFC 7862 14.1).
    let known = if compound.minor_version < 2 { OF_CALLS & !FENCING } else { OF_CALLS };
    if flags & !known != 0 {
        return Err(Status::INVAL.into());
    }
    match protection {
        Protection::None => {}
        // Machine credentials are those of Kerberos, which is not served.
        Protection::Machine(_) => return Err(Status::INVAL.into()),
        Protection::Secret(_) => return Err(Status::ENCR_ALG_UNSUPP.into()),
    }
    compound.refuse_strangers()?;
    let caller = compound.caller();
    let ends = &compound.peer.ends;
    let server = ends.server.ip().to_canonical();
    let states = &compound.nfs4.states;
    // Before anything is said of the client: it may be another head's.
    states.serve_address(server).map_err(|error| status(&error))?;
    let name = caller.own_name(owner.owner.0);
    let ClientCaller { principal, network } = caller.as_client();
    let (verifier, peer) = (owner.verifier.0, ends.client.ip());
    let identity = ClientIdentity { owner: &name, verifier, principal, peer, network, server };
    let answer = states.judge(|state, now| state.exchange_id(now, identity, flags & UPDATE != 0))?;
    let own = compound.exports.identity();
    let scope = states.cluster().map_or(own, ServingHead::scope);
    reply.write(&Success {
        client: ClientId(answer.client.0),
        sequence: answer.sequence,
        flags: WITHOUT_PNFS | if answer.is_confirmed { CONFIRMED } else { 0 },
        protection: Protection::None,
        owner: ServerOwner { minor: 0, major: Opaque(&own) },
        scope: Opaque(&scope),
        implementation: Some(Implementation {
            domain: Opaque(b"howdah"),
            name: Opaque(concat!("howdah ", env!("CARGO_PKG_VERSION")).as_bytes()),
            date: Time::default(),
        }),
    });
    Ok(())
}
