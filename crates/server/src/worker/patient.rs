//! Dear calls: charged to the client that asks, and of one that has had more than its share run by threads to which the kernel
//! gives what others leave. While nobody else wants the processors, that is all there is.

use std::sync::Arc;
use std::time::Duration;

use howdah_net::Interest;
use howdah_rpc::server::Record;
use rustix::process::getpriority_process;
use rustix::time::{ClockId, clock_gettime};

use super::Worker;
use super::serve::Turn;
use crate::Reply;
use crate::connection::Connection;
use crate::counts::{Moment, Timing};
use crate::dispatch::Whence;
use crate::dispatch::{DispatchJob, Work};
use crate::gss::SecuredCall;
use crate::limits::PARKED_MAX;
use crate::outline::ReplyPace;
use crate::parked::Call;
use crate::reply_cache::Origin;

/// How much less than others these threads have of a processor that others want too: about a tenth of it is left to one
/// (sched(7): each step is a factor of 1.25). They may not have much less, nor be many: what holds a lock and has no processor
/// keeps others waiting.
const NICENESS: i32 = 10;

impl Worker {
    /// Whether a call is dear, and its client has had more than its share.
    pub(super) fn is_too_dear(&self, connection: &Connection, job: &DispatchJob<'_>) -> bool {
        job.outline.is_dear && self.shared.shares.is_over(connection.peer().ends.client.ip(), Moment::now())
    }

    /// How many bytes of the message of a dear call are kept while it waits for those who are patient: of a compound all that it says.
    /// `None`: it does not wait there, since that is too much or keeps its worker waiting.
    pub(super) fn kept_of(job: &DispatchJob<'_>, length: usize) -> Option<usize> {
        let needed = match &job.outline.compound {
            Some(opening) => opening.as_ref().ok().and_then(|opening| opening.end).unwrap_or(length),
            None => length.min(PARKED_MAX),
        };
        (job.outline.pace == ReplyPace::Dear && needed <= PARKED_MAX).then_some(needed)
    }

    /// Leaves a call to those who are patient, with so many bytes of its message. The worker goes on with the connection, unless one
    /// of it waits already.
    pub(super) fn park(
        &mut self,
        connection: &Arc<Connection>,
        record: Record,
        secured: Option<SecuredCall>,
        kept: usize,
        timing: &Timing,
    ) -> Turn {
        let is_last = !connection.park();
        let message = record.bytes()[..kept].into();
        self.buffers.put(record.into_buffer());
        self.shared.park(Call {
            connection: Arc::clone(connection),
            message,
            secured,
            timing: *timing,
            is_last,
        });
        if is_last { Turn::HandedOn } else { Turn::Mine }
    }

    /// Runs what is parked, until it is stopped.
    pub fn run_patiently(mut self) {
        // A server that was started nicer than that is to stay so, and without privilege there is no way back.
        let is_nice = getpriority_process(None).is_ok_and(|niceness| niceness >= NICENESS);
        if !is_nice && let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
            tracing::warn!(%error, "calls of clients that list too much are not run behind others");
        }
        self.clerk.sit_down();
        let shared = Arc::clone(&self.shared);
        loop {
            self.clerk.wait();
            let Some(call) = shared.parked.next() else { break };
            self.clerk.run();
            self.run_parked(call);
        }
        self.clerk.stand_up();
    }

    fn run_parked(&mut self, Call { connection, message, secured, timing, is_last }: Call) {
        // Nobody waits any more for what a connection that is gone has asked for.
        let is_there = self.is_there(&connection);
        let mut outcome = Ok(());
        let mut reply = None;
        let transport = connection.peer().transport;
        let mut work = self.shared.service.dispatcher.read(&message, secured.as_ref(), transport);
        if let Work::Run(job) = &mut work
            && is_there
        {
            job.came_in(timing.received);
            reply = self.run_job(&connection, job, Turn::HandedOn, &timing);
        }
        let is_answered = reply.is_some();
        self.deliver(&connection, reply, timing.received);
        if is_answered {
            // Another sends it: what waits beside it would go out as slowly as we run.
            outcome = connection.arm(&self.shared.poller, Interest { readable: false, writable: true });
        }
        connection.unpark();
        if is_last && outcome.is_ok() {
            self.shared.hand_on(Arc::clone(&connection));
        }
        self.settle(&connection, outcome);
    }

    /// Runs a call, and charges its client if it is dear.
    pub(super) fn run_charged(
        &mut self,
        connection: &Connection,
        job: &DispatchJob<'_>,
        timing: &Timing,
    ) -> Option<Reply> {
        let before = job.outline.is_dear.then(own_time);
        let (shared, peer, buffer) = (&self.shared, connection.peer(), self.spare.take());
        let has_ended = |token| shared.has_ended_in_order(token);
        let from = Whence { peer, origin: Origin::connection(connection.token()), has_ended: &has_ended };
        let dispatcher = &shared.service.dispatcher;
        let reply = dispatcher.carry_out(&mut self.clerk, job, &from, timing, None, buffer);
        if let Some(before) = before {
            shared.shares.charge(peer.ends.client.ip(), own_time().saturating_sub(before), Moment::now());
        }
        reply
    }
}

/// What this thread has had of the processors: who waits for a disk, or for others, uses none.
fn own_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use howdah_net::probe_host;
    use howdah_tune::budget::HostMemory;
    use howdah_tune::{Settings, Tuner};
    use howdah_wire::nfs3::{self, FileHandle, getattr, readdirplus};
    use howdah_wire::nfs4::compound::Head;
    use howdah_wire::nfs4::{self, putfh, readdir, sequence};
    use howdah_wire::rpc::{CallHeader, Credentials, RecordMark};
    use howdah_wire::xdr::{Encode, Encoder};

    use super::*;
    use crate::connection::tests::connected;
    use crate::service::Service;
    use crate::shared::Shared;

    /// A worker, a connection of which a client has sent this, and the client. The client has had more than its share.
    fn receiving(sent: &[u8]) -> (Worker, Arc<Connection>, TcpStream) {
        let memory = HostMemory { total: 8 << 30, tcp: [1 << 30; 3], group: None };
        let settings = Settings::automatic(probe_host().expect("a socket"), memory);
        let service = Service::new(Default::default());
        let shared = Shared::new(service, Vec::new(), Tuner::new(settings)).expect("descriptors");
        let (stream, mut client) = connected();
        client.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
        client.write_all(sent).expect("sending");
        while stream.waiting().expect("a socket") < sent.len() {}
        shared.shares.charge(
            stream.peer().ends.client.ip(),
            Duration::from_secs(9 * shared.processors as u64),
            Moment::now(),
        );
        shared.add(stream).expect("taken in");
        let connection = shared.connections().pop().expect("it");
        (Worker::new(Arc::new(shared)), connection, client)
    }

    /// A call as a record. What it names is not there, which is an answer too.
    fn record(xid: u32, procedure: u32, arguments: &impl Encode, behind: usize) -> Vec<u8> {
        record_of((nfs3::PROGRAM, nfs3::VERSION), xid, procedure, arguments, behind)
    }

    fn record_of(
        (program, version): (u32, u32),
        xid: u32,
        procedure: u32,
        arguments: &impl Encode,
        behind: usize,
    ) -> Vec<u8> {
        let credentials = Credentials::None;
        let mut call = Encoder::to_vec(&CallHeader { xid, program, version, procedure, credentials });
        arguments.encode(&mut Encoder::new(&mut call));
        call.resize(call.len() + behind, 0);
        let mark = RecordMark { length: call.len() as u32, last: true };
        [&mark.to_bytes()[..], &call].concat()
    }

    fn listing(xid: u32, behind: usize) -> Vec<u8> {
        let directory = FileHandle(&[1; 32]);
        let arguments =
            readdirplus::Arguments { directory, cookie: 0, verifier: [0; 8], name_count: 4096, count: 4096 };
        record(xid, readdirplus::PROCEDURE, &arguments, behind)
    }

    fn question(xid: u32) -> Vec<u8> {
        record(xid, getattr::PROCEDURE, &getattr::Arguments { node: FileHandle(&[1; 32]) }, 0)
    }

    /// The call that is answered next.
    fn answered(client: &mut TcpStream) -> u32 {
        let (mut mark, mut reply) = ([0; RecordMark::SIZE], Vec::new());
        client.read_exact(&mut mark).expect("a reply");
        reply.resize(RecordMark::from_bytes(mark).length as usize, 0);
        client.read_exact(&mut reply).expect("a reply");
        u32::from_be_bytes(*reply.first_chunk().expect("a number"))
    }

    /// Runs the next call that waits; the socket's next event has its reply sent.
    fn run_next(worker: &mut Worker) {
        let call = worker.shared.parked.next().expect("one waits");
        run(worker, call);
    }

    fn run(worker: &mut Worker, call: Call) {
        worker.run_parked(call);
        let ready = worker.shared.poller.wait().expect("a poller").expect("an event");
        assert!(ready.writable && !ready.readable, "{ready:?}");
        worker.on_ready(ready);
    }

    #[test]
    fn a_listing_too_many_waits_and_what_follows_it_does_not() {
        let sent = [listing(1, 0), question(2), listing(3, 0), question(4)].concat();
        let (mut worker, connection, mut client) = receiving(&sent);
        worker.serve(&connection).expect("open");
        assert_eq!(answered(&mut client), 2);
        assert_eq!(connection.outstanding(), 2, "both listings wait, and nothing is read behind the second");
        run_next(&mut worker);
        assert_eq!(answered(&mut client), 1);
        assert!(worker.shared.next_ready().is_none());
        run_next(&mut worker);
        assert_eq!(answered(&mut client), 3);
        let next = worker.shared.next_ready().expect("it is read on");
        worker.serve(&next).expect("open");
        assert_eq!(answered(&mut client), 4);
        assert!(connection.is_idle());
    }

    #[test]
    fn a_call_that_waits_holds_no_more_than_what_it_says() {
        let behind = PARKED_MAX + 4 - listing(1, 0).len();
        let (mut worker, connection, mut client) = receiving(&[listing(1, behind), question(2)].concat());
        worker.serve(&connection).expect("open");
        assert_eq!(answered(&mut client), 2);
        let call = worker.shared.parked.next().expect("it waits");
        assert_eq!(call.message.len(), PARKED_MAX);
        run(&mut worker, call);
        assert_eq!(answered(&mut client), 1);
    }

    /// A compound that names so many nodes and lists a directory.
    struct Lists(u32);

    impl Encode for Lists {
        fn encode(&self, encoder: &mut Encoder<'_>) {
            let session = nfs4::SessionId([1; 16]);
            Head { tag: b"", minor_version: 1, operations: 2 + self.0 }.encode(encoder);
            encoder.u32(sequence::OPERATION);
            sequence::Arguments { session, sequence: 1, slot: 0, highest_slot: 0, keep: false }
                .encode(encoder);
            (0..self.0).for_each(|_| {
                encoder.u32(putfh::OPERATION);
                putfh::Arguments { node: nfs4::FileHandle(&[1; 128]) }.encode(encoder);
            });
            encoder.u32(readdir::OPERATION);
            let (verifier, wanted) = Default::default();
            readdir::Arguments { cookie: 0, verifier, name_count: 0, count: 4096, wanted }.encode(encoder);
        }
    }

    #[test]
    fn a_compound_that_waits_is_whole_without_what_is_behind_it() {
        let compound = |xid, nodes, behind| {
            let program = (nfs4::PROGRAM, nfs4::VERSION);
            record_of(program, xid, nfs4::COMPOUND, &Lists(nodes), behind)
        };
        let sent = [compound(1, 1, PARKED_MAX), compound(2, 16, 0)].concat();
        let (mut worker, connection, mut client) = receiving(&sent);
        worker.serve(&connection).expect("open");
        assert_eq!(answered(&mut client), 2, "too long to be kept");
        let call = worker.shared.parked.next().expect("it waits");
        let alone = compound(1, 1, 0);
        assert_eq!(call.message[..], alone[RecordMark::SIZE..]);
        run(&mut worker, call);
        assert_eq!(answered(&mut client), 1);
    }

    #[test]
    fn nothing_waits_while_nobody_else_wants_the_processors() {
        let (mut worker, connection, mut client) = receiving(&[listing(1, 0), question(2)].concat());
        worker.shared.shares.set_wanted(false);
        worker.serve(&connection).expect("open");
        assert_eq!([answered(&mut client), answered(&mut client)], [1, 2]);
    }

    #[test]
    fn what_a_connection_that_is_gone_has_asked_for_is_not_run_and_does_not_hold_its_descriptor() {
        let (mut worker, connection, mut client) = receiving(&[listing(1, 0), listing(2, 0)].concat());
        worker.serve(&connection).expect("open");
        let call = worker.shared.parked.next().expect("one waits");
        worker.shared.close(&connection, &"a test");
        worker.run_parked(call);
        assert_eq!(client.read(&mut [0]).expect("an end"), 0);
        assert_eq!(Arc::strong_count(&connection), 1);
    }

    #[test]
    fn a_call_that_is_parked_when_its_connection_is_gone_does_not_wait() {
        let (mut worker, connection, _client) = receiving(&listing(1, 0));
        worker.serve(&connection).expect("open");
        let call = worker.shared.parked.next().expect("it waits");
        worker.shared.close(&connection, &"a test");
        worker.shared.park(call);
        assert_eq!(Arc::strong_count(&connection), 1);
    }
}
