//! The loop that moves time from event to event, and messages between client and server.

use std::time::{Duration, Instant};

use howdah_link::{Element, Ethernet, Path};

use super::{Action, Call, Client, Load, Server, SimulatedMessage, null};
use crate::client::datagram::{NewCall, Peer, Report};

/// Xids from here on are those of probes.
const PROBES: u32 = 0xf000_0000;
/// Bytes of a call.
const CALL: usize = 140;

/// Client, path, server.
#[derive(Debug)]
pub struct Simulation<C = Peer<Call>> {
    /// The client.
    pub peer: C,
    /// The path to the server.
    pub out: Path<SimulatedMessage>,
    /// The path back.
    pub back: Path<SimulatedMessage>,
    /// The server.
    pub server: Server,
    /// What datagrams travel on.
    pub ethernet: Ethernet,
    /// Not more calls may ever be on their way.
    pub most_calls: usize,
    start: Instant,
    now: Instant,
    next_probe: u32,
    sent: u64,
    again: u64,
}

impl<C: Client> Simulation<C> {
    /// Begins at `start`, whenever that is. On an Ethernet of 1500 bytes.
    pub fn new(
        peer: C,
        out: Path<SimulatedMessage>,
        back: Path<SimulatedMessage>,
        server: Server,
        start: Instant,
    ) -> Self {
        let ethernet = Ethernet { mtu: 1500 };
        let most_calls = usize::MAX;
        let (now, next_probe, sent, again) = (start, PROBES, 0, 0);
        Self { peer, out, back, server, ethernet, most_calls, start, now, next_probe, sent, again }
    }

    /// Runs until the load is done or so much time has passed; the time it took.
    pub fn run(&mut self, load: &mut impl Load, most: Duration) -> Duration {
        let mut calls = Vec::new();
        loop {
            self.step(load, &mut calls);
            let Some(next) = self.next_event(load).filter(|_| !load.is_done()) else { break };
            if next > self.start + most {
                break;
            }
            assert!(next > self.now, "time stands still at {:?}", self.elapsed());
            self.now = next;
        }
        self.elapsed()
    }

    /// Since the beginning.
    pub fn elapsed(&self) -> Duration {
        self.now - self.start
    }

    /// Calls sent, each once.
    pub fn calls(&self) -> u64 {
        self.sent - self.again
    }

    /// How often a call was sent again.
    pub fn retransmissions(&self) -> u64 {
        self.again
    }

    fn step(&mut self, load: &mut impl Load, calls: &mut Vec<NewCall<usize>>) {
        self.carry(load);
        loop {
            load.start(self.elapsed(), self.peer.transfer_size(), calls);
            for call in calls.drain(..) {
                let NewCall { xid, class, replay, sends, receives, transfer, expires, call } = call;
                let call = (xid, call);
                let call = NewCall { xid, class, replay, sends, receives, transfer, expires, call };
                self.peer.start(self.now, call);
            }
            if !self.send(load) {
                break;
            }
        }
        assert!(self.peer.calls_in_flight() <= self.most_calls, "the window is above its bound");
        assert!(self.peer.next_event().is_none_or(|at| at > self.now), "a timer that has run out already");
    }

    /// Moves what has arrived by now.
    fn carry(&mut self, load: &mut impl Load) {
        while let Some((_, packet)) = self.back.poll(self.now) {
            let answered = self.peer.received(self.now, packet.body.xid);
            if let Some(xid) = answered.filter(|xid| *xid < PROBES) {
                load.answered(self.now - self.start, xid);
            }
        }
        while let Some((at, packet)) = self.out.poll(self.now) {
            self.server.call(self.start, at, packet.body);
        }
        while let Some((at, message)) = self.server.reply(self.now) {
            self.back.push(at, self.ethernet.datagram(message.reply, message));
        }
    }

    /// Sends what may be sent. True: something was given back, and the load may want to make it anew.
    fn send(&mut self, load: &mut impl Load) -> bool {
        let mut returned_any = false;
        let mut probe = false;
        while let Some(action) = self.peer.act(self.now) {
            match action {
                Action::Send { xid, sends, reply } => {
                    self.sent += 1;
                    self.again += u64::from(sends > 1);
                    load.sent(self.now - self.start, xid, sends);
                    let packet = self.ethernet.datagram(CALL, SimulatedMessage { xid, reply });
                    self.out.push(self.now, packet);
                }
                Action::Returned { xid, why } => {
                    load.returned(xid, why);
                    returned_any = true;
                }
                Action::Probe => probe = true,
            }
        }
        if probe {
            self.next_probe += 1;
            self.peer.start(self.now, null(self.next_probe));
        }
        returned_any || probe
    }

    /// Probes that were called so far, answered or not.
    pub fn probes(&self) -> usize {
        (self.next_probe - PROBES) as usize
    }

    fn next_event(&self, load: &impl Load) -> Option<Instant> {
        let load = load.next_event().map(|at| self.start + at);
        let paths = [self.out.next_event(), self.back.next_event()];
        let ends = [self.peer.next_event(), self.server.next_event(), load];
        let next = paths.into_iter().chain(ends).flatten().min();
        next.map(|at| at.max(self.now + Duration::from_nanos(1)))
    }
}

impl Simulation {
    /// What the client of today reports of itself.
    pub fn report(&self) -> Report {
        self.peer.report(self.now)
    }
}
