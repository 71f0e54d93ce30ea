//! A client's channel and session, connections that break, and a server that restarts, in virtual time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use howdah_random::Random;
use howdah_rpc::client::core::{
    AnswerEffect, CallFacts, Core, CoreOutput, CoreSettings, Failure, LanePlan, LaneWork, Patience,
    ProcedureId,
};
use howdah_rpc::client::envelope::{CallEnd, CallSession, ResultsCover, TicketNeed};
use howdah_rpc::client::lanes::{Growth, Lanes};
use howdah_rpc::client::{Claim, Class};
use howdah_session::{ClientSession, SessionStanding, SlotTable, UpkeepAction, UpkeepFailure};
use howdah_tune::flight::Bounds;
use howdah_wire::nfs4::Status;

use crate::message::{Answer, Body, Message, Reply};
use crate::rows::Row;
use crate::server::{LEASE, Server};

/// Time passes in such steps.
const STEP: Duration = Duration::from_millis(10);
const LANES: usize = 2;
/// Calls that callers have under way.
const CALLS: usize = 12;
/// Bytes of results with nothing behind SEQUENCE.
const FOREIGN: usize = 56;
/// The most calls of a second. Callers make 20 of their own.
const PER_SECOND: usize = 150;

/// A connection. One that broke still delivers to the server what was sent.
struct Connection {
    number: u64,
    up: VecDeque<(Duration, Message)>,
    down: VecDeque<(Duration, Reply)>,
    /// It stopped delivering then.
    cut: Option<Duration>,
}

impl Connection {
    fn new(number: u64) -> Self {
        Self { number, up: VecDeque::new(), down: VecDeque::new(), cut: None }
    }
}

/// What the owner of the session does.
struct Upkeep {
    action: UpkeepAction,
    xid: u32,
    /// Calls that it still takes.
    left: u32,
}

/// All of it.
pub struct World {
    core: Core<u32>,
    pub server: Server,
    random: Random,
    now: Duration,
    lanes: Vec<Option<Connection>>,
    retry: Vec<Duration>,
    broken: Vec<Connection>,
    /// The server is away until then.
    away: Duration,
    /// Nothing arrives until then.
    silent: Duration,
    /// Calls of callers that are not over, and how often each was made again.
    calls: BTreeMap<u32, u32>,
    abandoned: BTreeSet<u32>,
    bodies: BTreeMap<u32, Body>,
    upkeep: Option<Upkeep>,
    /// The owner looks at the session, now or then.
    is_awake: bool,
    wakes: Option<Duration>,
    next_xid: u32,
    next_number: u32,
    /// Callers that make no calls any more.
    pub is_quiet: bool,
    /// When the calls of the last second were sent.
    sent: VecDeque<Duration>,
    pub done: u32,
}

impl World {
    pub fn new(seed: u64, patience: Patience) -> Self {
        let bounds = Bounds { floor: 4, floor_bytes: 0, ceiling: 16, ..Bounds::default() };
        let settings = CoreSettings { patience, silence: Duration::from_secs(60), bounds };
        let plan =
            LanePlan { most: LANES, has_small: false, growth: Growth::new(Lanes::Fixed(LANES), false) };
        let mut session = ClientSession::default();
        session.set_holds_states(true);
        session.set_uses_callbacks(true);
        session.set_lease(LEASE);
        let session: Box<dyn CallSession> = Box::new(session);
        Self {
            core: Core::new(&settings, Some(plan), Some(session)),
            server: Server::new(seed),
            random: Random::new(seed),
            now: Duration::from_secs(1),
            lanes: (0..LANES).map(|_| None).collect(),
            retry: vec![Duration::ZERO; LANES],
            broken: Vec::new(),
            away: Duration::ZERO,
            silent: Duration::ZERO,
            calls: BTreeMap::new(),
            abandoned: BTreeSet::new(),
            bodies: BTreeMap::new(),
            upkeep: None,
            is_awake: true,
            wakes: None,
            next_xid: 1,
            next_number: 0,
            is_quiet: false,
            sent: VecDeque::new(),
            done: 0,
        }
    }

    /// Shows the session.
    pub fn session<R>(&mut self, show: impl FnOnce(&mut ClientSession, Duration) -> R) -> R {
        let shown = self.core.with_session(show, self.now).expect("it is one");
        self.act();
        shown
    }

    /// Calls that are not over, and slots that hold none but are not free.
    pub fn rest(&mut self) -> (usize, Option<bool>, SessionStanding) {
        // The lease may be renewed just now.
        for _ in 0..100 {
            if self.upkeep.is_some() {
                self.step();
            }
        }
        let calls = self.calls.len() + self.abandoned.len();
        let (is_idle, standing) = self
            .session(|its, _| (its.session().map(|_| its.slots().all(SlotTable::is_idle)), its.standing()));
        (calls, is_idle, standing)
    }

    /// What there is to see, for who looks for a mistake.
    pub fn sight(&mut self) -> String {
        let upkeep = self.upkeep.as_ref().map(|upkeep| (upkeep.action, upkeep.xid));
        let (calls, awake) = (self.calls.len(), self.is_awake);
        let session = self.session(|its, _| format!("{its:?}"));
        format!("{:?}: {calls} calls, awake {awake}, {upkeep:?}, {session}", self.now)
    }

    /// Something happens to connections or to the server.
    pub fn trouble(&mut self) {
        match self.random.below(10_000) {
            0..2 => self.restart(),
            2..4 => {
                self.silent =
                    self.now + Duration::from_millis(self.random.below(3 * LEASE.as_millis() as u64))
            }
            4 => self.server.release_clients(),
            5..65 => {
                let lane = self.random.index(LANES);
                self.break_off(lane);
            }
            65..80 => (0..LANES).for_each(|lane| self.break_off(lane)),
            _ => {}
        }
    }

    fn restart(&mut self) {
        self.server.restart();
        (0..LANES).for_each(|lane| self.break_off(lane));
        self.broken.clear();
        self.away = self.now + Duration::from_millis(self.random.below(20_000));
    }

    fn break_off(&mut self, lane: usize) {
        if let Some(connection) = &mut self.lanes[lane] {
            self.core.on_broken(lane, connection.number);
        }
    }

    /// A step of time.
    pub fn step(&mut self) {
        self.now += STEP;
        (0..LANES).for_each(|lane| self.lane(lane));
        if self.now >= self.away {
            self.serve();
        }
        (0..LANES).for_each(|lane| self.receive(lane));
        self.own();
        if !self.is_quiet && self.calls.len() < CALLS && self.random.one_in(5) {
            self.change();
        }
    }

    fn change(&mut self) {
        let keep = self.random.one_in(2);
        self.next_number += 1;
        let number = self.next_number;
        self.call(Body::Change { number, keep }, TicketNeed::Usual, 0);
    }

    /// Callers have as many calls under way as they may for a while, more than a session has slots.
    pub fn crowd(&mut self) {
        for _ in 0..500 {
            while self.calls.len() < CALLS {
                self.change();
            }
            self.step();
        }
    }

    fn call(&mut self, body: Body, ticket: TicketNeed, again: u32) -> u32 {
        let xid = self.next_xid;
        self.next_xid += 1;
        self.bodies.insert(xid, body);
        if matches!(body, Body::Change { .. }) {
            self.calls.insert(xid, again);
        }
        let procedure = ProcedureId { program: 100_003, version: 4, procedure: 1 };
        let class = Class::Change;
        let facts = CallFacts {
            xid,
            procedure,
            class,
            volume: 0,
            ticket,
            receive: None,
            cover: ResultsCover::None,
            call: xid,
        };
        self.core.start(facts, self.now);
        self.act();
        xid
    }

    fn lane(&mut self, lane: usize) {
        match self.core.next_work(lane, self.now) {
            LaneWork::Connect if self.now < self.away && self.now >= self.retry[lane] => {
                self.retry[lane] = self.now + Duration::from_secs(1);
                self.core.on_connect_failed(lane, self.now);
            }
            LaneWork::Connect if self.now >= self.retry[lane] => {
                self.retry[lane] = self.now + Duration::from_secs(1);
                self.lanes[lane] = Some(Connection::new(self.core.on_connected(lane, self.now)));
            }
            LaneWork::CleanUp => {
                if let Some(mut connection) = self.lanes[lane].take() {
                    // What is on its way may arrive, also later than what goes over the next connection.
                    let late = Duration::from_millis(self.random.below(4000));
                    connection.up.iter_mut().for_each(|(at, _)| *at += late);
                    connection.cut = Some(self.now + Duration::from_millis(self.random.below(5000)));
                    self.broken.push(connection);
                }
                self.core.on_disconnected(lane, None, false, self.now);
            }
            LaneWork::Serve => self.send(lane),
            LaneWork::Connect | LaneWork::End | LaneWork::Wait | LaneWork::Sleep => {}
        }
        self.core.look_after_calls(lane, self.now);
        self.act();
    }

    fn send(&mut self, lane: usize) {
        while let Some(connection) = &mut self.lanes[lane]
            && let Some(sending) = self.core.poll_send(lane, self.now)
        {
            let (xid, ticket) = (sending.call, sending.ticket);
            let takes = Duration::from_millis(10 + self.random.below(60));
            let last = connection.up.back().map_or(Duration::ZERO, |(at, _)| *at);
            let body = self.bodies[&xid];
            connection.up.push_back((last.max(self.now + takes), Message { xid, ticket, body }));
            self.sent.push_back(self.now);
            while self.sent.front().is_some_and(|at| *at + Duration::from_secs(1) < self.now) {
                self.sent.pop_front();
            }
            assert!(self.sent.len() <= PER_SECOND, "{} calls in a second", self.sent.len());
        }
    }

    fn serve(&mut self) {
        for (connection, reply) in self.server.run(self.now) {
            self.reply(connection, reply);
        }
        if self.now < self.silent {
            return;
        }
        let mut came = Vec::new();
        for connection in self.lanes.iter_mut().flatten().chain(&mut self.broken) {
            while let Some((at, message)) = connection.up.front().copied().filter(|(at, _)| *at <= self.now) {
                connection.up.pop_front();
                if connection.cut.is_none_or(|cut| at <= cut) {
                    came.push((connection.number, connection.cut.is_some(), message));
                }
            }
        }
        self.broken.retain(|connection| !connection.up.is_empty());
        for (connection, is_late, message) in came {
            if let Some(reply) = self.server.receive(connection, message) {
                if is_late && reply.answer == Answer::Refused(Status::SEQ_MISORDERED) {
                    self.server.reached.add(Row::Late);
                }
                self.reply(connection, reply);
            }
        }
    }

    fn reply(&mut self, number: u64, reply: Reply) {
        let takes = Duration::from_millis(10 + self.random.below(60));
        if let Some(connection) = self.lanes.iter_mut().flatten().find(|its| its.number == number) {
            let last = connection.down.back().map_or(Duration::ZERO, |(at, _)| *at);
            connection.down.push_back((last.max(self.now + takes), reply));
        }
    }

    fn receive(&mut self, lane: usize) {
        if self.now < self.silent {
            return;
        }
        while let Some(connection) = &mut self.lanes[lane]
            && self.core.next_work(lane, self.now) == LaneWork::Serve
            && let Some((at, _)) = connection.down.front()
            && *at <= self.now
        {
            let (_, reply) = connection.down.pop_front().expect("looked");
            self.core.on_heard(Some(lane), 100, self.now);
            if let Claim::Call(_) = self.core.claim(Some(lane), reply.xid) {
                self.on_reply(lane, &reply);
            }
            self.act();
        }
    }

    fn on_reply(&mut self, lane: usize, reply: &Reply) {
        let xid = reply.xid;
        let end = (Some, CallEnd::Ran(&reply.results));
        let sends = match self.core.on_answer(Some(lane), xid, end, self.now) {
            AnswerEffect::Call(answered) => answered.sends,
            AnswerEffect::Again => return self.core.return_buffer(xid, None),
            AnswerEffect::Nothing => panic!("there is no call {xid}"),
            AnswerEffect::GivenUp(_) => {
                assert!(self.abandoned.remove(&xid), "nobody waits for {xid}");
                return self.server.reached.add(Row::Abandoned);
            }
        };
        if self.upkeep.as_ref().is_some_and(|upkeep| upkeep.xid == xid) {
            return self.on_upkeep_answer(reply.answer);
        }
        let again = self.calls.remove(&xid).expect("a call of a caller");
        let body = self.bodies[&xid];
        match reply.answer {
            Answer::Done if reply.results.ends_with(&body.number().to_be_bytes()) => self.done += 1,
            // It did not run.
            Answer::Refused(status) if sends == 1 && status != Status::RETRY_UNCACHED_REP => {
                assert!(again < 100, "{status} for a caller, {again} times");
                self.call(body, TicketNeed::Usual, again + 1);
            }
            // It may have run: its caller must look.
            Answer::Refused(_) => {}
            // One that is none to its call, as the caller sees.
            Answer::Done if reply.results.len() == FOREIGN => {}
            other => panic!("{other:?} of another call for {xid} {body:?}, sent {sends} times: {reply:?}"),
        }
    }

    /// What the owner's thread does when it wakes.
    fn own(&mut self) {
        if self.upkeep.is_some() {
            return;
        }
        let wakes = self.wakes.is_some_and(|at| at <= self.now);
        if !std::mem::take(&mut self.is_awake) && !wakes {
            return;
        }
        let Some(action) = self.session(|its, now| its.poll(now)) else {
            // It sleeps, and learns of nothing but what the session says by itself.
            self.wakes = self.session(|its, _| its.wake_at());
            return;
        };
        let left = if action == UpkeepAction::Reclaim { 2 } else { 0 };
        self.begin(action, left);
    }

    fn begin(&mut self, action: UpkeepAction, left: u32) {
        let ticket = match action {
            UpkeepAction::ExchangeId { .. }
            | UpkeepAction::CreateSession { .. }
            | UpkeepAction::AddSession { .. }
            | UpkeepAction::DestroySession(_)
            | UpkeepAction::Bind(_)
            | UpkeepAction::DestroyClient(_) => TicketNeed::None,
            _ => TicketNeed::Upkeep,
        };
        let xid = self.call(Body::Upkeep(action), ticket, 0);
        self.upkeep = Some(Upkeep { action, xid, left });
    }

    fn on_upkeep_answer(&mut self, answer: Answer) {
        let Some(Upkeep { action, left, .. }) = self.upkeep.take() else { return };
        let failure = match answer {
            Answer::Refused(status) => {
                self.server.reached.add(Row::Upkeep(status.0));
                Some(UpkeepFailure::Refused(status))
            }
            Answer::Done if left > 0 => return self.begin(action, left - 1),
            _ => None,
        };
        if failure.is_none() {
            self.server.reached.add_done(action);
        }
        self.finish(action, answer, failure);
    }

    fn finish(&mut self, action: UpkeepAction, answer: Answer, failure: Option<UpkeepFailure>) {
        self.session(|its, now| match (action, failure, answer) {
            (UpkeepAction::ExchangeId { .. }, Some(failure), _) => drop(its.on_exchanged(Err(failure), now)),
            (UpkeepAction::CreateSession { .. }, Some(failure), _) => its.on_created(Err(failure), now),
            (UpkeepAction::AddSession { .. }, Some(failure), _) => its.on_added(Err(failure), now),
            (_, Some(failure), _) => its.on_done(Err(failure), now),
            (_, _, Answer::Exchanged(found)) => drop(its.on_exchanged(Ok(found), now)),
            (UpkeepAction::AddSession { .. }, _, Answer::Created(session, slots)) => {
                its.on_added(Ok((session, slots)), now);
            }
            (_, _, Answer::Created(session, slots)) => its.on_created(Ok((session, slots)), now),
            _ => its.on_done(Ok(()), now),
        });
        self.is_awake = true;
    }

    fn act(&mut self) {
        while let Some(output) = self.core.poll() {
            match output {
                CoreOutput::Failed { call, why } => {
                    assert_eq!(why, Failure::TimedOut);
                    self.on_failed(call);
                }
                CoreOutput::AttendSession => self.is_awake = true,
                CoreOutput::Ask { .. } | CoreOutput::Cut { .. } | CoreOutput::Admitted(_) => {
                    panic!("{output:?} is not asked for")
                }
                _ => {}
            }
        }
    }

    fn on_failed(&mut self, xid: u32) {
        if self.core.lane_of(xid).is_some() {
            self.abandoned.insert(xid);
        }
        if self.calls.remove(&xid).is_none()
            && let Some(upkeep) = self.upkeep.take_if(|upkeep| upkeep.xid == xid)
        {
            self.finish(upkeep.action, Answer::Done, Some(UpkeepFailure::NoAnswer));
        }
    }
}
