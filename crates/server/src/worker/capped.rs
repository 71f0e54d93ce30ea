//! Replies of calls on their way out: at once, or when the caps of their client let them go.

use std::sync::Arc;
use std::time::Instant;

use howdah_net::{Datagram, Interest};

use super::Worker;
use crate::Reply;
use crate::caps::{Cost, MatchedRules};
use crate::connection::Connection;
use crate::counts::Moment;
use crate::datagram;
use crate::held_replies::{HeldReply, ReplyTarget};
use crate::udp::Port;

impl Worker {
    /// A call is done: queues its reply, or has it held as long as caps say. `received`: the length of the call, in bytes.
    pub(super) fn deliver(&self, connection: &Arc<Connection>, reply: Option<Reply>, received: usize) {
        if let Some(reply) = reply {
            match self.capped(connection, &reply, received) {
                None => connection.push(reply),
                Some(due) => return self.hold(connection, reply, due),
            }
        }
        connection.finish_call();
    }

    /// When a reply may go, if not at once.
    fn capped(&self, connection: &Connection, reply: &Reply, received: usize) -> Option<Instant> {
        let caps = &self.shared.caps;
        if !caps.are_on() {
            return None;
        }
        let export = reply.ticket()?.place.export;
        let cost = Cost { received: received as u64, sent: reply.message_length() as u64 };
        let wait =
            caps.charge(connection.peer(), connection.held().matched(), export, cost, Moment::now())?;
        connection.held().set_rule(wait.rule);
        Some(Instant::now() + wait.time)
    }

    fn hold(&self, connection: &Arc<Connection>, reply: Reply, due: Instant) {
        let target = ReplyTarget::Connection(Arc::clone(connection));
        self.shared.held.push(HeldReply { due, reply, target });
        // A worker that ended the connection meanwhile may have looked before.
        if !self.is_there(connection) {
            self.shared.held.forget(connection);
        }
    }

    /// Has the reply to a datagram held as long as caps say; gives it back if it may go at once. Drops it if too many are held: its client
    /// asks again.
    pub(super) fn hold_datagram(
        &self,
        (port, datagram): (&Arc<Port>, &Datagram),
        reply: Reply,
        received: usize,
    ) -> Option<Reply> {
        let caps = &self.shared.caps;
        let Some(ticket) = reply.ticket().filter(|_| caps.are_on()) else { return Some(reply) };
        let (peer, matched, export) = (datagram.peer(), MatchedRules::default(), ticket.place.export);
        if !self.shared.held.takes_datagrams() && caps.concern(&peer, &matched, export) {
            return None;
        }
        let cost = Cost { received: received as u64, sent: reply.message_length() as u64 };
        let wait = caps.charge(&peer, &matched, export, cost, Moment::now());
        let Some(wait) = wait else { return Some(reply) };
        let target = ReplyTarget::Datagram(Arc::clone(port), *datagram);
        self.shared.held.push(HeldReply { due: Instant::now() + wait.time, reply, target });
        None
    }

    /// Sends replies when they are due, until the server stops.
    pub fn run_held(mut self) {
        self.clerk.sit_down();
        let shared = Arc::clone(&self.shared);
        loop {
            self.clerk.wait();
            let Some(HeldReply { reply, target, .. }) = shared.held.next() else { break };
            self.clerk.run();
            match target {
                ReplyTarget::Connection(connection) => self.release(&connection, reply),
                ReplyTarget::Datagram(port, datagram) => {
                    let used = datagram::send(&mut self.clerk, (&port, &datagram), reply);
                    self.spare.put(used);
                }
            }
        }
        self.clerk.stand_up();
    }

    /// Another worker sends it: a socket or a disk that is slow must not hold the next one.
    fn release(&self, connection: &Arc<Connection>, reply: Reply) {
        let mut outcome = Ok(());
        if self.is_there(connection) {
            connection.push(reply);
            outcome = connection.arm(&self.shared.poller, Interest { readable: false, writable: true });
        }
        connection.finish_call();
        self.settle(connection, outcome);
    }
}
