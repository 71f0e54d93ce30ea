//! Sending: calls of a lane, one after the other, each in one piece.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_net::{Readiness, Sent, Wait};
use howdah_rpc::client::core::CallToSend;
use howdah_rpc::client::{NextOutgoing, Peer, SealBuffer};
use howdah_wire::rpc::RecordMark;

use super::call::Call;
use super::lane::Lane;
use super::link::Link;
use super::lost_path::look_at_path;
use super::payload::{self, SendError};
use super::receive::receive;
use super::shared::Shared;
use super::{CallError, Payload};

/// How long to wait for room in the socket before looking whether the connection still is of use.
const TICK: Duration = Duration::from_millis(100);

/// How many calls one thread sends before it leaves the rest to the lane's thread: it has a reply of its own to wait for.
const TURN: usize = 16;

/// What goes out on a lane, until another call may take its place.
struct Turn<'t> {
    shared: &'t Arc<Shared>,
    lane: &'t Lane,
    link: &'t Link,
    /// Of the connection, if this thread leads.
    peer: Option<&'t mut Peer>,
    /// Brought up to date where sending takes time.
    now: Instant,
}

/// Sends the calls that may go out, unless another thread does. `peer` is that of the connection, if this thread leads.
pub(super) fn flush(shared: &Arc<Shared>, lane: &Lane, mut peer: Option<&mut Peer>, now: Instant) {
    while shared.has_unsent(lane) {
        // Its holder looks for more calls after the release.
        let Some(mut desk) = lane.desk.try_lock() else { return };
        match lane.live_link() {
            Some(link) => {
                Turn { shared, lane, link: &link, peer: peer.as_deref_mut(), now }.take(&mut desk);
            }
            // All that may be in flight is sent once there is a connection.
            None => return,
        }
        drop(desk);
        if shared.has_unsent(lane) {
            lane.wakeup.wake();
            return;
        }
    }
}

impl Turn<'_> {
    fn take(&mut self, desk: &mut SealBuffer) {
        for _ in 0..TURN {
            let replies = std::mem::take(&mut *self.lane.replies.lock());
            if !replies.is_empty() {
                self.send_replies(&replies);
                continue;
            }
            let time = self.shared.driver.time_at(self.now);
            let next = self.shared.driver.core().poll_send(self.lane.index, time);
            let Some(sending) = next else { return };
            self.send(&sending, desk);
        }
    }

    /// Sends a call. A connection that breaks on the way is the lane thread's affair: the call is sent again.
    fn send(&mut self, sending: &CallToSend<Arc<Call>>, desk: &mut SealBuffer) {
        let CallToSend { call, procedure, before, ticket } = sending;
        if *before > 0 {
            tracing::debug!(xid = call.xid, ?procedure, replay = ?call.replay, before, "sending again");
        }
        let envelope = call.seal(*ticket, desk);
        let (mut sent, length) = (0, envelope.length());
        while sent < length {
            let went = match envelope.next(sent) {
                NextOutgoing::Pieces { pieces, more } => self.link.connection.send(&pieces, more),
                NextOutgoing::Payload(payload, from) => match send_payload(self.link, payload, from) {
                    Err(SendError::Source(error)) => return self.on_lost_payload(call, error),
                    Err(SendError::Connection(error)) => Err(error),
                    Ok(sent) => Ok(sent),
                },
            };
            match self.on_sent(went) {
                Some(count) => sent += count,
                None => return,
            }
        }
    }

    /// Sends the replies to calls of the server.
    fn send_replies(&mut self, replies: &VecDeque<Vec<u8>>) {
        let mut records = Vec::new();
        for reply in replies {
            let mark = RecordMark { length: reply.len() as u32, last: true };
            records.extend_from_slice(&mark.to_bytes());
            records.extend_from_slice(reply);
        }
        let mut sent = 0;
        while sent < records.len() {
            let went = self.link.connection.send(&[IoSlice::new(&records[sent..])], false);
            match self.on_sent(went) {
                Some(count) => sent += count,
                None => return,
            }
        }
    }

    /// How many bytes went; none if the connection is of no use any more.
    fn on_sent(&mut self, went: io::Result<Sent>) -> Option<usize> {
        match went {
            Ok(Sent::Bytes(count)) => Some(count),
            Ok(Sent::WouldBlock) if self.link.is_broken() || self.shared.driver.is_closing() => None,
            Ok(Sent::WouldBlock) => {
                self.wait_for_room();
                self.now = Instant::now();
                // Nobody else may look while this thread waits. It cannot ask: it is in the middle of a call.
                look_at_path(self.shared, self.lane, self.link, self.now, false);
                let time = self.shared.driver.time_at(self.now);
                self.shared.decide(|core| core.look_after_calls(self.lane.index, time));
                Some(0)
            }
            Err(error) => {
                tracing::debug!(lane = self.lane.index, address = %self.lane.address(), %error, "sending");
                self.shared.break_off(self.lane, self.link);
                None
            }
        }
    }

    /// What was promised of a call cannot be sent, after part of it was: the call is over, and the connection with it, since
    /// nothing else would be understood there. The others are sent again on the next one.
    fn on_lost_payload(&self, call: &Call, error: io::Error) {
        tracing::warn!(lane = self.lane.index, %error, "reading the data to send");
        let time = self.shared.driver.time_at(self.now);
        if self.shared.decide(|core| core.abort(call.xid, time)) {
            call.finish(Err(CallError::Payload(Arc::new(error))));
        }
        self.shared.break_off(self.lane, self.link);
    }

    /// The socket is full. A server that cannot get rid of its replies takes no calls, so they are received here if
    /// nobody else does.
    fn wait_for_room(&mut self) {
        let mut ours = if self.peer.is_none() { self.link.peer.try_lock() } else { None };
        let peer = self.peer.as_deref_mut().or(ours.as_deref_mut());
        let wanted = Readiness { readable: peer.is_some(), writable: true };
        let Ok(ready) = self.link.connection.wait(wanted, TICK) else { return };
        if let Some(peer) = peer
            && ready.readable
        {
            receive(self.shared, self.lane, self.link, peer, Wait::No);
        }
    }
}

/// Sends what is in a file from here on, as much as the kernel takes now.
fn send_payload(link: &Link, payload: &Payload, from: usize) -> Result<Sent, SendError> {
    let Payload::File { file, offset, length } = payload else {
        unreachable!("what lies in memory goes with its head")
    };
    payload::send_file(&link.connection, file, offset + from as u64, length - from)
}
