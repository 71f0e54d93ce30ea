//! Receiving on a lane: what came is given to those who wait for it.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use howdah_net::{Place, Sent, Wait};
use howdah_rpc::client::core::AnswerEffect;
use howdah_rpc::client::envelope::{CallEnd, ResultsCover};
use howdah_rpc::client::{Peer, PeerError, Reply, StreamRecord};

use super::lane::Lane;
use super::link::Link;
use super::shared::Shared;
use super::{Answer, CallError};

/// Data from this length on is waited for in the kernel until all of it is there: fewer system calls.
const WAIT_FOR_ALL: usize = 32 << 10;
/// So many replies to calls of the server may wait to be sent. Beyond that its calls are not answered.
const REPLIES_MAX: usize = 256;

/// What a receive came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// Something came, by now.
    Some(Instant),
    /// Nothing yet.
    None,
    /// The connection is over.
    Over,
}

/// Receives once, and gives out the records that are whole.
pub(super) fn receive(
    shared: &Arc<Shared>,
    lane: &Lane,
    link: &Link,
    peer: &mut Peer,
    wait: Wait,
) -> Progress {
    let expects_data = shared.driver.core().expects_data(lane.index);
    let progress = match receive_bytes(link, peer, wait, expects_data) {
        Ok(Sent::Bytes(0)) => {
            tracing::debug!(lane = lane.index, address = %lane.address(), "the server closed the connection");
            Progress::Over
        }
        Ok(Sent::Bytes(count)) => {
            let now = Instant::now();
            let time = shared.driver.time_at(now);
            shared.decide(|core| core.on_heard(Some(lane.index), count, time));
            match give_out(shared, (lane, link), peer, now) {
                Ok(()) => {
                    link.set_mid_reply(peer.is_partial());
                    Progress::Some(now)
                }
                Err(error) => {
                    // Of what is no RPC, the calls' outcome says it.
                    if !matches!(error, PeerError::NotRpc(_)) {
                        tracing::warn!(lane = lane.index, address = %lane.address(), %error, "receiving");
                    }
                    shared.decide(|core| core.on_nonsense(lane.index, error, time));
                    Progress::Over
                }
            }
        }
        Ok(Sent::WouldBlock) => Progress::None,
        Err(error) => {
            tracing::debug!(lane = lane.index, address = %lane.address(), %error, "receiving");
            Progress::Over
        }
    };
    if progress == Progress::Over {
        shared.break_off(lane, link);
    }
    progress
}

fn give_out(
    shared: &Arc<Shared>,
    (lane, link): (&Lane, &Link),
    peer: &mut Peer,
    now: Instant,
) -> Result<(), PeerError> {
    while let Some(record) = peer.poll(|xid| shared.driver.core().claim(Some(lane.index), xid))? {
        match record {
            StreamRecord::Reply(reply) if reply.cover == ResultsCover::None => {
                on_answer(shared, (lane, link), (reply.xid, Answer::from_reply(reply)), now);
            }
            StreamRecord::Reply(reply) => on_covered(shared, (lane, link), reply, now)?,
            StreamRecord::Call(call) => {
                let answer_call = shared.answer_call.as_ref().ok_or(PeerError::UnexpectedCall)?;
                let reply = answer_call(&call);
                let mut replies = lane.replies.lock();
                // A server that takes none of them need not get all. Calls of ours still go out, and are answered.
                if replies.len() < REPLIES_MAX {
                    replies.extend(reply);
                }
            }
        }
    }
    Ok(())
}

/// A reply whose call is protected counts only if it is genuine.
fn on_covered(
    shared: &Arc<Shared>,
    (lane, link): (&Lane, &Link),
    mut reply: Reply,
    now: Instant,
) -> Result<(), PeerError> {
    let xid = reply.xid;
    let call = shared.driver.core().covered_call(lane.index, xid);
    // It is over by now, or another lane carries it.
    let Some(call) = call else { return Ok(()) };
    let Some(protection) = call.protection() else { return Err(PeerError::NotGenuine) };
    if let Err(error) = reply.open(protection) {
        let buffer = reply.received.map(|(buffer, _)| buffer);
        shared.driver.core().return_buffer(xid, buffer);
        return Err(error);
    }
    let answer = match Answer::denied(&mut reply, protection) {
        Some(denied) => Err(denied),
        None => Answer::from_reply(reply),
    };
    on_answer(shared, (lane, link), (xid, answer), now);
    Ok(())
}

fn on_answer(
    shared: &Arc<Shared>,
    (lane, link): (&Lane, &Link),
    (xid, mut answer): (u32, Result<Answer, CallError>),
    now: Instant,
) {
    let moved = |volume| answer.as_ref().ok().map(|answer| answer.moved(volume));
    let time = shared.driver.time_at(now);
    let end = match &answer {
        Ok(answer) => CallEnd::Ran(&answer.results),
        Err(error) => error.end(),
    };
    let answered = shared.decide(|core| core.on_answer(Some(lane.index), xid, (moved, end), time));
    let answered = match answered {
        AnswerEffect::Call(answered) => answered,
        AnswerEffect::Again => {
            let buffer = match answer {
                Ok(answer) => answer.received.map(|(buffer, _)| buffer),
                Err(CallError::NewKeys { buffer, .. }) => buffer,
                Err(_) => None,
            };
            return shared.driver.core().return_buffer(xid, buffer);
        }
        AnswerEffect::GivenUp(call) => return call.on_late(&answer),
        AnswerEffect::Nothing => return,
    };
    if answered.call.invites_calls && answer.is_ok() {
        link.expect_calls(true);
        lane.wakeup.wake();
    }
    tracing::trace!(xid, procedure = ?answered.procedure, took = ?answered.took, is_ok = answer.is_ok(), "answered");
    match &mut answer {
        Ok(answer) => answer.sent_more_than_once = answered.sends > 1,
        Err(CallError::NewKeys { may_have_run, .. }) => *may_have_run = answered.sends > 1,
        Err(_) => {}
    }
    answered.call.finish(answer);
}

fn receive_bytes(link: &Link, peer: &mut Peer, wait: Wait, bulk: bool) -> io::Result<Sent> {
    let room = peer.room(bulk);
    let first = Place { buffer: room.first, most: room.most };
    if room.is_promised && room.most >= WAIT_FOR_ALL && wait == Wait::Some {
        return link.connection.receive(&mut [first], Wait::All);
    }
    match room.next {
        Some((buffer, most)) => link.connection.receive(&mut [first, Place { buffer, most }], wait),
        None => link.connection.receive(&mut [first], wait),
    }
}
