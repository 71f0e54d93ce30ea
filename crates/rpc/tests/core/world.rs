//! A channel's decisions between callers that want much and a server that is lost in many ways, in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use howdah_link::Random;
use howdah_rpc::client::core::{
    AnswerEffect, CallFacts, ChannelNotice, Core, CoreOutput, CoreSettings, Failure, LanePlan, LaneWork,
    Patience, ProcedureId,
};
use howdah_rpc::client::envelope::{
    AfterCall, CallEnd, CallSends, CallSession, CallTicket, ResultsCover, TicketNeed,
};
use howdah_rpc::client::lanes::{Growth, Lanes, SentState};
use howdah_rpc::client::{Claim, Class};
use howdah_tune::flight::Bounds;

use crate::stream::Stream;

/// Time passes in such steps.
pub const STEP: Duration = Duration::from_millis(5);
/// How often a lane's connection is judged.
const LOOK: Duration = Duration::from_millis(100);
/// Messages that a connection takes before its sender must wait.
const BUFFER: u64 = 32;
const ONE_WAY: Duration = Duration::from_millis(20);

/// A connection.
struct Connection {
    number: u64,
    up: Stream,
    down: Stream,
    /// Nothing that is sent arrives any more.
    is_dead: bool,
    /// Xids that were sent on it.
    sent: BTreeSet<u32>,
    heard: Duration,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Answered,
    Failed(Failure),
    Cancelled,
}

/// The server: when it answers, and what it will.
struct Server {
    /// Replies that wait: at a time, over a lane's connection.
    replies: BTreeMap<(Duration, u32), (usize, u64)>,
    is_up: bool,
}

/// Channel, connections and server.
pub struct World {
    pub core: Core<u32>,
    pub now: Duration,
    pub random: Random,
    pub outcomes: BTreeMap<u32, Outcome>,
    pub notices: Vec<ChannelNotice>,
    /// Calls that were sent on more than one connection.
    pub resent: BTreeSet<u32>,
    start: Instant,
    lanes: Vec<(Option<Connection>, Duration)>,
    server: Server,
    /// Calls that were made.
    calls: BTreeSet<u32>,
    has_session: bool,
    next_xid: u32,
    /// Parts of a thousand messages that are lost.
    pub loss: u64,
    /// Lanes whose connections are made over a path that is gone.
    pub unreachable: BTreeSet<usize>,
}

/// So many slots.
pub struct Slots {
    pub free: Vec<u32>,
    pub numbers: BTreeMap<u32, u32>,
    /// One in so many answers says that the call runs already.
    pub again: u64,
    pub random: Random,
    /// Only calls for its upkeep may go out.
    pub is_closed: bool,
}

impl CallSession for Slots {
    fn has_ticket(&self, need: TicketNeed) -> bool {
        !self.free.is_empty() && (!self.is_closed || need == TicketNeed::Upkeep)
    }

    fn take(&mut self, _: TicketNeed, _: Duration) -> CallTicket {
        let slot = self.free.pop().expect("there is one");
        let number = self.numbers.entry(slot).or_default();
        *number += 1;
        CallTicket { session: [0; 16], slot, number: *number, highest_slot: slot }
    }

    fn release(&mut self, ticket: &CallTicket, end: CallEnd<'_>, _: CallSends, _: Duration) -> AfterCall {
        if matches!(end, CallEnd::Ran(_)) && self.random.below(self.again) == 0 {
            return AfterCall::SendAgain(Duration::from_millis(self.random.below(2000)));
        }
        assert!(!self.free.contains(&ticket.slot), "slot {} is given back twice", ticket.slot);
        self.free.push(ticket.slot);
        AfterCall::Over
    }

    fn wants_owner(&mut self) -> bool {
        false
    }
}

impl World {
    pub fn new(seed: u64, lanes: usize, patience: Patience, session: Option<Slots>) -> Self {
        Self::with(
            seed,
            LanePlan { most: lanes, has_small: false, growth: Growth::new(Lanes::Fixed(lanes), false) },
            patience,
            session,
        )
    }

    /// Whose lanes come and go.
    pub fn growing(seed: u64, most: usize) -> Self {
        let plan = LanePlan { most, has_small: true, growth: Growth::new(Lanes::Auto, false) };
        Self::with(seed, plan, Patience::Hard, None)
    }

    fn with(seed: u64, plan: LanePlan, patience: Patience, session: Option<Slots>) -> Self {
        let bounds = Bounds { floor: 4, floor_bytes: 0, ceiling: 16, ..Bounds::default() };
        let settings = CoreSettings { patience, silence: Duration::from_secs(60), bounds };
        let lanes = plan.most + usize::from(plan.has_small);
        #[allow(clippy::disallowed_methods, reason = "some instant is needed to start from")]
        let start = Instant::now();
        Self {
            has_session: session.is_some(),
            core: Core::new(
                &settings,
                Some(plan),
                session.map(|slots| Box::new(slots) as Box<dyn CallSession>),
            ),
            now: Duration::ZERO,
            random: Random::new(seed),
            outcomes: BTreeMap::new(),
            notices: Vec::new(),
            resent: BTreeSet::new(),
            start,
            lanes: (0..lanes).map(|_| (None, Duration::ZERO)).collect(),
            server: Server { replies: BTreeMap::new(), is_up: true },
            calls: BTreeSet::new(),
            next_xid: 1,
            loss: 0,
            unreachable: BTreeSet::new(),
        }
    }

    /// Calls that are neither answered, failed nor cancelled.
    pub fn open(&self) -> usize {
        self.calls.len() - self.outcomes.len()
    }

    /// A number below so many.
    pub fn below(&mut self, count: u64) -> u64 {
        self.random.below(count)
    }

    /// A caller makes a call.
    pub fn call(&mut self, class: Class) -> u32 {
        self.call_with(class, TicketNeed::Usual)
    }

    /// The same with this ticket of the session.
    pub fn call_with(&mut self, class: Class, ticket: TicketNeed) -> u32 {
        let facts = CallFacts { ticket, ..self.facts(class) };
        let xid = facts.xid;
        self.calls.insert(xid);
        self.core.start(facts, self.now);
        self.act();
        xid
    }

    /// A caller does not want its call any more.
    pub fn cancel(&mut self) {
        let open: Vec<u32> =
            self.calls.iter().filter(|xid| !self.outcomes.contains_key(xid)).copied().collect();
        if open.is_empty() {
            return;
        }
        let xid = open[self.below(open.len() as u64) as usize];
        if self.core.abort(xid, self.now) {
            self.outcome(xid, Outcome::Cancelled);
        }
        self.act();
    }

    /// The path below a lane's connection is gone.
    pub fn kill(&mut self, lane: usize) {
        if let Some(connection) = &mut self.lanes[lane].0 {
            connection.is_dead = true;
        }
    }

    /// The server closes a lane's connection.
    pub fn close(&mut self, lane: usize) {
        if let Some(connection) = &self.lanes[lane].0 {
            self.core.on_broken(lane, connection.number);
        }
    }

    /// The server goes away with all its connections, or is back.
    pub fn set_up(&mut self, is_up: bool) {
        self.server.is_up = is_up;
        if !is_up {
            self.server.replies.clear();
            (0..self.lanes.len()).for_each(|lane| self.close(lane));
        }
    }

    /// Time passes.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += STEP;
            (0..self.lanes.len()).for_each(|lane| self.lane(lane));
            self.serve();
            (0..self.lanes.len()).for_each(|lane| self.receive(lane));
        }
    }

    /// Nothing is under way, and nothing counts as if it were.
    pub fn assert_rest(&self) {
        assert_eq!(self.core.in_flight(), (0, 0));
        for lane in 0..self.lanes.len() {
            let sketch = self.core.sketch(lane);
            assert!(sketch.load == 0 && !sketch.meter.is_busy(), "lane {lane}: {sketch:?}");
        }
    }

    fn facts(&mut self, class: Class) -> CallFacts<u32> {
        let xid = self.next_xid;
        self.next_xid += 1;
        let volume = if class.is_bulk() { 1 << 20 } else { 0 };
        let procedure = ProcedureId { program: 100_003, version: 3, procedure: 1 };
        let ticket = TicketNeed::Usual;
        CallFacts {
            xid,
            procedure,
            class,
            volume,
            ticket,
            receive: None,
            cover: ResultsCover::None,
            call: xid,
        }
    }

    /// What a lane's thread does.
    fn lane(&mut self, lane: usize) {
        match self.core.next_work(lane, self.now) {
            LaneWork::Connect if self.now >= self.lanes[lane].1 => self.connect(lane),
            LaneWork::CleanUp => {
                self.lanes[lane].0 = None;
                self.core.on_disconnected(lane, None, false, self.now);
            }
            LaneWork::Serve => {
                self.send(lane);
                if self.now.as_millis().is_multiple_of(LOOK.as_millis()) {
                    self.look(lane);
                }
            }
            LaneWork::End | LaneWork::Connect | LaneWork::Wait | LaneWork::Sleep => {}
        }
        self.core.look_after_calls(lane, self.now);
        self.act();
    }

    fn connect(&mut self, lane: usize) {
        if !self.server.is_up || self.unreachable.contains(&lane) {
            self.lanes[lane].1 = self.now + Duration::from_secs(1);
            self.core.on_connect_failed(lane, self.now);
            return;
        }
        let number = self.core.on_connected(lane, self.now);
        let [up, down] = [(); 2].map(|()| Stream::new(ONE_WAY, self.random.number()));
        let sent = BTreeSet::new();
        self.lanes[lane].0 = Some(Connection { number, up, down, is_dead: false, sent, heard: self.now });
    }

    fn send(&mut self, lane: usize) {
        let (start, now) = (self.start, self.now);
        loop {
            let lost = self.random.below(1000) < self.loss;
            let Some(connection) = &mut self.lanes[lane].0 else { return };
            let is_dead = connection.is_dead;
            connection.up.send_again((start, now), || is_dead);
            if connection.up.under_way() >= BUFFER {
                return;
            }
            let Some(sending) = self.core.poll_send(lane, now) else { return };
            let xid = sending.call;
            assert!(
                connection.sent.insert(xid),
                "call {xid} is sent twice on connection {}",
                connection.number
            );
            let goes_on = self.has_session && matches!(self.outcomes.get(&xid), Some(Outcome::Failed(_)));
            assert!(goes_on || !self.outcomes.contains_key(&xid), "call {xid} is over, and sent");
            if sending.before > 0 {
                self.resent.insert(xid);
            }
            connection.up.send(xid, (start, now), lost || is_dead);
        }
    }

    fn look(&mut self, lane: usize) {
        let Some(connection) = &self.lanes[lane].0 else { return };
        let state = SentState {
            is_in_vain: connection.is_dead && connection.up.under_way() > 0,
            is_under_way: connection.up.under_way() > 0,
            since_acknowledgement: self.now.saturating_sub(connection.heard),
            round_trip: ONE_WAY * 2,
        };
        let found = self.core.look_at_path(lane, true, Some(state), self.now);
        if let Some((howdah_rpc::client::lanes::OutageFinding::Lost, _)) = found
            && !self.unreachable.contains(&lane)
            && self.server.is_up
        {
            // Another connection is made at once.
            self.core.on_replaced(lane);
        }
        self.core.watch(lane, self.now);
    }

    /// The server takes calls, and sends replies.
    fn serve(&mut self) {
        let time = (self.start, self.now);
        for lane in 0..self.lanes.len() {
            while let Some(connection) = &mut self.lanes[lane].0
                && let Some(xid) = connection.up.receive(time)
            {
                connection.heard = self.now;
                let (number, takes) = (connection.number, Duration::from_millis(self.random.below(30)));
                self.server.replies.insert((self.now + takes, xid), (lane, number));
            }
        }
        while let Some(((at, xid), (lane, number))) = self.server.replies.pop_first() {
            if at > self.now {
                self.server.replies.insert((at, xid), (lane, number));
                break;
            }
            let lost = self.random.below(1000) < self.loss;
            if let Some(connection) = self.lanes[lane].0.as_mut().filter(|its| its.number == number) {
                let is_dead = connection.is_dead;
                connection.down.send(xid, time, lost || is_dead);
            }
        }
    }

    fn receive(&mut self, lane: usize) {
        let time = (self.start, self.now);
        while let Some(connection) = &mut self.lanes[lane].0 {
            let is_dead = connection.is_dead;
            connection.down.send_again(time, || is_dead);
            let Some(xid) = connection.down.receive(time) else { break };
            connection.heard = self.now;
            self.core.on_heard(Some(lane), 100, self.now);
            if let Claim::Call(_) = self.core.claim(Some(lane), xid) {
                match self.core.on_answer(Some(lane), xid, (Some, CallEnd::Ran(&[])), self.now) {
                    AnswerEffect::Call(answered) => {
                        assert!(answered.sends > 0, "an answer to what was not sent");
                        self.outcome(xid, Outcome::Answered);
                    }
                    AnswerEffect::Again => {
                        // It may be sent on this connection once more.
                        if let Some(connection) = &mut self.lanes[lane].0 {
                            connection.sent.remove(&xid);
                        }
                        self.core.return_buffer(xid, None);
                    }
                    AnswerEffect::GivenUp(_) => assert!(self.has_session, "its caller waits"),
                    AnswerEffect::Nothing => panic!("it was claimed"),
                }
            }
            self.act();
        }
    }

    fn outcome(&mut self, xid: u32, outcome: Outcome) {
        // Questions are nobody's.
        if self.calls.contains(&xid) {
            let before = self.outcomes.insert(xid, outcome);
            assert_eq!(before, None, "call {xid} is over twice");
        }
    }

    /// Does what the channel asks for.
    pub fn act(&mut self) {
        let mut moved = Vec::new();
        while let Some(output) = self.core.poll() {
            match output {
                CoreOutput::Failed { call, why } => self.outcome(call, Outcome::Failed(why)),
                CoreOutput::Admitted(call) => panic!("call {call} is on no lane"),
                CoreOutput::Moved(call) => moved.push(call),
                CoreOutput::Wake(_) | CoreOutput::Receive(_) | CoreOutput::AttendSession => {}
                CoreOutput::Ask { lane, .. } => {
                    let facts = self.facts(Class::Attributes);
                    self.core.start_question(facts, Some(lane), self.now);
                }
                CoreOutput::Cut { lane, link, .. } => {
                    let its = self.lanes[lane].0.as_ref().map(|connection| connection.number);
                    assert_eq!(its, Some(link));
                }
                CoreOutput::Notice(notice) => self.notices.push(notice),
            }
        }
        // A call that moved may be given up at the same time.
        for call in moved {
            assert!(self.core.lane_of(call).is_some() || self.outcomes.contains_key(&call));
        }
    }
}
