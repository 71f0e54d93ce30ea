//! Serving one connection: reads its calls, runs them, sends the replies, until nothing is left or another has it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use howdah_net::Interest;
use howdah_rpc::server::Record;

use super::Worker;
use super::bulk::InPlace;
use crate::Reply;
use crate::connection::{Connection, Next, Received};
use crate::counts::{Timing, Unheard};
use crate::dispatch::{Job, Work};
use crate::gates::Asker;
use crate::program::Pace;

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
                Next::Record(record, arrived) => {
                    let timing = Timing { arrived, received: record.bytes().len(), is_first };
                    is_first = false;
                    match self.answer(connection, record, &timing)? {
                        Turn::Mine => effort += 1,
                        Turn::HandedOn => return self.flush(connection),
                    }
                }
                Next::Moving => return self.flush(connection),
                Next::More => {
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
                    match connection.receive(&mut self.buffers)? {
                        Received::Some => {}
                        Received::All => drained = true,
                        Received::Nothing => return connection.arm(&self.shared.poller, Interest::READABLE),
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
        let mut turn = Turn::Mine;
        let work = self.shared.service.dispatcher.read(record.bytes());
        let reply = match &work {
            Work::NoCall => {
                self.clerk.unheard(Unheard::Malformed);
                connection.finish_call();
                self.flush(connection)?;
                return Err(io::Error::other("it sent a message that is no call"));
            }
            Work::Refuse(header) => {
                self.clerk.unheard(Unheard::of(&header.outcome));
                let mut reply = Reply::with_buffer(self.spare.take());
                reply.start(header);
                Some(reply)
            }
            Work::Run(job) => {
                if let Some(export) = self.shut_gate(job) {
                    let asker = Asker::Connection(Arc::clone(connection));
                    self.wait_at_gate(export, record.bytes(), timing, asker);
                    self.buffers.put(record.into_buffer());
                    // Who ended the connection meanwhile may have looked before the call was in line.
                    if !self.is_there(connection) {
                        self.shared.gates.leave(connection);
                    }
                    return Ok(turn);
                }
                let pace = self.pace(job);
                if self.parks(connection, pace) {
                    return Ok(self.park(connection, record, timing));
                }
                if self.waits(pace) {
                    turn = Turn::HandedOn;
                    self.hand_on(connection);
                    // The replies before it must not wait as long as it does.
                    self.flush(connection)?;
                }
                self.run_job(connection, (job, pace), turn, timing)
            }
        };
        if let Some(reply) = reply {
            connection.push(reply);
        }
        connection.finish_call();
        self.buffers.put(record.into_buffer());
        if self.come_back() && turn == Turn::Mine {
            turn = Turn::HandedOn;
            self.hand_on(connection);
        }
        Ok(turn)
    }

    pub(super) fn run_job(
        &mut self,
        connection: &Arc<Connection>,
        (job, pace): (&Job<'_>, Pace),
        turn: Turn,
        timing: &Timing,
    ) -> Option<Reply> {
        // The watch looks after it, unless it was handed on.
        let is_watched = turn == Turn::Mine;
        if is_watched {
            self.slot.start(connection.token());
        }
        let reply = self.run_charged(connection, job, pace, timing);
        if is_watched {
            self.slot.end();
        }
        reply
    }

    fn waits(&self, pace: Pace) -> bool {
        match pace {
            Pace::Quick | Pace::Dear => false,
            Pace::Long => self.shared.parallel,
            Pace::Slow => true,
        }
    }

    /// Lets another worker go on with the connection.
    fn hand_on(&self, connection: &Arc<Connection>) {
        if connection.inbox().is_partial() {
            self.shared.hand_on(Arc::clone(connection));
        } else if let Err(error) = connection.arm(&self.shared.poller, Interest::READABLE) {
            tracing::debug!(%error, "arming a connection");
        }
    }

    /// Sends what waits; a connection whose reading stopped for that is read again, by whoever is free. Sending a range
    /// of a file may hang like a quick call, and the watch sees it in the same way.
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
