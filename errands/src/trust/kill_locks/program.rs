//! A program: it locks registers of a file, reads and raises them, and lets them go; now and then it falls silent, loses its
//! connection, or crashes. When the server has restarted it reclaims what it holds.

use std::sync::Arc;
use std::time::{Duration, Instant};

use howdah_random::Random;
use howdah_wire::nfs4::Status;

use super::calls::{Open, complete};
use super::held::{Held, bytes, choose};
use super::ledger::{Record, Registers};
use super::session::{Failed, Session};
use super::shared::Shared;

/// Of its steps, so many are these.
const SILENT_ONE_IN: u64 = 300;
const CRASH_ONE_IN: u64 = 400;
const DISCONNECT_ONE_IN: u64 = 40;
const CLOSE_ONE_IN: u64 = 20;
/// A lock that is held is let go at one step in so many.
const UNLOCK_ONE_IN: u64 = 5;
/// A program that waits for another, or for the end of grace, asks again so much later.
const PAUSE: Duration = Duration::from_millis(4);

/// A program.
pub struct Program {
    shared: Arc<Shared>,
    session: Session,
    /// Which program it is, and how often it has started.
    name: String,
    starts: u64,
    open: Option<Open>,
    held: Option<Held>,
    random: Random,
    /// It has not met this server yet.
    is_new: bool,
    /// What it asked for last was not to be had.
    waits: bool,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Something was done.
    Done,
    /// What it asked for is another's, or cannot be had yet.
    Waited,
    /// The campaign ends.
    Stopped,
}

impl Program {
    /// One of this name.
    pub fn new(shared: Arc<Shared>, name: String, random: Random) -> Self {
        let session = shared.session(name.clone(), 0);
        Self { shared, session, name, starts: 0, open: None, held: None, random, is_new: true, waits: false }
    }

    /// Does something; or says what is wrong with an answer.
    pub fn step(&mut self) -> Result<Step, String> {
        self.waits = false;
        let mut outcome = if self.is_new { Err(Failed::NoSession) } else { self.act() };
        while matches!(outcome, Err(Failed::NoSession)) {
            outcome = self.meet();
        }
        match outcome {
            Ok(()) if self.waits => Ok(Step::Waited),
            Ok(()) => Ok(Step::Done),
            Err(Failed::Stopped) => Ok(Step::Stopped),
            Err(Failed::Wrong(what)) => Err(format!("{}: {what}", self.session.owner())),
            Err(Failed::NoSession) => unreachable!("it met the server"),
        }
    }

    fn act(&mut self) -> Result<(), Failed> {
        if self.random.one_in(DISCONNECT_ONE_IN) {
            self.session.disconnect();
        }
        if self.random.one_in(CRASH_ONE_IN) {
            self.crash();
            return Ok(());
        }
        if self.random.one_in(SILENT_ONE_IN) {
            self.shared.count.silences();
            self.shared.rest(self.shared.lease.mul_f64(0.7 + self.random.fraction()));
        }
        match (self.open.take(), self.held.is_some()) {
            (None, _) => self.open(),
            (Some(open), false) if self.random.one_in(CLOSE_ONE_IN) => self.close(open),
            (open, false) => {
                self.open = open;
                self.lock()
            }
            (open, true) => {
                self.open = open;
                if self.random.one_in(UNLOCK_ONE_IN) { self.unlock() } else { self.use_register() }
            }
        }
    }

    fn open(&mut self) -> Result<(), Failed> {
        let file = self.random.index(self.shared.names.len());
        match Open::by_name(&mut self.session, file, &self.shared.names[file])? {
            Ok(open) => self.open = Some(open),
            Err(status) => self.wait_for("OPEN", status)?,
        }
        Ok(())
    }

    fn close(&mut self, open: Open) -> Result<(), Failed> {
        match open.close(&mut self.session)? {
            Ok(()) => Ok(()),
            Err(status) => self.wait_for("CLOSE", status),
        }
    }

    fn lock(&mut self) -> Result<(), Failed> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let registers = Registers { file: open.file, range: choose(&mut self.random, self.shared.registers) };
        let exclusive = !self.random.one_in(3);
        let run = self.shared.runs().current();
        let answer = open.lock(&mut self.session, bytes(&registers), exclusive, false)?;
        let (now, renewed) = (Instant::now(), self.session.renewed());
        let until = renewed + self.shared.lease;
        match answer {
            // This thread slept, and others may have got it since.
            Ok(()) if now >= until => self.give_up_open(),
            Ok(()) => {
                let granted = self.shared.ledger().granted(
                    self.session.owner(),
                    registers.clone(),
                    exclusive,
                    now,
                    until,
                );
                let grant = granted.map_err(Failed::Wrong)?;
                self.held = Some(Held { registers, exclusive, grant, run, renewed });
                Ok(())
            }
            Err(Status::DENIED) => {
                self.shared.count.denials();
                self.wait();
                Ok(())
            }
            Err(status) => self.wait_for("LOCK", status),
        }
    }

    fn unlock(&mut self) -> Result<(), Failed> {
        let (Some(open), Some(held)) = (&mut self.open, self.held.take()) else { return Ok(()) };
        self.shared.ledger().ended(held.grant);
        match open.unlock(&mut self.session, bytes(&held.registers))? {
            Ok(()) => Ok(()),
            Err(status) => self.lost("LOCKU", status, &held),
        }
    }

    /// Reads a register that it holds, and raises it if it holds it alone.
    fn use_register(&mut self) -> Result<(), Failed> {
        let (Some(open), Some(held)) = (&self.open, &self.held) else { return Ok(()) };
        let register = held.registers.range.start + self.random.index(held.registers.range.len());
        let place = (held.registers.file, register);
        let at = (register * Record::SIZE) as u64;
        let read = open.read(&mut self.session, at, Record::SIZE as u32)?;
        if let Err(status) = read {
            return self.drop_held("READ", status);
        }
        let (bytes, until) = (read.unwrap_or_default(), self.session.renewed() + self.shared.lease);
        {
            let mut ledger = self.shared.ledger();
            if Instant::now() < until {
                ledger.continued(held.grant, until).map_err(Failed::Wrong)?;
                ledger.seen(place, &bytes).map_err(Failed::Wrong)?;
            }
        }
        if held.exclusive {
            let record = self.shared.ledger().write(place, held.grant);
            // What was not answered stays among what may be there.
            if let Err(status) = open.write(&mut self.session, at, &record.to_bytes())? {
                self.shared.ledger().refused(place, record);
                return self.drop_held("WRITE", status);
            }
            self.shared.ledger().written(place, record);
        }
        self.keep()
    }

    /// A call under the lock was answered as if it were held.
    fn keep(&mut self) -> Result<(), Failed> {
        let Some(held) = &mut self.held else { return Ok(()) };
        held.renewed = self.session.renewed();
        let until = held.renewed + self.shared.lease;
        if Instant::now() < until {
            self.shared.ledger().continued(held.grant, until).map_err(Failed::Wrong)?;
        }
        Ok(())
    }

    fn drop_held(&mut self, call: &str, status: Status) -> Result<(), Failed> {
        let Some(held) = self.held.take() else { return Ok(()) };
        self.shared.ledger().ended(held.grant);
        self.lost(call, status, &held)
    }

    /// A call under a lock was refused: the lock is gone, which is right only if it may be.
    fn lost(&mut self, call: &str, status: Status, held: &Held) -> Result<(), Failed> {
        let must_last = self.shared.runs().must_last(held.run, held.renewed, Instant::now());
        if must_last {
            return Err(Failed::Wrong(format!("{call} under a lock that must last: {status}")));
        }
        self.shared.count.losses();
        self.give_up_open()
    }

    fn wait(&mut self) {
        self.waits = true;
        self.shared.rest(PAUSE);
    }

    /// What a call without a lock was refused with.
    fn wait_for(&mut self, call: &str, status: Status) -> Result<(), Failed> {
        match status {
            Status::GRACE | Status::DELAY => {
                self.wait();
                Ok(())
            }
            // The lease was over, and what was open went.
            Status::EXPIRED | Status::BAD_STATEID | Status::ADMIN_REVOKED => self.give_up_open(),
            status => Err(Failed::Wrong(format!("{call}: {status}"))),
        }
    }

    /// Closes what it can, and begins anew.
    fn give_up_open(&mut self) -> Result<(), Failed> {
        if let Some(open) = self.open.take() {
            let _ = open.close(&mut self.session)?;
        }
        Ok(())
    }

    /// Forgets everything, and starts again: as the same client, or as one that was never here.
    fn crash(&mut self) {
        if let Some(held) = self.held.take() {
            self.shared.ledger().ended(held.grant);
        }
        self.open = None;
        self.starts += 1;
        let owner = match self.random.one_in(2) {
            true => format!("{}-{}", self.name, self.starts),
            false => self.session.owner().to_owned(),
        };
        self.session = self.shared.session(owner, self.starts);
        self.is_new = true;
        self.shared.count.crashes();
    }

    /// Gets a session, and reclaims what it held.
    fn meet(&mut self) -> Result<(), Failed> {
        self.session.join()?;
        self.is_new = false;
        let run = self.shared.runs().current();
        if let Some(held) = self.held.take() {
            self.reclaim(held, run)?;
        } else {
            self.open = None;
        }
        match complete(&mut self.session)? {
            Ok(()) | Err(Status::COMPLETE_ALREADY) => Ok(()),
            Err(status) => Err(Failed::Wrong(format!("RECLAIM_COMPLETE: {status}"))),
        }
    }

    fn reclaim(&mut self, held: Held, run: usize) -> Result<(), Failed> {
        let Some(mut open) = self.open.take() else { return Ok(()) };
        let answer = held.reclaim(&mut self.session, &mut open);
        self.open = Some(open);
        // Without an answer it will be asked for again.
        let Ok(answer) = answer else {
            self.held = Some(held);
            return answer.map(drop);
        };
        let (now, renewed) = (Instant::now(), self.session.renewed());
        let until = renewed + self.shared.lease;
        match answer {
            Ok(()) if now < until => {
                self.shared.ledger().continued(held.grant, until).map_err(Failed::Wrong)?;
                self.shared.count.reclaims();
                self.held = Some(Held { run, renewed, ..held });
                Ok(())
            }
            Ok(()) => {
                self.shared.ledger().ended(held.grant);
                self.give_up_open()
            }
            Err(status) => {
                self.shared.ledger().ended(held.grant);
                if self.shared.runs().must_last(held.run, held.renewed, now) {
                    return Err(Failed::Wrong(format!("lost reclaim: {status}")));
                }
                self.shared.count.refusals();
                self.give_up_open()
            }
        }
    }
}
