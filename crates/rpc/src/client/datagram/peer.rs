//! The state machine: calls are started, polled for what to send, and ended by replies.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::advice::LossCount;
use super::counts::Counts;
use super::entry::{Entry, NewCall, State};
use super::estimator::Estimator;
use super::least::Least;
use super::pacer::Pacer;
use super::patience::Patience;
use super::rate::{Rate, SentAt};
use super::settings::Settings;
use super::settled::SettledCalls;
use super::table::Table;
use super::transfer::Transfer;
use super::waiting::{Line, Waiting};
use super::window::{Amount, Window};
use super::worth::Worth;
use crate::client::Class;

/// Headers of a bulk call and its reply, about: what a window of two calls starts from.
const HEADERS: usize = 512;
/// Sending faster than the window per round trip: twice while it doubles, so that it can; a quarter otherwise.
const STARTING_GAIN: f64 = 2.0;
const STEADY_GAIN: f64 = 1.25;

/// What to do next.
#[derive(Debug)]
pub enum Output<'a, C> {
    /// Send this call, for the `sends`-th time, from the socket that it was sent from before.
    Send {
        /// Of the call.
        xid: u32,
        /// 1: for the first time.
        sends: u32,
        /// What was given to [`Peer::start`].
        call: &'a C,
    },
    /// This call will not be answered: it is no longer here.
    Returned {
        /// What was given to [`Peer::start`].
        call: C,
        /// Why.
        why: Returned,
    },
    /// Start a call of the class [`Class::Attributes`] that does nothing (NULL): its answer will distinguish a server that is
    /// down from a path that loses fragments.
    Probe,
}

/// Why a call is given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returned {
    /// Its time is over.
    Expired,
    /// Datagrams of that size do not get through: to be made again, in pieces of this size.
    TooLarge {
        /// [`Peer::transfer_size`] now.
        transfer: usize,
    },
}

/// Whether a server that says nothing is asked whether it lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Probe {
    None,
    Wanted,
    /// And not answered: one is enough, it is sent again like any call.
    Sent,
}

/// Calls to one server from one socket.
#[derive(Debug)]
pub struct Peer<C> {
    pub(super) table: Table<C>,
    pub(super) waiting: Waiting,
    pub(super) settled: SettledCalls,
    pub(super) returned: VecDeque<(C, Returned)>,
    pub(super) window: Window,
    pub(super) worth: Worth,
    pub(super) pacer: Pacer,
    pub(super) rate: Rate,
    pub(super) transfer: Transfer,
    pub(super) losses: LossCount,
    pub(super) estimators: [Estimator; Class::COUNT],
    pub(super) least: [Least; Class::COUNT],
    pub(super) counts: [Counts; Class::COUNT],
    /// Calls in flight, and their bytes.
    pub(super) flight: (usize, usize),
    /// Sendings so far.
    pub(super) order: u64,
    /// The latest sending that was answered.
    pub(super) answered_order: u64,
    pub(super) last_active: Instant,
    /// Not before that time does a call time out or expire.
    pub(super) alarm: Option<Instant>,
    /// When a call will be overdue.
    pub(super) overdue: Option<Instant>,
    /// What may be sent, but not before.
    pub(super) paced: Option<Instant>,
    pub(super) probe: Probe,
    /// Replies that no call waits for.
    pub(super) unknown: u64,
    pub(super) patience: Patience,
    pub(super) is_local: bool,
}

impl<C> Peer<C> {
    /// A peer of which nothing is measured yet.
    pub fn new(settings: &Settings, now: Instant) -> Self {
        let transfer = Transfer::new(settings);
        // Half: the kernel counts more for a datagram than its bytes.
        let window = Window::new(settings.most_calls, settings.receive_room / 2, transfer.size() + HEADERS);
        Self {
            table: Table::new(),
            waiting: Waiting::default(),
            settled: SettledCalls::default(),
            returned: VecDeque::new(),
            worth: Worth::new(now, window.size()),
            window,
            pacer: Pacer::default(),
            rate: Rate::default(),
            transfer,
            losses: LossCount::default(),
            estimators: Class::ALL.map(Estimator::new),
            least: Default::default(),
            counts: Default::default(),
            flight: (0, 0),
            order: 0,
            answered_order: 0,
            last_active: now,
            alarm: None,
            overdue: None,
            paced: None,
            probe: Probe::None,
            unknown: 0,
            patience: Patience::default(),
            is_local: settings.is_local(),
        }
    }

    /// Takes a call on. It is sent when [`Peer::poll`] says so.
    pub fn start(&mut self, now: Instant, call: NewCall<C>) {
        let line = if call.class.is_bulk() { Line::Bulk } else { Line::Small };
        self.alarm = self.alarm.into_iter().chain(call.expires).min();
        let ticket = self.table.insert(Entry::new(call, now));
        self.waiting.push(line, ticket);
    }

    /// Forgets a call that nobody waits for any more.
    pub fn cancel(&mut self, xid: u32) -> Option<C> {
        let index = self.table.find(xid)?;
        self.land(index);
        self.table.remove(index).map(|entry| entry.new.call)
    }

    /// Forgets all calls.
    pub fn take_all(&mut self) -> Vec<C> {
        let indices = self.table.indices();
        let calls = indices.filter_map(|index| {
            self.land(index);
            self.table.remove(index).map(|entry| entry.new.call)
        });
        calls.collect()
    }

    /// What to do now; to be asked until `None`, by who has seen that no answer waits to be received: a call whose answer is
    /// here is not late, however late it is looked at.
    pub fn poll(&mut self, now: Instant) -> Option<Output<'_, C>> {
        if self.alarm.is_some_and(|at| at <= now) {
            self.expire(now);
        }
        if self.overdue.is_some_and(|at| at <= now) {
            self.look_for_overdue(now);
        }
        self.poll_to_send(now)
    }

    /// The same for who has not looked for answers: what may be sent, whatever timers say.
    pub fn poll_to_send(&mut self, now: Instant) -> Option<Output<'_, C>> {
        if let Some((call, why)) = self.returned.pop_front() {
            return Some(Output::Returned { call, why });
        }
        if self.probe == Probe::Wanted {
            self.probe = Probe::Sent;
            return Some(Output::Probe);
        }
        self.paced = None;
        let (line, index) = self.choose()?;
        if let Some(at) = self.pacer.blocked_until(now).filter(|_| self.flight.0 > 0) {
            self.paced = Some(at);
            return None;
        }
        self.waiting.pop(line);
        self.send(now, index)
    }

    /// When to poll next, though nothing happened; `None`: not before something does.
    pub fn next_event(&self) -> Option<Instant> {
        [self.alarm, self.overdue, self.paced].into_iter().flatten().min()
    }

    /// The size that READs and WRITEs should have now, in bytes.
    pub fn transfer_size(&self) -> usize {
        self.transfer.size()
    }

    /// Calls on the way.
    pub fn calls_in_flight(&self) -> usize {
        self.flight.0
    }

    /// Calls that are not answered yet, sent or not.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Is there none?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first call that may be sent, by the window.
    fn choose(&mut self) -> Option<(Line, usize)> {
        let flight = self.amount();
        for line in self.waiting.order() {
            let Some(index) = self.waiting.head(line, &self.table) else { continue };
            let charge = self.table.get(index)?.charge();
            if self.window.admits(flight, charge) {
                return Some((line, index));
            }
            // What was lost is the oldest, and would wait for ever behind calls that are smaller.
            if line == Line::Lost {
                return None;
            }
        }
        None
    }

    fn send(&mut self, now: Instant, index: usize) -> Option<Output<'_, C>> {
        let entry = self.table.get(index)?;
        let (class, charge, sends) = (entry.new.class, entry.charge(), entry.sends + 1);
        self.rest(now, class);
        let estimator = &self.estimators[class as usize];
        let wait = estimator.wait(now, sends, self.rate.time_of(self.flight.1));
        self.pacer.sent(now, self.gap(class, charge));
        self.flight = (self.flight.0 + 1, self.flight.1 + charge);
        self.order += 1;
        self.last_active = now;
        self.counts[class as usize].sent(sends);
        self.alarm = Some(self.alarm.map_or(now + wait, |alarm| alarm.min(now + wait)));
        let (order, delivered, flight) = (self.order, self.rate.delivered(), self.amount());
        let entry = self.table.get_mut(index)?;
        entry.state = State::InFlight;
        entry.sends = sends;
        entry.last = SentAt { at: now, delivered };
        entry.flight = flight;
        if sends == 1 {
            entry.first = now;
        }
        entry.order = order;
        entry.deadline = now + wait;
        Some(Output::Send { xid: entry.new.xid, sends, call: &entry.new.call })
    }

    /// After a rest longer than a time-out the window starts anew.
    fn rest(&mut self, now: Instant, class: Class) {
        if self.flight.0 > 0 {
            return;
        }
        self.worth.begin(now, self.order, self.rate.delivered());
        let rested = now.saturating_duration_since(self.last_active);
        if rested > self.estimators[class as usize].timeout(now) {
            self.window.restart(self.largest_call());
        }
    }

    /// The largest call with its reply, about, in bytes.
    pub(super) fn largest_call(&self) -> usize {
        self.transfer.size() + HEADERS
    }

    /// The time from one datagram to the next, if the window is spread over a round trip.
    fn gap(&self, class: Class, charge: usize) -> Duration {
        let Some(round) = self.estimators[class as usize].smoothed() else { return Duration::ZERO };
        let gain = if self.window.is_starting() { STARTING_GAIN } else { STEADY_GAIN };
        // More than a round trip it never is: one datagram per round trip may always leave.
        round.mul_f64((charge as f64 / (self.window.size().bytes * gain)).min(1.0))
    }

    /// A call no longer counts as on the way.
    pub(super) fn land(&mut self, index: usize) {
        if let Some(entry) = self.table.get(index)
            && entry.state == State::InFlight
        {
            self.flight = (self.flight.0 - 1, self.flight.1 - entry.charge());
        }
    }

    /// What is on the way, as the window counts it.
    pub(super) fn amount(&self) -> Amount {
        Amount { calls: self.flight.0 as f64, bytes: self.flight.1 as f64 }
    }
}
