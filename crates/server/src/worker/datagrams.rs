//! Datagrams: received and answered one after the other by the worker that their socket woke, until none waits. Where they
//! come faster than it answers, others join it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use howdah_net::Datagram;

use super::Worker;
use crate::Transport;
use crate::counts::{Moment, Timing};
use crate::datagram;
use crate::dispatch::Work;
use crate::gates::Asker;
use crate::outline::ReplyPace;
use crate::udp::Port;

/// Datagrams in a row that a worker answers alone: to have another one woken costs as much as answering one.
const ALONE: u32 = 16;
/// Datagrams in a row before others get their turn: many enough that being woken anew costs little beside them, few enough
/// that nobody waits long while each of them takes its time.
const TURN: u32 = 64;

/// What came of looking for a datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// None.
    Nothing,
    /// One whose call was expected to be quick.
    Quick,
    /// One whose call was not: another worker was let in before it was run.
    Slow,
}

impl Worker {
    /// Answers what waits in a socket.
    pub(super) fn datagrams(&mut self, port: &Arc<Port>) {
        for number in 0..TURN {
            if self.shared.draining.load(Ordering::SeqCst) {
                return;
            }
            // One-shot: the socket wakes nobody else until it is armed.
            let is_armed = number >= ALONE;
            if number == ALONE {
                self.arm(port);
            }
            match self.answer_datagram(port, is_armed, number == 0) {
                Found::Quick => {}
                Found::Nothing if !is_armed => break,
                Found::Nothing | Found::Slow => return,
            }
        }
        self.arm(port);
    }

    /// Answers the next datagram, if one waits. `is_armed`: the socket may wake another worker meanwhile.
    fn answer_datagram(&mut self, port: &Arc<Port>, is_armed: bool, is_first: bool) -> Found {
        let datagram = match port.receive(&mut self.datagram) {
            Ok(Some(datagram)) => datagram,
            Ok(None) => return Found::Nothing,
            Err(error) => {
                tracing::debug!(%error, "receiving a datagram");
                return Found::Nothing;
            }
        };
        let timing = Timing { arrived: Moment::now(), received: datagram.length, is_first };
        self.shared.datagrams_running.fetch_add(1, Ordering::SeqCst);
        let buffer = std::mem::take(&mut self.datagram);
        let found = self.take_up(port, &datagram, &buffer[..datagram.length], &timing, is_armed);
        self.datagram = buffer;
        found
    }

    fn take_up(
        &mut self,
        port: &Arc<Port>,
        datagram: &Datagram,
        message: &[u8],
        timing: &Timing,
        is_armed: bool,
    ) -> Found {
        let work = self.shared.service.dispatcher.read(message, None, Transport::Udp);
        let shut = if let Work::Run(job) = &work { self.shut_gate(job) } else { None };
        let reserved = shut.and_then(|export| self.reserve(export, &datagram.peer()));
        if let Some(export) = shut.filter(|_| reserved.is_none()) {
            self.wait_at_gate(export, (message, None), timing, Asker::Datagram(Arc::clone(port), *datagram));
            return Found::Quick;
        }
        let is_slow = matches!(&work, Work::Run(job) if self.pace(job, &datagram.peer()) != ReplyPace::Quick);
        if is_slow && !is_armed {
            self.arm(port);
        }
        let is_watched = !is_slow && !is_armed;
        if is_watched {
            self.slot.start(port.token());
        }
        self.run_datagram((port, datagram), work, timing);
        if is_watched {
            self.slot.end();
        }
        if reserved.is_some() {
            self.came_back = None;
        }
        if is_slow { Found::Slow } else { Found::Quick }
    }

    /// Runs a datagram's call and answers it.
    pub(super) fn run_datagram(
        &mut self,
        (port, datagram): (&Arc<Port>, &Datagram),
        work: Work<'_>,
        timing: &Timing,
    ) {
        let buffer = self.spare.take();
        let shared = Arc::clone(&self.shared);
        let reply = datagram::answer(&shared, &mut self.clerk, timing, datagram, work, buffer);
        let reply = reply.map(|reply| self.hold_datagram((port, datagram), reply, timing.received));
        match reply {
            Ok(Some(reply)) => {
                let used = datagram::send(&mut self.clerk, (port, datagram), reply);
                self.spare.put(used);
            }
            Ok(None) => {}
            Err(buffer) => self.spare.put(buffer),
        }
        self.come_back();
        shared.datagrams_running.fetch_sub(1, Ordering::SeqCst);
    }

    /// Lets the socket wake another worker.
    fn arm(&self, port: &Port) {
        if let Err(error) = self.shared.arm_udp(port) {
            tracing::error!(%error, "arming a UDP socket");
        }
    }
}
