//! Calls by contexts of RPCSEC_GSS, before they are calls like others; and tokens, which a few threads of their own wait for.

use std::io;
use std::sync::Arc;

use howdah_net::Interest;
use howdah_rpc::server::Record;

use super::Worker;
use super::serve::Turn;
use crate::Reply;
use crate::connection::Connection;
use crate::counts::{Timing, Unheard};
use crate::gss::{Checked, GssDoor, SecuredCall};
use crate::limits::{LONG_PROTECTED, TOKENS_MAX, TOKENS_OF_ONE_MAX};
use crate::parked::Call;

impl Worker {
    /// Answers a call by a context, or for one.
    pub(super) fn answer_secured(
        &mut self,
        connection: &Arc<Connection>,
        door: &GssDoor,
        record: Record,
        timing: &Timing,
    ) -> io::Result<Turn> {
        let checked = door.check(record.bytes());
        if let Checked::Call(secured) = checked {
            return self.open(connection, door, (record, secured), timing);
        }
        // Not for a call that is served: that takes its own, and a buffer that is dropped is one less for the next.
        let mut reply = Reply::with_buffer(self.spare.take());
        match checked {
            // Without a context, a call that names one is refused.
            Checked::Call(_) | Checked::Other => {
                return self.answer_read(connection, (record, None), timing, Turn::Mine);
            }
            Checked::Repeated => {
                self.clerk.unheard(Unheard::Authentication);
                connection.finish_call();
                self.flush(connection)?;
                // Another call than the one that it is taken for, or a client that sends a call again as it was: it would wait for ever.
                return Err(io::Error::other("it sent a call of a Kerberos context twice, or far too late"));
            }
            Checked::Refused(header) => {
                self.clerk.unheard(Unheard::of(&header.outcome));
                reply.start(&header);
            }
            Checked::Ended(secured, header) => GssDoor::answer_bare(&secured, &header, &mut reply),
            Checked::Begin if connection.peer().transport.is_datagrams() => {
                return self.answer_read(connection, (record, None), timing, Turn::Mine);
            }
            Checked::Begin => {
                let call = Call {
                    connection: Arc::clone(connection),
                    message: record.bytes().into(),
                    secured: None,
                    timing: *timing,
                    is_last: false,
                };
                let refused = self.shared.tokens.push_within(call, (TOKENS_OF_ONE_MAX, TOKENS_MAX));
                let is_mine = |call: &Call| call.connection.token() == connection.token();
                if !refused.as_ref().is_some_and(is_mine) {
                    self.buffers.put(record.into_buffer());
                    // Who ended the connection meanwhile may have looked before.
                    if !self.is_there(connection) {
                        self.shared.tokens.forget(connection);
                    }
                    if let Some(call) = refused {
                        door.refuse_busy(&call.message, call.connection.peer(), &mut reply);
                        self.answer_late(&call.connection, reply);
                    }
                    return Ok(Turn::Mine);
                }
                door.refuse_busy(record.bytes(), connection.peer(), &mut reply);
            }
        }
        connection.push(reply);
        connection.finish_call();
        self.buffers.put(record.into_buffer());
        Ok(Turn::Mine)
    }

    /// Checks the arguments of a call, and runs it. What is long keeps its worker, and another one takes the connection.
    fn open(
        &mut self,
        connection: &Arc<Connection>,
        door: &GssDoor,
        (record, mut secured): (Record, SecuredCall),
        timing: &Timing,
    ) -> io::Result<Turn> {
        let mut turn = Turn::Mine;
        if secured.protects_bodies() && self.shared.parallel && record.bytes().len() >= LONG_PROTECTED {
            turn = Turn::HandedOn;
            self.hand_on(connection);
            self.flush(connection)?;
        }
        match door.open(&mut secured, record.bytes(), &mut self.buffers) {
            Ok(None) => self.answer_read(connection, (record, Some(secured)), timing, turn),
            Ok(Some(clear)) => {
                self.buffers.put(record.into_buffer());
                self.answer_read(connection, (clear, Some(secured)), timing, turn)
            }
            Err(header) => {
                self.clerk.unheard(Unheard::of(&header.outcome));
                let mut reply = Reply::with_buffer(self.spare.take());
                GssDoor::answer_bare(&secured, &header, &mut reply);
                connection.push(reply);
                connection.finish_call();
                self.buffers.put(record.into_buffer());
                Ok(turn)
            }
        }
    }

    /// Makes contexts of the tokens that wait, until it is stopped.
    pub fn run_tokens(mut self, door: &GssDoor) {
        self.clerk.sit_down();
        let shared = Arc::clone(&self.shared);
        loop {
            self.clerk.wait();
            let Some(call) = shared.tokens.next() else { break };
            self.clerk.run();
            let Call { connection, message, .. } = call;
            let mut reply = Reply::with_buffer(self.spare.take());
            if self.is_there(&connection) {
                let exports = self.shared.service.exports();
                door.establish(&message, connection.peer(), &exports.map_of_principals(), &mut reply);
            }
            self.answer_late(&connection, reply);
        }
        self.clerk.stand_up();
    }

    /// Answers a call of a connection that no worker has. Nobody waits any more for what a connection that is gone has asked for.
    fn answer_late(&self, connection: &Connection, reply: Reply) {
        let mut outcome = Ok(());
        if self.is_there(connection) {
            connection.push(reply);
            outcome = connection.arm(&self.shared.poller, Interest { readable: false, writable: true });
        }
        connection.finish_call();
        self.settle(connection, outcome);
    }
}
