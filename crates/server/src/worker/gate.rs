//! Calls before the gate of an export that has as many as may wait for its storage.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::Worker;
use super::serve::Turn;
use crate::connection::Connection;
use crate::counts::Timing;
use crate::dispatch::{DispatchJob, Work};
use crate::exports::{Export, Exports, UserGroups};
use crate::gates::{Asker, QueuedCall, Refused, Weighed};
use crate::gss::SecuredCall;
use crate::limits::GATE_CALLS_OF_ONE_MAX;
use crate::outline::ReplyPace;
use crate::shared::Source;
use crate::{Peer, Transport};

impl Worker {
    /// The export whose gate a call finds shut.
    pub(super) fn shut_gate(&self, job: &DispatchJob<'_>) -> Option<u16> {
        if !self.shared.gates.any_shut() {
            return None;
        }
        let exports = self.shared.service.exports();
        let place = export_of(&exports, job)?.place();
        self.shared.gates.is_shut(place).then_some(place)
    }

    /// Whether a call may keep its worker waiting: as its procedure has it, and always where its file system waits for another
    /// host.
    pub(super) fn pace(&self, job: &DispatchJob<'_>, peer: &Peer) -> ReplyPace {
        if self.shared.service.any_waits() && self.is_far(job, peer) {
            ReplyPace::Slow
        } else {
            job.outline.pace
        }
    }

    /// Whether a call waits for another host: the file system of its node does, or its caller's groups are asked for, the user of its
    /// client's certificate, or its client's name.
    pub(super) fn is_far(&self, job: &DispatchJob<'_>, peer: &Peer) -> bool {
        let exports = self.shared.service.exports();
        let asks = |groups: &UserGroups| job.user().is_some_and(|user| groups.must_ask(user, Instant::now()));
        let user = peer.certificate.as_ref().and_then(|certificate| certificate.user.as_ref());
        let asks_holder = |export: &Export| {
            let asks =
                |accounts: &UserGroups| user.is_some_and(|user| accounts.must_ask_name(user, Instant::now()));
            export.accounts().is_some_and(asks)
        };
        let asks_principal = || {
            job.secured()
                .is_some_and(|secured| exports.must_look_up(secured.context().principal(), Instant::now()))
        };
        exports.groups().is_some_and(asks)
            || asks_principal()
            || exports.must_ask_name(peer.ends.client.ip())
            || export_of(&exports, job).is_some_and(|export| export.waits() || asks_holder(export))
    }

    /// Lets a call wait before a gate. If too many do, it is answered that it must be asked again later.
    pub(super) fn wait_at_gate(
        &mut self,
        export: u16,
        (message, secured): (&[u8], Option<SecuredCall>),
        timing: &Timing,
        asker: Asker,
    ) {
        let has_many = match &asker {
            Asker::Connection(connection) => {
                connection.in_line().fetch_add(1, Ordering::Relaxed) >= GATE_CALLS_OF_ONE_MAX
            }
            Asker::Datagram(..) => false,
        };
        let call = QueuedCall { message: message.into(), secured, timing: *timing, asker };
        if has_many {
            return self.run_queued(&call, true);
        }
        let weight = self.shared.weights.of(call.client());
        match self.shared.gates.wait(export, call, weight) {
            Ok(()) => {}
            Err(Refused::Open(call)) => self.run_queued(&call, false),
            Err(Refused::Full(call)) => self.run_queued(&call, true),
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
            self.run_queued(&call, false);
            self.come_back();
        }
    }

    /// A call that may go in besides; another worker finds whether there is one more.
    fn permitted(&self) -> Option<QueuedCall> {
        let call = self.shared.gates.next_permitted()?;
        self.shared.waker.wake();
        Some(call)
    }

    fn run_queued(&mut self, call: &QueuedCall, put_off: bool) {
        let QueuedCall { message, secured, timing, asker } = call;
        let transport = match asker {
            Asker::Connection(connection) => connection.peer().transport,
            Asker::Datagram(..) => Transport::Udp,
        };
        let mut work = self.shared.service.dispatcher.read(message, secured.as_ref(), transport);
        if let Work::Run(job) = &mut work
            && put_off
        {
            job.put_off();
        }
        match asker {
            Asker::Connection(connection) => {
                connection.in_line().fetch_sub(1, Ordering::Relaxed);
                self.run_for(connection, &work, timing);
            }
            Asker::Datagram(port, datagram) => self.run_datagram((port, datagram), work, timing),
        }
    }

    fn run_for(&mut self, connection: &Arc<Connection>, work: &Work<'_>, timing: &Timing) {
        let mut outcome = Ok(());
        // Nobody waits any more for what a connection that is gone has asked for.
        if let Work::Run(job) = work
            && self.is_there(connection)
        {
            let reply = self.run_job(connection, job, Turn::HandedOn, timing);
            self.deliver(connection, reply, timing.received);
            outcome = self.flush(connection);
        }
        self.settle(connection, outcome);
    }

    pub(super) fn is_there(&self, connection: &Connection) -> bool {
        matches!(self.shared.source(connection.token()), Source::Connection(_))
    }
}

/// The export that a call is for, by the path or the handle in its arguments.
fn export_of<'e>(exports: &'e Exports, job: &DispatchJob<'_>) -> Option<&'e Export> {
    match job.outline.path {
        Some(path) => exports.find_path(path).map(|(export, _)| export),
        None => exports.of(job.node()?),
    }
}
