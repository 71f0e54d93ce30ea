//! The decisions, put together from their parts.

use std::any::Any;
use std::collections::VecDeque;
use std::time::Duration;

use howdah_tune::flight::{Choice, Expected};

use super::calls::{Call, CallFacts, Calls};
use super::counters::{Counters, MovedBulk, ProcedureReport};
use super::lanes::{AllLanes, LanePlan};
use super::output::{
    AnswerEffect, AnsweredCall, CallToSend, ChannelNotice, CoreOutput, Failure, Glance, LaneSketch, LaneWork,
};
use super::server::{Server, changes_nothing};
use super::settings::CoreSettings;
use crate::client::envelope::{
    AfterCall, CallEnd, CallSends, CallSession, CallTicket, ResultsCover, TicketNeed,
};
use crate::client::lanes::{
    Growth, GrowthLook, GrowthReason, LaneLimit, Lanes, OutageFinding, Place, SentState, Sight, Verdict,
    WatchFacts, Window,
};
use crate::client::{Claim, PeerError, ReceiveInto};

/// How often a server may answer with what is no reply before a call is over.
const NONSENSE_MAX: u32 = 3;
/// A connection on which something came a moment ago has a path.
const FRESH: Duration = Duration::from_secs(1);

/// The decisions of a channel. `T` is what its owner calls a call; times are those since the channel was opened.
pub struct Core<T> {
    silence: Duration,
    calls: Calls<T>,
    window: Window<u32>,
    session: Option<Box<dyn CallSession>>,
    /// Calls for the upkeep of the session that wait for a ticket, in order.
    upkeep: VecDeque<u32>,
    /// Calls that are sent again, when, and on which connection they were before.
    again: Vec<(Duration, u32, u64)>,
    lanes: AllLanes,
    server: Server,
    counters: Counters,
    /// Program and version of the last call.
    program: Option<(u32, u32)>,
    links: u64,
    /// A call was answered: the server speaks RPC.
    speaks_rpc: bool,
    has_lost_path: bool,
    is_closed: bool,
    outputs: VecDeque<CoreOutput<T>>,
}

impl<T: Clone> Core<T> {
    /// A channel over these lanes, or over datagrams, without any. Its calls hold tickets of a session, if it has one.
    pub fn new(
        settings: &CoreSettings,
        plan: Option<LanePlan>,
        session: Option<Box<dyn CallSession>>,
    ) -> Self {
        let growth = || Growth::new(Lanes::Fixed(1), true);
        let none = || LanePlan { most: 0, has_small: false, growth: growth() };
        Self {
            silence: settings.silence,
            calls: Calls::default(),
            window: Window::new(settings.bounds),
            session,
            upkeep: VecDeque::new(),
            again: Vec::new(),
            lanes: AllLanes::new(plan.unwrap_or_else(none)),
            server: Server::new(settings.patience),
            counters: Counters::default(),
            program: None,
            links: 0,
            speaks_rpc: false,
            has_lost_path: false,
            is_closed: false,
            outputs: VecDeque::new(),
        }
    }

    /// The path is expected to carry so much.
    pub fn expect(&mut self, expected: Option<Expected>) {
        self.window.expect(expected);
    }

    /// The next thing to do.
    pub fn poll(&mut self) -> Option<CoreOutput<T>> {
        self.outputs.pop_front().or_else(|| {
            let wants_owner = self.session.as_mut().is_some_and(|session| session.wants_owner());
            wants_owner.then_some(CoreOutput::AttendSession)
        })
    }

    /// A call is made; gives the lane that carries it. It is sent once it may be in flight. A change is refused while the server is
    /// away: once sent, it would have to be waited for.
    pub fn start(&mut self, facts: CallFacts<T>, now: Duration) -> Option<usize> {
        let what = (facts.volume, facts.class);
        let (lane, is_small_new) = self.lanes.choose(what, || self.window.bulk_takes(), now);
        if is_small_new && let Some(small) = self.lanes.small() {
            self.outputs
                .extend([CoreOutput::Notice(ChannelNotice::SmallLane(small)), CoreOutput::Wake(small)]);
        }
        let (xid, class) = (facts.xid, facts.class);
        let need = if self.session.is_some() { facts.ticket } else { TicketNeed::Usual };
        if need == TicketNeed::Usual {
            self.window.enter(xid, (class, facts.volume));
        }
        self.insert(facts, lane, now);
        let refused = match (self.is_closed, self.server.is_away() && !changes_nothing(class)) {
            (true, _) => Some(Failure::Closed),
            (false, true) => Some(Failure::Away),
            (false, false) => None,
        };
        if let Some(why) = refused {
            self.fail(xid, why, now);
            return lane;
        }
        match need {
            TicketNeed::None => self.admit(xid, (Place::None, None), lane, now),
            TicketNeed::Upkeep => self.upkeep.push_back(xid),
            TicketNeed::Usual => {}
        }
        self.admit_next(Some(xid), lane, now);
        let waits = self.calls.get(xid).is_some_and(|call| call.admitted.is_none());
        if waits && self.lanes.used_numbers().nth(1).is_some() {
            // It waits for replies on any lane, and its caller for one on this.
            let loaded = (0..self.lanes.count()).filter(|&lane| self.lanes[lane].load() > 0);
            self.outputs.extend(loaded.map(CoreOutput::Receive));
        }
        lane
    }

    /// A question for a sign of life, on this lane or by a datagram: a call that needs no place.
    pub fn start_question(&mut self, facts: CallFacts<T>, lane: Option<usize>, now: Duration) {
        let xid = facts.xid;
        self.insert(facts, lane, now);
        if let Some(call) = self.calls.get_mut(xid) {
            call.admitted = Some((Place::None, None));
            if let Some(lane) = lane {
                self.lanes[lane].meter.on_start(now, call.facts.volume);
                self.lanes[lane].ready.push_back(xid);
            }
        }
    }

    /// The next call to be sent on a lane's connection. The caller must keep other threads from sending there until it is sent.
    pub fn poll_send(&mut self, lane: usize, now: Duration) -> Option<CallToSend<T>> {
        let Some(link) = self.lanes[lane].live().map(|link| link.number) else {
            // All that may be in flight is sent once there is a connection.
            self.lanes[lane].ready.clear();
            return None;
        };
        while let Some(xid) = self.lanes[lane].ready.pop_front() {
            let call = self.calls.get_mut(xid);
            let Some(call) = call.filter(|call| call.lane == Some(lane) && call.sent_on != link) else {
                continue;
            };
            let before = call.sends;
            (call.sent_on, call.sends, call.sent) = (link, before + 1, now);
            self.counters.on_send(call.facts.procedure, before);
            let ticket = call.ticket();
            let (call, procedure) = (call.facts.call.clone(), call.facts.procedure);
            return Some(CallToSend { call, procedure, before, ticket });
        }
        None
    }

    /// Whether calls of a lane wait to be sent.
    pub fn has_unsent(&self, lane: usize) -> bool {
        !self.lanes[lane].ready.is_empty()
    }

    /// A call is sent as a datagram; gives how often it was before, unless it is over.
    pub fn on_datagram(&mut self, xid: u32, now: Duration) -> Option<u32> {
        let call = self.calls.get_mut(xid)?;
        (call.sends, call.sent) = (call.sends + 1, now);
        self.counters.on_send(call.facts.procedure, call.sends - 1);
        Some(call.sends - 1)
    }

    /// The lane that carries a call, unless that is over.
    pub fn lane_of(&self, xid: u32) -> Option<usize> {
        self.calls.get(xid)?.lane
    }

    /// What is known of an xid that a reply on a lane bears.
    pub fn claim(&mut self, lane: Option<usize>, xid: u32) -> Claim {
        match self.calls.get_mut(xid).filter(|call| call.lane == lane) {
            Some(call) => match call.facts.cover {
                ResultsCover::None => Claim::Call(call.take_buffer()),
                cover => Claim::Covered(call.take_buffer(), cover),
            },
            None => Claim::Unknown,
        }
    }

    /// The call that a covered reply on a lane answers.
    pub fn covered_call(&self, lane: usize, xid: u32) -> Option<T> {
        let call = self.calls.get(xid).filter(|call| call.lane == Some(lane));
        call.map(|call| call.facts.call.clone())
    }

    /// No call is further behind the latest one than this from now on, of all kinds together. A larger number than before does not
    /// count.
    pub fn limit_calls(&mut self, most: usize) {
        self.window.limit(most);
    }

    /// A call is answered, on this lane. `moved` says how many bytes it moved, if the answer is one to work with.
    pub fn on_answer(
        &mut self,
        lane: Option<usize>,
        xid: u32,
        (moved, end): (impl FnOnce(usize) -> Option<usize>, CallEnd<'_>),
        now: Duration,
    ) -> AnswerEffect<T> {
        let Some(call) = self.calls.get(xid).filter(|call| call.lane == lane) else {
            return AnswerEffect::Nothing;
        };
        self.speaks_rpc = true;
        let (volume, sends, took) = (call.facts.volume, call.sends, now.saturating_sub(call.started));
        if let Some(ticket) = call.ticket() {
            let link = call.sent_on;
            match self.release(&ticket, end, call.sends(), now) {
                AfterCall::SendAgain(delay) => {
                    self.again.push((now + delay, xid, link));
                    return AnswerEffect::Again;
                }
                AfterCall::Over => {
                    let call = self.calls.get_mut(xid).expect("it is still there");
                    call.admitted = call.admitted.map(|(place, _)| (place, None));
                }
            }
        }
        match self.end(xid, Some(moved(volume)), now) {
            Some(Call { facts: CallFacts { call, procedure, .. }, is_abandoned: false, .. }) => {
                AnswerEffect::Call(AnsweredCall { call, procedure, sends, took })
            }
            Some(call) => AnswerEffect::GivenUp(call.facts.call),
            None => AnswerEffect::Nothing,
        }
    }

    /// Gives back the buffer of a call that is sent again, without what was received.
    pub fn return_buffer(&mut self, xid: u32, buffer: Option<Vec<u8>>) {
        if let Some(call) = self.calls.get_mut(xid) {
            call.put_buffer(buffer);
        }
    }

    /// A call broke off while it was sent, and cannot be sent again. Whether it was under way.
    pub fn abort(&mut self, xid: u32, now: Duration) -> bool {
        self.end(xid, None, now).is_some_and(|call| !call.is_abandoned)
    }

    /// Shows the session to its owner, if it is one of these; calls that may go out then do.
    pub fn with_session<S: CallSession, R>(
        &mut self,
        show: impl FnOnce(&mut S, Duration) -> R,
        now: Duration,
    ) -> Option<R> {
        let session: &mut dyn Any = self.session.as_mut()?.as_mut();
        let result = show(session.downcast_mut()?, now);
        self.admit_next(None, None, now);
        Some(result)
    }

    /// Whether a call's time is over.
    pub fn is_late(&self, xid: u32, now: Duration) -> bool {
        self.lateness(xid, now).is_some()
    }

    /// Gives a call up if its time is over.
    pub fn give_up(&mut self, xid: u32, now: Duration) {
        let Some(why) = self.lateness(xid, now) else { return };
        let lane = self.calls.get(xid).and_then(|call| call.lane);
        if why == Failure::Away && self.server.on_refused() {
            self.outputs.push_back(CoreOutput::Notice(ChannelNotice::Refusing(lane)));
        }
        self.fail(xid, why, now);
    }

    /// Gives up the calls that wait for a place and whose time is over.
    pub fn give_up_late(&mut self, now: Duration) {
        if self.server.may_have_late_calls(now) {
            self.calls.waiting().into_iter().for_each(|xid| self.give_up(xid, now));
        }
    }

    /// The channel is closed: all calls are over.
    pub fn close(&mut self, now: Duration) {
        self.is_closed = true;
        self.calls.all().into_iter().for_each(|xid| self.fail(xid, Failure::Closed, now));
    }

    /// What a lane's thread does next. A connection that it ends takes no calls from here on.
    pub fn next_work(&mut self, lane: usize, now: Duration) -> LaneWork {
        let (is_used, load) = (self.lanes.uses(lane), self.lanes[lane].load());
        match (self.lanes[lane].link(), self.lanes[lane].live()) {
            (Some(_), None) => LaneWork::CleanUp,
            (None, _) if is_used => LaneWork::Connect,
            (None, _) if load > 0 => {
                self.rehome(lane, now);
                LaneWork::Wait
            }
            (None, _) => LaneWork::Sleep,
            (Some(_), Some(_)) if is_used || load > 0 => LaneWork::Serve,
            (Some(link), Some(_)) => {
                let number = link.number;
                self.lanes[lane].on_broken(number);
                LaneWork::End
            }
        }
    }

    /// Whether a lane is used.
    pub fn uses(&self, lane: usize) -> bool {
        self.lanes.uses(lane)
    }

    /// A lane is connected: all that may be in flight on it is sent, in order. Gives the connection's number.
    pub fn on_connected(&mut self, lane: usize, now: Duration) -> u64 {
        self.links += 1;
        self.lanes[lane].on_connected(self.links, now);
        let calls = self.calls.of_lane(lane).into_iter();
        let may_go = calls.filter(|&xid| self.calls.get(xid).is_some_and(|call| call.admitted.is_some()));
        self.lanes[lane].ready = may_go.collect();
        if self.lanes[lane].is_suspect {
            self.ask(lane);
        }
        self.links
    }

    /// A connection is of no use any more: nothing is sent there from now on.
    pub fn on_broken(&mut self, lane: usize, link: u64) {
        self.lanes[lane].on_broken(link);
    }

    /// A lane's connection is gone. The buffer of a call whose reply broke off comes back. Unless there is a successor already, other
    /// lanes take its calls.
    pub fn on_disconnected(
        &mut self,
        lane: usize,
        abandoned: Option<(u32, ReceiveInto)>,
        has_successor: bool,
        now: Duration,
    ) {
        if let Some((xid, receive)) = abandoned {
            self.return_buffer(xid, Some(receive.buffer));
        }
        let received = self.lanes[lane].on_gone();
        if has_successor {
            return;
        }
        self.rehome(lane, now);
        if received == 0 {
            self.on_refusal(lane, now);
        }
    }

    /// A lane could not be connected.
    pub fn on_connect_failed(&mut self, lane: usize, now: Duration) {
        self.rehome(lane, now);
        self.on_refusal(lane, now);
    }

    /// A lane cannot be used: no thread looks after it. The first one, which has a thread always, takes its calls.
    pub fn on_no_thread(&mut self, lane: usize, now: Duration) {
        self.lanes[lane].is_suspect = true;
        self.on_refusal(lane, now);
        self.calls.of_lane(lane).into_iter().for_each(|xid| self.move_over(xid, 0, now));
        self.outputs.push_back(CoreOutput::Wake(0));
    }

    /// So many bytes were received, on this lane.
    pub fn on_heard(&mut self, lane: Option<usize>, bytes: usize, now: Duration) {
        if self.server.on_heard(now) {
            self.outputs.push_back(CoreOutput::Notice(ChannelNotice::Responding(lane)));
        }
        let Some(lane) = lane else { return };
        self.lanes[lane].on_heard(bytes as u64, now);
        if std::mem::replace(&mut self.lanes[lane].is_suspect, false) {
            self.outputs.push_back(CoreOutput::Notice(ChannelNotice::Delivers(lane)));
        }
    }

    /// Calls wait over datagrams since then.
    pub fn on_waiting(&mut self, waited: Duration, now: Duration) {
        if self.server.on_waiting(waited, now) {
            self.outputs.push_back(CoreOutput::Notice(ChannelNotice::NotResponding(None)));
        }
    }

    /// What the server sends on a lane is no reply. Sending the calls again may help, unless it never spoke RPC; calls for which it
    /// did not help are over.
    pub fn on_nonsense(&mut self, lane: usize, error: PeerError, now: Duration) {
        let is_hopeless = matches!(error, PeerError::NotRpc(_)) && !self.speaks_rpc;
        for xid in self.calls.of_lane(lane) {
            let Some(call) = self.calls.get_mut(xid).filter(|call| !call.is_abandoned) else { continue };
            call.nonsense += 1;
            if call.nonsense >= NONSENSE_MAX || is_hopeless {
                self.fail(xid, Failure::Nonsense(error), now);
            }
        }
    }

    /// Gives up calls of a lane whose time is over; a person learns that the others wait for long, and the server is asked for a sign
    /// of life where that counts.
    pub fn look_after_calls(&mut self, lane: usize, now: Duration) {
        self.send_again(now);
        if self.window.is_limited() {
            self.admit_next(None, None, now);
        }
        if self.lanes[lane].load() == 0 || !self.server.may_have_late_calls(now) {
            return;
        }
        let calls = self.calls.of_lane(lane);
        let oldest = calls.first().and_then(|&xid| self.calls.get(xid)).map(|call| call.started);
        let quiet = oldest.map_or(Duration::ZERO, |started| {
            if self.server.on_waiting(now.saturating_sub(started), now) {
                self.outputs.push_back(CoreOutput::Notice(ChannelNotice::NotResponding(Some(lane))));
            }
            self.server.quiet_since(started, now)
        });
        calls.into_iter().for_each(|xid| self.give_up(xid, now));
        if self.lanes[lane].live().is_some() && self.server.should_ask(quiet, now) {
            self.ask(lane);
        }
    }

    /// Sees whether a lane's connection still delivers.
    pub fn watch(&mut self, lane: usize, now: Duration) {
        let Some(facts) = self.facts(lane, now) else { return };
        let verdict = self.lanes[lane].watch.judge(&facts);
        match verdict {
            Verdict::Fine => {}
            Verdict::Ask => self.lanes.used_numbers().for_each(|lane| self.ask(lane)),
            Verdict::Stuck => {
                let was_suspect = std::mem::replace(&mut self.lanes[lane].is_suspect, true);
                let notice =
                    if was_suspect { ChannelNotice::StillStuck(lane) } else { ChannelNotice::Stuck(lane) };
                self.outputs.push_back(CoreOutput::Notice(notice));
                self.cut(lane, true);
            }
            Verdict::Silent => {
                self.outputs.push_back(CoreOutput::Notice(ChannelNotice::Silent(lane)));
                self.cut(lane, false);
            }
        }
    }

    /// Whether it counts now what the kernel says of what was sent on a lane's connection.
    pub fn wants_sent_state(&self, lane: usize, now: Duration) -> bool {
        let is_quiet = self.lanes[lane].live().is_some_and(|link| now.saturating_sub(link.heard) >= FRESH);
        (is_quiet || self.lanes[lane].outage.is_on()) && self.calls.oldest_sent(lane).is_some()
    }

    /// Judges whether the path below a lane's connection is lost, by what the kernel says of it, if that counts. `may_ask`: a question
    /// could be sent there now. Gives the round trip, too.
    pub fn look_at_path(
        &mut self,
        lane: usize,
        may_ask: bool,
        sent_state: Option<SentState>,
        now: Duration,
    ) -> Option<(OutageFinding, Duration)> {
        let link = *self.lanes[lane].live()?;
        let waited = self.calls.oldest_sent(lane).map(|(sent, _)| now.saturating_sub(sent));
        let its = &mut self.lanes[lane];
        let was_on = its.outage.is_on();
        if *its.outage_of.get_or_insert(link.number) != link.number {
            (its.outage, its.outage_of) = (Default::default(), Some(link.number));
        }
        let is_fresh = now.saturating_sub(link.heard) < FRESH;
        let found = if is_fresh && !its.outage.is_on() {
            Some((OutageFinding::Fine, Duration::ZERO))
        } else if let Some(waited) = waited
            && let Some(state) = sent_state
        {
            let finding = its.outage.judge(&Sight {
                now,
                waited,
                heard: link.heard,
                acknowledged: now.saturating_sub(state.since_acknowledgement),
                is_in_vain: state.is_in_vain,
                is_under_way: state.is_under_way,
                has_answered: link.received > 0,
                may_ask,
                round_trip: state.round_trip,
            });
            Some((finding, state.round_trip))
        } else {
            None
        };
        self.on_outage(lane, was_on);
        if let Some((OutageFinding::Ask, _)) = found {
            self.ask(lane);
        }
        found
    }

    /// A lane's connection is given up for another one that stands.
    pub fn on_replaced(&mut self, lane: usize) {
        self.lanes[lane].outage.on_given_up();
        self.lanes[lane].outage_of = None;
        self.cut(lane, false);
    }

    /// A lane wants no connection: what was known of the path below it is over.
    pub fn leave_path(&mut self, lane: usize) {
        let was_on = self.lanes[lane].outage.is_on();
        (self.lanes[lane].outage, self.lanes[lane].outage_of) = Default::default();
        self.on_outage(lane, was_on);
    }

    /// A look at what limits the lanes together: there may be more or fewer of them then.
    pub fn on_look(&mut self, limit: LaneLimit, writes: bool, round_trip: Duration, now: Duration) {
        let ready = self.lanes.used().iter().filter(|lane| lane.delivers()).count();
        let moved = self.counters.moved().bytes;
        self.lanes.growth.on_look(GrowthLook { now, limit, writes, moved, round_trip, ready });
        self.follow_growth();
    }

    /// Calls of a lane, and bulk, at a glance.
    pub fn glance(&self, lane: usize) -> Glance {
        let (in_flight, waits) = self.window.glance();
        let (load, has_unsent) = (self.lanes[lane].load(), self.has_unsent(lane));
        let is_full = self.session.as_ref().is_some_and(|session| !session.has_ticket(TicketNeed::Usual));
        let waits_for_slot = is_full && self.window.peek().is_some();
        Glance { in_flight, waits, waits_for_slot, load, has_unsent, moved: self.counters.moved() }
    }

    /// Calls that a lane carries.
    pub fn load(&self, lane: usize) -> usize {
        self.lanes[lane].load()
    }

    /// Whether a reply on a lane may bring data for a caller's buffer.
    pub fn expects_data(&self, lane: usize) -> bool {
        self.lanes[lane].expects_data()
    }

    /// Calls in flight: bulk, and others.
    pub fn in_flight(&self) -> (usize, usize) {
        (self.window.glance().0, self.window.small())
    }

    /// Whether nothing bulky is in flight.
    pub fn is_silent(&self) -> bool {
        self.window.glance().0 == 0
    }

    /// Bulk calls in flight, and how many may be.
    pub fn explain(&self) -> (usize, Choice) {
        self.window.explain()
    }

    /// A lane as it is.
    pub fn sketch(&self, lane: usize) -> LaneSketch {
        self.lanes[lane].sketch()
    }

    /// How many lanes are used for all calls, and why so many.
    pub fn lanes(&self) -> (usize, GrowthReason) {
        (self.lanes.used().len(), self.lanes.growth.why())
    }

    /// The lane for small calls, if it is used.
    pub fn small_lane(&self) -> Option<usize> {
        self.lanes.small()
    }

    /// What was called, and what became of it.
    pub fn procedures(&self) -> Vec<ProcedureReport> {
        self.counters.report()
    }

    /// What bulk calls came to, of all time.
    pub fn moved(&self) -> MovedBulk {
        self.counters.moved()
    }

    /// Whether the server is away.
    pub fn is_away(&self) -> bool {
        self.server.is_away()
    }

    /// How long the server has been silent while calls wait.
    pub fn silent(&self, now: Duration) -> Option<Duration> {
        let started =
            self.calls.all().into_iter().filter_map(|xid| self.calls.get(xid)).map(|call| call.started);
        self.server.silent(started.min(), now)
    }

    fn insert(&mut self, facts: CallFacts<T>, lane: Option<usize>, now: Duration) {
        self.program = Some((facts.procedure.program, facts.procedure.version));
        if let Some(lane) = lane {
            self.lanes[lane].enter(facts.receive.is_some());
        }
        self.calls.insert(facts, lane, now, self.server.deadline(now));
    }

    /// Admits waiting calls. The call `new` keeps its lane; others go to the lane that is expected to deliver them first. The caller
    /// sends the calls on the lane `own` itself.
    fn admit_next(&mut self, new: Option<u32>, own: Option<usize>, now: Duration) {
        self.window.on_time(now);
        while let Some(session) = self.session.as_mut().filter(|its| its.has_ticket(TicketNeed::Upkeep))
            && let Some(xid) = self.upkeep.pop_front()
        {
            let ticket = session.take(TicketNeed::Upkeep, now);
            self.admit(xid, (Place::None, Some(ticket)), own, now);
        }
        while self.window.peek().is_some() {
            let session = self.session.as_mut();
            if session.as_ref().is_some_and(|session| !session.has_ticket(TicketNeed::Usual)) {
                return;
            }
            let Some((xid, place)) = self.window.next(now) else { return };
            let ticket = session.map(|session| session.take(TicketNeed::Usual, now));
            if new != Some(xid) {
                self.settle(xid, now);
            }
            self.admit(xid, (place, ticket), own, now);
        }
    }

    fn admit(&mut self, xid: u32, admitted: (Place, Option<CallTicket>), own: Option<usize>, now: Duration) {
        let call = self.calls.get_mut(xid).expect("a call that is over does not wait");
        call.admitted = Some(admitted);
        let Some(lane) = call.lane else {
            return self.outputs.push_back(CoreOutput::Admitted(call.facts.call.clone()));
        };
        self.lanes[lane].meter.on_start(now, call.facts.volume);
        self.lanes[lane].ready.push_back(xid);
        if own != Some(lane) {
            self.outputs.push_back(CoreOutput::Wake(lane));
        }
    }

    /// Chooses the lane again for a call that is admitted: the queues have changed since it was made.
    fn settle(&mut self, xid: u32, now: Duration) {
        let Some(call) = self.calls.get(xid) else { return };
        if call.facts.class.is_bulk()
            && self.lanes.used().len() > 1
            && let Some(better) = self.lanes.first_to_deliver(call.facts.volume, |_| true)
        {
            self.move_over(xid, better, now);
        }
    }

    /// A lane is not connected: others that are take its calls.
    fn rehome(&mut self, lane: usize, now: Duration) {
        for xid in self.calls.of_lane(lane) {
            let Some(call) = self.calls.get(xid) else { continue };
            let may = |other: usize| other != lane && self.lanes[other].live().is_some();
            let Some(other) = self.lanes.first_to_deliver(call.facts.volume, may) else { return };
            self.move_over(xid, other, now);
            self.outputs.push_back(CoreOutput::Wake(other));
        }
    }

    /// Another lane carries a call from now on, and sends it if it may be in flight.
    fn move_over(&mut self, xid: u32, to: usize, now: Duration) {
        let Some(call) = self.calls.get_mut(xid) else { return };
        let Some(from) = call.lane.filter(|from| *from != to) else { return };
        call.lane = Some(to);
        self.lanes[from].leave(call.wants_data);
        self.lanes[to].enter(call.wants_data);
        if call.admitted.is_some() {
            self.lanes[from].meter.on_finish(now, call.facts.volume, None);
            self.lanes[to].meter.on_start(now, call.facts.volume);
            self.lanes[to].ready.push_back(xid);
        }
        self.outputs.push_back(CoreOutput::Moved(call.facts.call.clone()));
    }

    /// A call is over: others may go. `answered`: it was, and moved so many bytes if the answer is one to work with.
    fn end(&mut self, xid: u32, answered: Option<Option<usize>>, now: Duration) -> Option<Call<T>> {
        let call = self.calls.remove(xid)?;
        if let Some(lane) = call.lane {
            self.lanes[lane].leave(call.wants_data);
            if call.admitted.is_some() {
                let took = answered.map(|_| now.saturating_sub(call.started));
                self.lanes[lane].meter.on_finish(now, call.facts.volume, took);
            }
        }
        if let Some(ticket) = call.ticket() {
            // It was never sent, or its first send broke off.
            let end = if call.sends <= 1 { CallEnd::NotRun } else { CallEnd::Unknown };
            self.release(&ticket, end, call.sends(), now);
        }
        self.leave(&call, answered.flatten(), now);
        if !self.is_closed {
            self.admit_next(None, call.lane.filter(|_| answered.is_some()), now);
        }
        Some(call)
    }

    /// A call gives its place back, and is counted. `moved`: it was answered, and moved so many bytes.
    fn leave(&mut self, call: &Call<T>, moved: Option<usize>, now: Duration) {
        if call.is_abandoned {
            return;
        }
        let CallFacts { xid, procedure, class, .. } = call.facts;
        match moved {
            Some(bytes) => {
                self.counters.on_answer(procedure, class, now.saturating_sub(call.started), bytes);
            }
            None => self.counters.on_error(procedure),
        }
        match call.admitted {
            None => {
                self.window.forget(&xid, class);
                self.upkeep.retain(|waiting| *waiting != xid);
            }
            Some((place, _)) => self.window.leave(place, moved, now),
        }
    }

    /// A ticket is given back.
    fn release(
        &mut self,
        ticket: &CallTicket,
        end: CallEnd<'_>,
        sends: CallSends,
        now: Duration,
    ) -> AfterCall {
        self.session.as_mut().expect("it gave the ticket").release(ticket, end, sends, now)
    }

    /// A call is given up. One that was sent with a ticket goes on without its caller.
    fn fail(&mut self, xid: u32, why: Failure, now: Duration) {
        let Some(call) = self.calls.get(xid) else { return };
        let (its, was_abandoned) = (call.facts.call.clone(), call.is_abandoned);
        let is_at_server = call.sends > 0 && call.ticket().is_some() && !self.is_closed;
        if !is_at_server {
            self.end(xid, None, now);
        } else if !was_abandoned {
            self.abandon(xid, now);
        }
        if !was_abandoned {
            self.outputs.push_back(CoreOutput::Failed { call: its, why });
        }
    }

    fn abandon(&mut self, xid: u32, now: Duration) {
        let Some(mut call) = self.calls.remove(xid) else { return };
        self.leave(&call, None, now);
        call.is_abandoned = true;
        call.admitted = call.admitted.map(|(_, ticket)| (Place::None, ticket));
        self.calls.put_back(call);
        self.admit_next(None, None, now);
    }

    /// Sends what is due to be sent again.
    fn send_again(&mut self, now: Duration) {
        let is_due = |(at, ..): &mut (Duration, u32, u64)| *at <= now;
        for (_, xid, link) in self.again.extract_if(.., is_due) {
            if let Some(call) = self.calls.get_mut(xid).filter(|call| call.sent_on == link)
                && let Some(lane) = call.lane
            {
                call.sent_on = 0;
                self.lanes[lane].ready.push_back(xid);
                self.outputs.push_back(CoreOutput::Wake(lane));
            }
        }
    }

    /// Why a call is to be given up, if its time is over. A change that was sent is waited for while the server is away.
    fn lateness(&self, xid: u32, now: Duration) -> Option<Failure> {
        let call = self.calls.get(xid).filter(|call| !call.is_abandoned)?;
        if call.deadline.is_some_and(|deadline| now >= deadline) {
            return Some(Failure::TimedOut);
        }
        let may_be_refused = changes_nothing(call.facts.class) || call.sends == 0;
        let is_too_long = self.server.is_too_long(self.server.quiet_since(call.started, now));
        (may_be_refused && is_too_long).then_some(Failure::Away)
    }

    /// What there is to judge a lane by.
    fn facts(&self, lane: usize, now: Duration) -> Option<WatchFacts> {
        let heard = self.lanes[lane].live()?.heard;
        let oldest = self.calls.oldest_sent(lane);
        Some(WatchFacts {
            now,
            heard,
            waiting: oldest.map(|(sent, sends)| (now.saturating_sub(sent), sends)),
            usual: self.lanes[lane].meter.usual(),
            others_heard: self.lanes.others_heard(lane),
            silence: self.silence,
        })
    }

    fn ask(&mut self, lane: usize) {
        if let Some((program, version)) = self.program.filter(|_| self.lanes[lane].live().is_some()) {
            self.outputs.push_back(CoreOutput::Ask { lane, program, version });
        }
    }

    fn cut(&mut self, lane: usize, turn_away: bool) {
        if let Some(link) = self.lanes[lane].live().map(|link| link.number) {
            self.lanes[lane].on_broken(link);
            self.outputs.push_back(CoreOutput::Cut { lane, link, turn_away });
        }
    }

    fn on_refusal(&mut self, lane: usize, now: Duration) {
        if self.session.as_ref().is_some_and(|session| session.has_one_lane()) {
            self.lanes.keep_first();
        }
        self.lanes.on_refusal(lane, now);
        self.follow_growth();
    }

    fn follow_growth(&mut self) {
        let Some(before) = self.lanes.follow_growth() else { return };
        let (now, why) = self.lanes();
        self.outputs.push_back(CoreOutput::Notice(ChannelNotice::Lanes { before, now, why }));
        // Those that are not used any more have something to do, too.
        self.outputs.extend((0..self.lanes.count()).map(CoreOutput::Wake));
    }

    fn on_outage(&mut self, lane: usize, was_on: bool) {
        match (was_on, self.lanes[lane].outage.is_on()) {
            (false, true) if !std::mem::replace(&mut self.has_lost_path, true) => {
                self.outputs.push_back(CoreOutput::Notice(ChannelNotice::PathLost(lane)));
            }
            (true, false) if std::mem::replace(&mut self.has_lost_path, false) => {
                self.outputs.push_back(CoreOutput::Notice(ChannelNotice::PathBack(lane)));
            }
            _ => {}
        }
    }
}
