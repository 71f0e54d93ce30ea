//! Datagrams: received and answered one after the other by the worker that their socket woke, until none waits. Where they
//! come faster than it answers, others join it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Worker;
use crate::datagram;
use crate::dispatch::{self, Work};
use crate::program::Pace;
use crate::{Peer, Transport};

/// Datagrams in a row that a worker answers alone: to have another one woken costs as much as answering one.
const ALONE: u32 = 16;
/// Datagrams in a row before others get their turn.
const TURN: u32 = 1024;

impl Worker {
    /// Answers what waits in a socket.
    pub(super) fn datagrams(&mut self, index: usize) {
        // One-shot: the socket wakes nobody else until it is armed. Whoever it woke arms it once at least.
        let mut is_armed = false;
        for number in 0..TURN {
            if number == ALONE {
                is_armed = self.arm(index, is_armed);
            }
            if !self.answer_datagram(index, &mut is_armed) || self.shared.draining.load(Ordering::SeqCst) {
                break;
            }
        }
        self.arm(index, is_armed);
    }

    /// Answers the next datagram, if one waits.
    fn answer_datagram(&mut self, index: usize, is_armed: &mut bool) -> bool {
        let shared = Arc::clone(&self.shared);
        let socket = &shared.udp[index];
        let datagram = match socket.receive(&mut self.datagram) {
            Ok(Some(datagram)) => datagram,
            Ok(None) => return false,
            Err(error) => {
                tracing::debug!(%error, "receiving a datagram");
                return false;
            }
        };
        shared.datagrams_running.fetch_add(1, Ordering::SeqCst);
        let peer = Peer { client: datagram.client, server: datagram.server, transport: Transport::Udp };
        let work = dispatch::read(shared.programs, &self.datagram[..datagram.length]);
        if matches!(&work, Work::Run(job) if job.pace() != Pace::Quick) {
            *is_armed = self.arm(index, *is_armed);
        }
        let buffer = self.spare.pop().unwrap_or_default();
        if !*is_armed {
            self.slot.start(shared.udp_token(index));
        }
        let used = datagram::answer(&shared, socket, &datagram, &peer, work, buffer);
        if !*is_armed {
            self.slot.end();
        }
        self.spare.push(used);
        shared.datagrams_running.fetch_sub(1, Ordering::SeqCst);
        true
    }

    /// Lets the socket wake another worker, unless it may already; it may now.
    fn arm(&self, index: usize, is_armed: bool) -> bool {
        if !is_armed && let Err(error) = self.shared.arm_udp(index) {
            tracing::error!(%error, "arming a UDP socket");
        }
        true
    }
}
