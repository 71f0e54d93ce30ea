//! Sending: calls of a lane, one after the other, each in one piece.

use std::sync::Arc;
use std::time::Duration;

use howdah_net::{Readiness, Sent, Wait};

use super::call::Call;
use super::lane::Lane;
use super::link::Link;

/// How long to wait for room in the socket before looking whether the connection still is of use.
const TICK: Duration = Duration::from_millis(100);

impl Lane {
    /// Carries a call from now on: sends it, or leaves it for the tender to send once there is a connection.
    pub(super) fn dispatch(self: &Arc<Self>, call: &Arc<Call>) {
        let order = self.order.lock();
        let link = self.enter(call);
        match link {
            Some(link) if !link.is_broken() => self.send(&link, call),
            _ => self.bell.ring(),
        }
        drop(order);
        self.bell.wake_sleeper();
    }

    /// The same, unless another call is just being sent, which then serves as well.
    pub(super) fn try_dispatch(self: &Arc<Self>, call: &Arc<Call>) {
        let Some(order) = self.order.try_lock() else { return };
        if let Some(link) = self.enter(call) {
            self.send(&link, call);
        }
        drop(order);
        // Nobody waits for the answer.
        self.bell.ring();
    }

    /// Connected: everything that waits goes out, in order.
    pub(super) fn connected(self: &Arc<Self>, link: Arc<Link>) {
        let order = self.order.lock();
        self.set_link(Some(Arc::clone(&link)));
        let calls = self.calls();
        self.hand_over();
        for call in calls.iter().filter(|call| !call.is_done()) {
            if link.is_broken() {
                break;
            }
            self.send(&link, call);
        }
        drop(order);
    }

    /// Sends a call. A connection that breaks on the way is the tender's affair: the call is sent again.
    fn send(&self, link: &Link, call: &Call) {
        let before = call.on_send();
        self.hub.on_send(call, before);
        let (mut sent, length) = (0, call.outgoing.length());
        while sent < length {
            match link.connection.send(&call.outgoing.pieces(sent)) {
                Ok(Sent::Bytes(count)) => sent += count,
                Ok(Sent::WouldBlock) if !link.is_broken() => self.wait_for_room(link),
                Ok(Sent::WouldBlock) => return,
                Err(error) => {
                    tracing::debug!(lane = self.index, address = %self.address, %error, "sending");
                    link.break_off();
                    self.bell.ring();
                    return;
                }
            }
        }
    }

    /// The socket is full. A server that cannot get rid of its replies takes no calls, so they are received here if
    /// nobody else does.
    fn wait_for_room(&self, link: &Link) {
        let peer = link.peer.try_lock();
        let wanted = Readiness { readable: peer.is_some(), writable: true };
        let Ok(ready) = link.connection.wait(wanted, TICK) else { return };
        if let Some(mut peer) = peer
            && ready.readable
        {
            self.receive(link, &mut peer, Wait::No);
        }
    }
}
