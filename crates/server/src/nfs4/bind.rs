//! BIND_CONN_TO_SESSION and BACKCHANNEL_CTL: which connections carry what.

use howdah_state::SessionId;
use howdah_wire::nfs4::bind_conn_to_session::{Arguments, GrantedUse, Success, WantedUse};
use howdah_wire::nfs4::{Status, backchannel_ctl};
use howdah_wire::xdr::{Decode, Decoder};

use super::compound::{Compound, Outcome};
use super::create_session::credentials;
use crate::Reply;

/// Answers BIND_CONN_TO_SESSION.
pub fn run(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, reply: &mut Reply) -> Outcome {
    let Arguments { session, direction, .. } = Arguments::decode(arguments)?;
    compound.refuse_other_session(SessionId(session.0))?;
    let is_back = direction != WantedUse::Calls;
    if let Some(line) = compound.line.filter(|_| is_back) {
        compound.nfs4.back.bind(SessionId(session.0), line);
    }
    let direction = match direction {
        WantedUse::Calls => GrantedUse::Calls,
        WantedUse::Callbacks => GrantedUse::Callbacks,
        // Linux closes the connection and tries again unless it gets both.
        WantedUse::CallsOrBoth | WantedUse::CallbacksOrBoth => GrantedUse::Both,
    };
    reply.write(&Success { session, direction, rdma: false });
    Ok(())
}

/// Answers BACKCHANNEL_CTL.
pub fn control(compound: &mut Compound<'_>, arguments: &mut Decoder<'_>, _: &mut Reply) -> Outcome {
    let backchannel_ctl::Arguments { program, security } = backchannel_ctl::Arguments::decode(arguments)?;
    let session = compound.session()?;
    let credentials = credentials(&security).ok_or(Status::INVAL)?;
    compound.nfs4.back.control(session.id(), program, credentials);
    Ok(())
}
