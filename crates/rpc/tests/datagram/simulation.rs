//! The loop that moves time from event to event, and messages between client and server.

use std::time::{Duration, Instant};

use howdah_link::{Element, Ethernet, Path};
use howdah_rpc::client::datagram::{NewCall, Output, Peer, Received, Report, Returned, Settings};

use crate::server::{Message, Server};

/// What drives a simulation: makes calls, and hears what became of them.
pub trait Load {
    /// Makes calls, if it wants to. A call's own value is the number of bytes of its reply.
    fn start(&mut self, now: Duration, transfer: usize, calls: &mut Vec<NewCall<usize>>);
    /// A call was answered.
    fn answered(&mut self, now: Duration, xid: u32);
    /// A call was sent, for the so-many-th time.
    fn sent(&mut self, _now: Duration, _xid: u32, _sends: u32) {}
    /// A call was given back.
    fn returned(&mut self, xid: u32, why: Returned);
    /// When it wants to make calls though nothing happened.
    fn next_event(&self) -> Option<Duration> {
        None
    }
    /// Has it all that it wanted?
    fn is_done(&self) -> bool;
}

/// Client, path, server.
pub struct Simulation {
    pub peer: Peer<(u32, usize)>,
    pub out: Path<Message>,
    pub back: Path<Message>,
    pub server: Server,
    pub ethernet: Ethernet,
    pub start: Instant,
    pub now: Instant,
    /// Checks that hold after every step.
    pub most_calls: usize,
    next_probe: u32,
}

impl Simulation {
    pub fn new(settings: Settings, out: Path<Message>, back: Path<Message>, server: Server) -> Self {
        let start = Instant::now();
        Self {
            peer: Peer::new(&settings, start),
            out,
            back,
            server,
            ethernet: Ethernet { mtu: settings.path_mtu },
            start,
            now: start,
            most_calls: settings.most_calls,
            next_probe: 0xf000_0000,
        }
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

    pub fn elapsed(&self) -> Duration {
        self.now - self.start
    }

    pub fn report(&self) -> Report {
        self.peer.report(self.now)
    }

    /// Retransmissions of all classes.
    pub fn retransmissions(&self) -> u64 {
        self.report().classes.iter().map(|class| class.retransmissions).sum()
    }

    fn step(&mut self, load: &mut impl Load, calls: &mut Vec<NewCall<usize>>) {
        while let Some((_, packet)) = self.back.poll(self.now) {
            if let Received::Answer { call: (xid, _), .. } = self.peer.received(self.now, packet.body.xid) {
                assert_eq!(xid, packet.body.xid);
                if xid < 0xf000_0000 {
                    load.answered(self.now - self.start, xid);
                }
            }
        }
        while let Some((at, packet)) = self.out.poll(self.now) {
            self.server.call(self.start, at, packet.body);
        }
        while let Some((at, message)) = self.server.reply(self.now) {
            self.back.push(at, self.ethernet.datagram(message.reply, message));
        }
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

    /// Sends what may be sent. True: something was given back, and the load may want to make it anew.
    fn send(&mut self, load: &mut impl Load) -> bool {
        let mut returned_any = false;
        let mut probe = false;
        while let Some(output) = self.peer.poll(self.now) {
            match output {
                Output::Send { xid, sends, call: (_, reply) } => {
                    load.sent(self.now - self.start, xid, sends);
                    let packet = self.ethernet.datagram(140, Message { xid, reply: *reply });
                    self.out.push(self.now, packet);
                }
                Output::Returned { call: (xid, _), why } => {
                    load.returned(xid, why);
                    returned_any = true;
                }
                Output::Probe => probe = true,
            }
        }
        if probe {
            self.next_probe += 1;
            let call = crate::small::null(self.next_probe);
            self.peer.start(self.now, call);
            return true;
        }
        returned_any
    }

    fn next_event(&self, load: &impl Load) -> Option<Instant> {
        let load = load.next_event().map(|at| self.start + at);
        [
            self.peer.next_event(),
            self.out.next_event(),
            self.back.next_event(),
            self.server.next_event(),
            load,
        ]
        .into_iter()
        .flatten()
        .min()
        .map(|at| at.max(self.now + Duration::from_nanos(1)))
    }
}
