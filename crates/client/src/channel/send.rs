//! Sending: calls of a lane, one after the other, each in one piece.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_net::{Readiness, Sent, Wait};
use howdah_rpc::client::{Next, Peer};

use super::call::Call;
use super::lane::Lane;
use super::link::Link;
use super::payload::{self, SendError};
use super::{CallError, Payload};

/// How long to wait for room in the socket before looking whether the connection still is of use.
const TICK: Duration = Duration::from_millis(100);

/// How many calls one thread sends before it leaves the rest to the tender: it has a reply of its own to wait for.
const TURN: usize = 16;

impl Lane {
    /// A call that it carries may go out now, after those that may already.
    pub(super) fn send_next(&self, call: &Arc<Call>, now: Instant) {
        self.ready.lock().push_back(Arc::clone(call));
        self.flush(None, now);
    }

    /// Sends the calls that may go out, unless another thread does. `peer` is that of the connection, if this thread leads.
    pub(super) fn flush(&self, mut peer: Option<&mut Peer>, mut now: Instant) {
        while !self.ready.lock().is_empty() {
            // Who holds it looks for more after giving it up.
            let Some(order) = self.order.try_lock() else { return };
            for _ in 0..TURN {
                let next = self.ready.lock().pop_front();
                let Some(call) = next else { break };
                // Without a connection, the tender sends it once there is one.
                if let Some(link) = self.live_link()
                    && self.carries(&call)
                {
                    self.send(&link, &call, peer.as_deref_mut(), &mut now);
                }
            }
            drop(order);
            if !self.ready.lock().is_empty() {
                self.bell.ring();
                return;
            }
        }
    }

    /// Connected: everything that may be in flight goes out, in order.
    pub(super) fn connected(&self, link: Arc<Link>) {
        let order = self.order.lock();
        let mut now = Instant::now();
        self.set_link(Some(Arc::clone(&link)));
        self.ready.lock().clear();
        let calls = self.calls();
        self.hand_over();
        for call in calls.iter().filter(|call| call.is_to_be_sent()) {
            if link.is_broken() {
                break;
            }
            self.send(&link, call, None, &mut now);
        }
        drop(order);
        self.flush(None, now);
    }

    /// Sends a call, unless it was sent on this connection already. A connection that breaks on the way is the tender's
    /// affair: the call is sent again. `now` is brought up to date where that takes time.
    fn send(&self, link: &Link, call: &Call, mut peer: Option<&mut Peer>, now: &mut Instant) {
        let Some(before) = call.on_send(link.number, *now) else { return };
        self.hub.on_send(call, before);
        let (mut sent, length) = (0, call.outgoing.length());
        while sent < length {
            let went = match call.outgoing.next(sent) {
                Next::Pieces { pieces, more } => link.connection.send(&pieces, more),
                Next::Payload(payload, from) => match send_payload(link, payload, from) {
                    Err(SendError::Source(error)) => return self.on_lost_payload(link, call, error, *now),
                    Err(SendError::Connection(error)) => Err(error),
                    Ok(sent) => Ok(sent),
                },
            };
            match went {
                Ok(Sent::Bytes(count)) => sent += count,
                Ok(Sent::WouldBlock) if !link.is_broken() && !self.hub.is_closing() => {
                    self.wait_for_room(link, peer.as_deref_mut());
                    *now = Instant::now();
                    // Nobody else may look while this thread waits. It cannot ask: it is in the middle of a call.
                    self.look_at_path(link, *now, false);
                    self.look_after_calls();
                }
                Ok(Sent::WouldBlock) => return,
                Err(error) => {
                    tracing::debug!(lane = self.index, address = %self.address(), %error, "sending");
                    link.break_off();
                    self.bell.ring();
                    return;
                }
            }
        }
    }

    /// What was promised of a call cannot be sent, after part of it was: the call is over, and the connection with it, since
    /// nothing else would be understood there. The others are sent again on the next one.
    fn on_lost_payload(&self, link: &Link, call: &Call, error: io::Error, now: Instant) {
        tracing::warn!(lane = self.index, %error, "reading the data to send");
        if self.give_up(call.xid, now).is_some() {
            self.hub.finish(call, Err(CallError::Payload(Arc::new(error))), now);
        }
        link.break_off();
        self.bell.ring();
    }

    /// The socket is full. A server that cannot get rid of its replies takes no calls, so they are received here if
    /// nobody else does.
    fn wait_for_room(&self, link: &Link, peer: Option<&mut Peer>) {
        let mut ours = if peer.is_none() { link.peer.try_lock() } else { None };
        let peer = peer.or(ours.as_deref_mut());
        let wanted = Readiness { readable: peer.is_some(), writable: true };
        let Ok(ready) = link.connection.wait(wanted, TICK) else { return };
        if let Some(peer) = peer
            && ready.readable
        {
            self.receive(link, peer, Wait::No);
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
