//! Calls before the gate of an export that has as many as may wait for its storage.

use std::io;
use std::sync::Arc;

use howdah_rpc::server::Record;

use super::Worker;
use super::serve::Turn;
use crate::connection::Connection;
use crate::counts::Timing;
use crate::dispatch::{self, Job, Work};
use crate::gates::Refused;
use crate::parked::Call;
use crate::shared::Source;

impl Worker {
    /// The export whose gate a call finds shut.
    pub(super) fn shut_gate(&self, job: &Job<'_>) -> Option<u16> {
        if !self.shared.gates.any_shut() {
            return None;
        }
        let place = self.shared.service.exports().place_of(job.node()?)?;
        self.shared.gates.is_shut(place).then_some(place)
    }

    /// Lets a call wait before a gate. If too many do, it is answered that it must be asked again later.
    pub(super) fn wait_at_gate(
        &mut self,
        connection: &Arc<Connection>,
        export: u16,
        record: Record,
        timing: &Timing,
    ) {
        let message = record.bytes().into();
        self.buffers.put(record.into_buffer());
        let call = Call { connection: Arc::clone(connection), message, timing: *timing, is_last: false };
        match self.shared.gates.wait(export, call) {
            // Who ended the connection meanwhile may have looked before.
            Ok(()) if !self.is_there(connection) => self.shared.gates.leave(connection),
            Ok(()) => {}
            Err(Refused::Open(call)) => self.run_waiting(&call, false),
            Err(Refused::Full(call)) => self.run_waiting(&call, true),
        }
    }

    /// A call ended: if others wait before the gate of its export, this worker has one of them to run.
    pub(super) fn come_back(&mut self) -> bool {
        if !self.shared.gates.any_shut() {
            return false;
        }
        let export = self.clerk.last_export();
        self.came_back = self.shared.gates.is_shut(export).then_some(export);
        self.came_back.is_some()
    }

    /// Runs what waits before gates, as far as it may.
    pub(super) fn let_in(&mut self) {
        if !self.shared.gates.any_shut() {
            self.came_back = None;
            return;
        }
        loop {
            let mine = self.came_back.take().and_then(|export| self.shared.gates.next_of(export));
            let Some(call) = mine.or_else(|| self.permitted()) else { return };
            self.run_waiting(&call, false);
            self.come_back();
        }
    }

    /// A call that may go in besides; another worker finds whether there is one more.
    fn permitted(&self) -> Option<Call> {
        let call = self.shared.gates.next_permitted()?;
        self.shared.waker.wake();
        Some(call)
    }

    fn run_waiting(&mut self, call: &Call, put_off: bool) {
        let Call { connection, message, timing, .. } = call;
        let mut outcome = io::Result::Ok(());
        // Nobody waits any more for what a connection that is gone has asked for.
        if let Work::Run(mut job) = dispatch::read(self.shared.programs, message)
            && self.is_there(connection)
        {
            if put_off {
                job.put_off();
            }
            if let Some(reply) = self.run_job(connection, (&job, job.pace()), Turn::HandedOn, timing) {
                connection.push(reply);
            }
            connection.finish_call();
            outcome = self.flush(connection);
        }
        self.settle(connection, outcome);
    }

    fn is_there(&self, connection: &Connection) -> bool {
        matches!(self.shared.source(connection.token()), Source::Connection(_))
    }
}
