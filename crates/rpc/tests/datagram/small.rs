//! Loads of small calls.

use std::time::Duration;

use howdah_rpc::client::datagram::{NewCall, Returned};
use howdah_rpc::simulation::{Load, getattr};

/// GETATTRs, so many at a time, for a while.
pub struct Small {
    pub at_once: usize,
    pub until: Duration,
    pub next: u32,
    pub open: usize,
    pub answered: Vec<(Duration, u32)>,
    over: bool,
}

impl Small {
    pub fn new(at_once: usize, until: Duration) -> Self {
        Self { at_once, until, next: 0, open: 0, answered: Vec::new(), over: false }
    }
}

impl Load for Small {
    fn start(&mut self, now: Duration, _: usize, calls: &mut Vec<NewCall<usize>>) {
        self.over |= now >= self.until;
        while self.open < self.at_once && !self.over {
            self.next += 1;
            self.open += 1;
            calls.push(getattr(self.next));
        }
    }

    fn answered(&mut self, now: Duration, xid: u32) {
        self.open -= 1;
        self.answered.push((now, xid));
    }

    fn returned(&mut self, xid: u32, why: Returned) {
        panic!("call {xid} was given back: {why:?}");
    }

    fn next_event(&self) -> Option<Duration> {
        (!self.over).then_some(self.until)
    }

    fn is_done(&self) -> bool {
        self.over && self.open == 0
    }
}
