//! Serving one connection: reads its calls, runs them, sends the replies, until nothing is left or another has it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use howdah_net::Interest;
use howdah_rpc::server::Record;
use howdah_wire::rpc::{AuthStatus, Denied, RecordMark, ReplyHeader, TlsAnswer};
use howdah_wire::xdr::Encoder;

use super::Worker;
use super::bulk::InPlace;
use super::moved::check_move;
use crate::Reply;
use crate::connection::{Connection, NextRecord, Received};
use crate::counts::{Timing, Unheard};
use crate::dispatch::{DispatchJob, Work};
use crate::gates::Asker;
use crate::gss::{GssDoor, SecuredCall, is_secured};
use crate::outline::ReplyPace;

/// What is done for one connection before others get their turn: so many calls, or fewer of those that bring data.
/// Without it, a peer that always has more to say would have its worker for good.
const TURN: u32 = 1024;
/// What a receive, or a bulk WRITE moved past memory, counts as, in calls.
const RECEIVE_EFFORT: u32 = 32;

/// What became of a connection that a worker had in hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// This worker goes on with it.
    Mine,
    /// It was handed on.
    HandedOn,
}

impl Worker {
    /// Answers what a connection brings, until nothing is left of it or another worker has it.
    pub(super) fn serve(&mut self, connection: &Arc<Connection>) -> io::Result<()> {
        let mut drained = false;
        let mut effort = 0;
        let mut is_first = true;
        loop {
            if connection.should_pause() {
                self.flush(connection)?;
                if connection.pause() {
                    return Ok(());
                }
            }
            if effort >= TURN {
                self.shared.hand_on(Arc::clone(connection));
                return self.flush(connection);
            }
            match connection.inbox().next().map_err(io::Error::other)? {
                NextRecord::Record(record, arrived) => {
                    let timing = Timing { arrived, received: record.bytes().len(), is_first };
                    is_first = false;
                    match self.answer(connection, record, &timing)? {
                        Turn::Mine => effort += 1,
                        Turn::HandedOn => return self.flush(connection),
                    }
                }
                NextRecord::Moving => return self.flush(connection),
                NextRecord::More => {
                    effort += RECEIVE_EFFORT;
                    let in_place = self.run_in_place(connection)?;
                    if in_place == InPlace::Ran {
                        drained = false;
                        continue;
                    }
                    self.flush(connection)?;
                    if self.shared.draining.load(Ordering::SeqCst) {
                        return Ok(());
                    }
                    if drained || in_place == InPlace::Waits {
                        connection.inbox().rest(&mut self.buffers);
                        return connection.arm(&self.shared.poller, Interest::READABLE);
                    }
                    is_first = true;
                    let received = connection.receive(&mut self.buffers, self.shared.tls.as_deref())?;
                    check_move(&self.shared.service, connection)?;
                    match received {
                        Received::Some => self.shared.moved(connection),
                        Received::All => {
                            self.shared.moved(connection);
                            drained = true;
                        }
                        Received::Nothing => {
                            // Part of a record of TLS may have come.
                            if connection.stream().held() > 0 {
                                self.shared.moved(connection);
                            }
                            return connection.arm(&self.shared.poller, Interest::READABLE);
                        }
                        Received::Moving => return Ok(()),
                        Received::End => {
                            connection.end();
                            return Ok(());
                        }
                    }
                }
            }
        }
    }

    /// Runs one call and queues its reply.
    fn answer(&mut self, connection: &Arc<Connection>, record: Record, timing: &Timing) -> io::Result<Turn> {
        match &self.shared.service.dispatcher.gss {
            Some(door) if is_secured(record.bytes()) => {
                let door = Arc::clone(door);
                self.answer_secured(connection, &door, record, timing)
            }
            _ => self.answer_read(connection, (record, None), timing, Turn::Mine),
        }
    }

    /// The same once it is known how it came through a context, if it did.
    pub(super) fn answer_read(
        &mut self,
        connection: &Arc<Connection>,
        (record, secured): (Record, Option<SecuredCall>),
        timing: &Timing,
        mut turn: Turn,
    ) -> io::Result<Turn> {
        let mut reserved = None;
        let transport = connection.peer().transport;
        let mut work = self.shared.service.dispatcher.read(record.bytes(), secured.as_ref(), transport);
        let reply = match &mut work {
            Work::Reply if self.shared.service.takes_answer(connection.token(), record.bytes()) => None,
            Work::NoCall | Work::Reply => {
                self.clerk.unheard(Unheard::Malformed);
                connection.finish_call();
                self.flush(connection)?;
                return Err(io::Error::other("it sent a message that is no call"));
            }
            Work::Refuse(header) => {
                self.clerk.unheard(Unheard::of(&header.outcome));
                let mut reply = Reply::with_buffer(self.spare.take());
                match &secured {
                    Some(secured) => GssDoor::answer_bare(secured, header, &mut reply),
                    None => reply.start(header),
                }
                Some(reply)
            }
            Work::AskTls(header) => self.answer_tls(connection, header)?,
            Work::Run(job) => {
                let shut = self.shut_gate(job);
                reserved = shut.and_then(|export| self.reserve(export, connection.peer()));
                if let Some(export) = shut.filter(|_| reserved.is_none()) {
                    let asker = Asker::Connection(Arc::clone(connection));
                    self.wait_at_gate(export, (record.bytes(), secured.clone()), timing, asker);
                    self.buffers.put(record.into_buffer());
                    // Who ended the connection meanwhile may have looked before the call was in line.
                    if !self.is_there(connection) {
                        self.shared.gates.leave(connection);
                    }
                    return Ok(turn);
                }
                let pace = self.pace(job, connection.peer());
                if self.is_too_dear(connection, job) {
                    match Self::kept_of(job, record.bytes().len()) {
                        Some(kept) if pace == ReplyPace::Dear => {
                            let secured = secured.clone();
                            return Ok(self.park(connection, record, secured, kept, timing));
                        }
                        // It waits for another host, which those who are patient may not.
                        Some(_) => {}
                        None => job.put_off(),
                    }
                }
                if turn == Turn::Mine && self.waits(pace) {
                    turn = Turn::HandedOn;
                    self.hand_on(connection);
                    // The replies before it must not wait as long as it does.
                    self.flush(connection)?;
                }
                self.run_job(connection, job, turn, timing)
            }
        };
        self.deliver(connection, reply, timing.received);
        self.buffers.put(record.into_buffer());
        // It took no place that another call could have now.
        if reserved.is_none() && self.come_back() && turn == Turn::Mine {
            turn = Turn::HandedOn;
            self.hand_on(connection);
        }
        Ok(turn)
    }

    /// Begins TLS for a client that asked for it, and says so; without a certificate, or within TLS, the question is refused.
    fn answer_tls(&mut self, connection: &Connection, refusal: &ReplyHeader) -> io::Result<Option<Reply>> {
        let mut reply = Reply::with_buffer(self.spare.take());
        let door = self.shared.tls.as_deref();
        if let Some(door) = door.filter(|_| !connection.stream().has_tls()) {
            let answer = Encoder::to_vec(&TlsAnswer::Begins { xid: refusal.xid });
            let mark = RecordMark { length: answer.len() as u32, last: true };
            let begun = connection.start_tls(door, &[&mark.to_bytes()[..], &answer].concat());
            return match begun {
                Ok(()) => Ok(None),
                Err(error) => {
                    door.on_failed(connection.peer(), &error);
                    Err(error)
                }
            };
        }
        self.clerk.unheard(Unheard::of(&refusal.outcome));
        let status = if door.is_some() { AuthStatus::BadCredentials } else { AuthStatus::TooWeak };
        reply.start(&ReplyHeader { outcome: Err(Denied::Authentication(status)), ..*refusal });
        Ok(Some(reply))
    }

    pub(super) fn run_job(
        &mut self,
        connection: &Arc<Connection>,
        job: &DispatchJob<'_>,
        turn: Turn,
        timing: &Timing,
    ) -> Option<Reply> {
        // The watch looks after it, unless it was handed on.
        let is_watched = turn == Turn::Mine;
        if is_watched {
            self.slot.start(connection.token());
        }
        let reply = self.run_charged(connection, job, timing);
        if is_watched {
            self.slot.end();
        }
        reply
    }

    fn waits(&self, pace: ReplyPace) -> bool {
        match pace {
            ReplyPace::Quick | ReplyPace::Dear => false,
            ReplyPace::Long => self.shared.parallel,
            ReplyPace::Slow => true,
        }
    }

    /// Lets another worker go on with the connection.
    pub(super) fn hand_on(&self, connection: &Arc<Connection>) {
        if connection.holds_bytes() {
            self.shared.hand_on(Arc::clone(connection));
        } else if let Err(error) = connection.arm(&self.shared.poller, Interest::READABLE) {
            tracing::debug!(%error, "arming a connection");
        }
    }

    /// Sends what waits; a connection whose reading stopped for that is read again, by any free worker. Sending a range of a
    /// file may hang like a quick call, and the watch sees it in the same way.
    pub(super) fn flush(&mut self, connection: &Arc<Connection>) -> io::Result<()> {
        if !connection.outbox().is_empty() {
            self.slot.start(connection.token());
            let outcome = connection.flush(&self.shared.poller, &mut self.spare, &mut self.clerk);
            self.slot.end();
            outcome?;
        }
        if connection.resume() {
            self.shared.hand_on(Arc::clone(connection));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use howdah_net::probe_host;
    use howdah_store::local::{LocalFileSystem, Options};
    use howdah_tune::budget::HostMemory;
    use howdah_tune::{Settings, Tuner};
    use howdah_vfs::FileSystem;
    use howdah_wire::nfs3::{PROGRAM, VERSION, read, write};
    use howdah_wire::rpc::{AuthSys, CallHeader, Credentials};
    use howdah_wire::xdr::Encode;

    use super::*;
    use crate::connection::Onlooker;
    use crate::connection::tests::{connected, door};
    use crate::exports::{ClientRule, Export, Exports, Squash};
    use crate::secure::HANDSHAKE;
    use crate::service::Service;
    use crate::shared::Shared;

    /// Large enough to be sent as a range of a file, and to be moved past memory, where a stream can.
    const LENGTH: usize = 256 << 10;

    fn record(xid: u32, procedure: u32, arguments: &impl Encode) -> Vec<u8> {
        let credentials = Credentials::Sys(AuthSys::new(b"client", 0, 0, &[]));
        let mut call =
            Encoder::to_vec(&CallHeader { xid, program: PROGRAM, version: VERSION, procedure, credentials });
        arguments.encode(&mut Encoder::new(&mut call));
        let mark = RecordMark { length: call.len() as u32, last: true };
        [&mark.to_bytes()[..], &call].concat()
    }

    fn reply(client: &mut TcpStream) -> Vec<u8> {
        let mut mark = [0; RecordMark::SIZE];
        client.read_exact(&mut mark).expect("a reply");
        let mut reply = vec![0; RecordMark::from_bytes(mark).length as usize];
        client.read_exact(&mut reply).expect("a reply");
        reply
    }

    #[test]
    fn a_connection_that_holds_part_of_a_record_of_tls_is_looked_at() {
        let memory = HostMemory { total: 8 << 30, tcp: [1 << 30; 3], group: None };
        let settings = Settings::automatic(probe_host().expect("a socket"), memory);
        let service = Service::new(Default::default());
        let mut shared = Shared::new(service, Vec::new(), Tuner::new(settings)).expect("descriptors");
        shared.tls = Some(Arc::new(door()));
        shared.watch.open();
        let (stream, mut client) = connected();
        shared.add(stream).expect("taken in");
        let connection = shared.connections().pop().expect("it");
        let mut worker = Worker::new(Arc::new(shared));
        let mut sends = |bytes: &[u8]| {
            connection.onlookers().strike(Onlooker::Watch);
            drop(worker.shared.watch.take());
            client.write_all(bytes).expect("sending");
            while connection.stream().waiting().expect("a socket") < bytes.len() {}
            worker.serve(&connection).expect("open");
            worker.shared.watch.take().len()
        };
        // The head of a record of 512 bytes, and some of them.
        assert_eq!(sends(&[HANDSHAKE, 3, 1, 2, 0]), 1, "TLS begins");
        assert_eq!(sends(&[1, 0, 1, 252]), 1, "nothing that makes sense yet");
        assert_eq!(connection.holdings(), Some((true, 9)));
    }

    #[test]
    fn a_stream_without_shortcuts_that_keeps_bytes_is_served_all_the_same() {
        let directory = tempfile::tempdir().expect("a directory");
        let local =
            Arc::new(LocalFileSystem::open(directory.path(), Options::default()).expect("a file system"));
        std::fs::write(directory.path().join("file"), []).expect("a file");
        let name = howdah_vfs::Name::parse(b"file").expect("a name");
        let found = local.lookup(&howdah_vfs::Caller::ROOT, &local.root(), name).expect("it").node.handle;
        let rules = vec![ClientRule { squash: Squash::None, ..ClientRule::default() }];
        let exports = Exports::new(vec![Export::new("/", 1, local, rules)], [7; 16]).expect("one");
        let handle = exports.seal(exports.find(1).expect("it"), &found);
        let memory = HostMemory { total: 8 << 30, tcp: [1 << 30; 3], group: None };
        let settings = Settings::automatic(probe_host().expect("a socket"), memory);
        let tuner = Tuner::new(settings);
        let shared = Arc::new(Shared::new(Service::new(exports), Vec::new(), tuner).expect("descriptors"));
        let (stream, mut client) = connected();
        shared.add(stream.through_user_space()).expect("taken in");
        let mut worker = Worker::new(Arc::clone(&shared));
        let data: Vec<u8> = (0..LENGTH).map(|at| (at % 251) as u8).collect();
        let file = handle.as_wire();
        let write = write::Arguments {
            node: file,
            offset: 0,
            count: LENGTH as u32,
            stability: write::Stability::Unstable,
            data: &data,
        };
        // Calls that come together, the last of them whole in user space when the first is answered.
        let sent = [
            record(1, write::PROCEDURE, &write),
            record(2, read::PROCEDURE, &read::Arguments { node: file, offset: 0, count: LENGTH as u32 }),
            record(3, read::PROCEDURE, &read::Arguments { node: file, offset: 7, count: 5 }),
        ]
        .concat();
        let asks = std::thread::spawn(move || {
            client.write_all(&sent).expect("sending");
            let replies: Vec<Vec<u8>> = (0..3).map(|_| reply(&mut client)).collect();
            drop(client);
            replies
        });
        // The client ends it when it has all its replies.
        while !shared.connections().is_empty() {
            if let Some(connection) = shared.next_ready() {
                let outcome = worker.serve(&connection);
                worker.settle(&connection, outcome);
            } else if let Some(ready) = shared.poller.wait().expect("a poller") {
                worker.on_ready(ready);
            }
        }
        let mut replies = asks.join().expect("all answered");
        replies.sort_by_key(|reply| u32::from_be_bytes(*reply.first_chunk().expect("a number")));
        assert!(replies[1].ends_with(&data), "{} bytes", replies[1].len());
        assert!(replies[2].ends_with(&[&data[7..12], &[0; 3]].concat()));
    }
}
