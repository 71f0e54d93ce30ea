//! Calls on their way, those that wait to be sent, and those that wait to be sent again.

use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

use howdah_rpc::client::datagram::NewCall;
use howdah_rpc::simulation::{Action, Call, Client};

use super::super::TimerRule;
use super::timer::{TICK, Timer};
use super::window::{SLOTS, Window};

/// A mount of 2003.
#[derive(Debug)]
pub struct Client2003 {
    began: Instant,
    transfer: usize,
    timer: Timer,
    window: Window,
    /// Calls that have a slot: were sent and not answered.
    open: BTreeMap<u32, Open>,
    /// Of those, so many are on their way, and the others wait to be sent again.
    in_flight: u32,
    again: VecDeque<u32>,
    /// Those that have no slot yet.
    waiting: VecDeque<Call>,
}

#[derive(Debug)]
struct Open {
    reply: usize,
    sends: u32,
    /// The tick of the last sending.
    sent: u32,
    /// The tick at which its time is over; `None`: it is, and it waits to be sent again.
    due: Option<u32>,
}

impl Client2003 {
    /// With that timer, and READs of that size.
    pub fn new(rule: TimerRule, transfer: usize, now: Instant) -> Self {
        Self {
            began: now,
            transfer,
            timer: Timer::new(rule),
            window: Window::new(),
            open: BTreeMap::new(),
            in_flight: 0,
            again: VecDeque::new(),
            waiting: VecDeque::new(),
        }
    }

    fn tick(&self, now: Instant) -> u32 {
        ((now - self.began).as_nanos() / TICK.as_nanos()) as u32
    }

    /// Calls whose time is over leave the window, which is halved for each.
    fn expire(&mut self, tick: u32) {
        for (xid, call) in &mut self.open {
            if call.due.take_if(|due| *due <= tick).is_some() {
                self.in_flight -= 1;
                self.window.timed_out();
                self.again.push_back(*xid);
            }
        }
    }

    /// Who is next: those that were sent before come first.
    fn next_call(&mut self) -> Option<u32> {
        if !self.window.admits(self.in_flight) {
            return None;
        }
        if let Some(xid) = self.again.pop_front() {
            return Some(xid);
        }
        if self.open.len() >= SLOTS as usize {
            return None;
        }
        let (xid, reply) = self.waiting.pop_front()?;
        self.open.insert(xid, Open { reply, sends: 0, sent: 0, due: None });
        Some(xid)
    }
}

impl Client for Client2003 {
    fn start(&mut self, _: Instant, call: NewCall<Call>) {
        self.waiting.push_back(call.call);
    }

    fn received(&mut self, now: Instant, xid: u32) -> Option<u32> {
        let call = self.open.remove(&xid)?;
        if call.sends == 1 {
            self.timer.sample(self.tick(now) - call.sent);
        }
        if call.due.is_some() {
            self.window.answered(self.in_flight);
            self.in_flight -= 1;
        } else {
            self.again.retain(|waiting| *waiting != xid);
        }
        Some(xid)
    }

    fn act(&mut self, now: Instant) -> Option<Action> {
        let tick = self.tick(now);
        self.expire(tick);
        let xid = self.next_call()?;
        let call = self.open.get_mut(&xid).expect("who is next has a slot");
        call.sends += 1;
        (call.sent, call.due) = (tick, Some(tick + self.timer.wait(call.sends)));
        self.in_flight += 1;
        Some(Action::Send { xid, sends: call.sends, reply: call.reply })
    }

    fn next_event(&self) -> Option<Instant> {
        let due = self.open.values().filter_map(|call| call.due).min()?;
        Some(self.began + TICK * due)
    }

    fn transfer_size(&self) -> usize {
        self.transfer
    }

    fn calls_in_flight(&self) -> usize {
        self.in_flight as usize
    }
}
