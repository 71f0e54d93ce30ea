//! How a context is made: a token to the server in a NULL call, one back, and the first signature (RFC 2203 5.2).

use std::sync::{Arc, Weak};

use howdah_gss::GssContext;
use howdah_wire::rpc::{Credentials, GssCredential, GssInit, GssInitResult, GssProcedure};
use howdah_wire::xdr::{Decode, Decoder};

use super::context::ClientContext;
use super::init::InitialCall;
use super::plan::ContextPlan;
use crate::channel::{CallError, Channel, KerberosError, Request};

/// What the server says of a context before its client has the key.
struct Offered {
    handle: Vec<u8>,
    window: u32,
    mic: Vec<u8>,
}

/// What MIT Kerberos says of a request that it has seen before (`KRB5KRB_AP_ERR_REPEAT`).
const SEEN_BEFORE: u32 = -1_765_328_350_i32 as u32;
/// So often a context is asked for if the server has seen the request before.
const TRIES: usize = 2;

/// Makes a context of this user. Gives how far its calls may be behind each other, too.
pub(super) fn establish(
    channel: &Weak<Channel>,
    plan: &ContextPlan,
    user: u32,
) -> Result<(ClientContext, u32), KerberosError> {
    let mut outcome = once(channel, plan, user);
    for _ in 1..TRIES {
        // The first answer was lost, with a connection or a helper of the server. Another request is another token.
        if !matches!(outcome, Err(KerberosError::Refused { minor: SEEN_BEFORE, .. })) {
            break;
        }
        outcome = once(channel, plan, user);
    }
    outcome
}

fn once(
    channel: &Weak<Channel>,
    plan: &ContextPlan,
    user: u32,
) -> Result<(ClientContext, u32), KerberosError> {
    let mut offered = None;
    let made = plan.tickets.establish(user, &plan.target, &mut |token| {
        let (offer, token) = initiate(channel, plan, token)?;
        offered = Some(offer);
        Ok(token)
    })?;
    let Some(Offered { handle, window, mic }) = offered else { return Err(KerberosError::NotGenuine) };
    let keys = GssContext::new(&made.lucid);
    keys.verify(&[&window.to_be_bytes()], &mic).map_err(|_| KerberosError::NotGenuine)?;
    tracing::debug!(user, client = made.client, window, enctype = %keys.enctype(), "a Kerberos context is made");
    Ok((ClientContext::new(&made.lucid, keys, handle), window))
}

/// Takes the token to the server.
fn initiate(
    channel: &Weak<Channel>,
    plan: &ContextPlan,
    token: &[u8],
) -> Result<(Offered, Vec<u8>), KerberosError> {
    let (procedure, service) = (GssProcedure::Init, plan.service);
    let credential = GssCredential { procedure, sequence: 0, service, handle: &[] };
    let call = Arc::new(InitialCall::default());
    let request = Request {
        credentials: Credentials::Gss(credential),
        arguments: &GssInit { token },
        protection: Ok(Some(Arc::clone(&call) as _)),
        ..Request::null(plan.program.0, plan.program.1)
    };
    // What waits for the answer does not keep the channel open.
    let started = channel.upgrade().map(|channel| channel.start(request));
    let answer = started.map_or(Err(CallError::Closed), |pending| pending.wait()).map_err(no_answer)?;
    let result =
        GssInitResult::decode(&mut Decoder::new(&answer.results)).map_err(KerberosError::Malformed)?;
    match result {
        GssInitResult { major: 0, handle, window, token, .. } => {
            let offered = Offered { handle: handle.to_vec(), window, mic: call.take_mic() };
            Ok((offered, token.to_vec()))
        }
        GssInitResult { major, minor, .. } => Err(KerberosError::Refused { major, minor }),
    }
}

fn no_answer(error: CallError) -> KerberosError {
    let is_late = matches!(error, CallError::TimedOut | CallError::Away);
    KerberosError::NoAnswer { cause: error.to_string(), is_late }
}
