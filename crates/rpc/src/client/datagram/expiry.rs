//! Calls whose time has come: sent again, given back in order to be made smaller, or given up.

use std::time::Instant;

use super::entry::{Entry, State};
use super::peer::{Peer, Probe, Returned};
use super::settled::Settled;
use super::table::Ticket;
use super::waiting::Line;
use crate::client::ReplaySafety;

impl<C> Peer<C> {
    /// Looks at every call whose timer has run out, and finds out when the next one does.
    pub(super) fn expire(&mut self, now: Instant) {
        for index in self.table.indices() {
            let Some(entry) = self.table.get(index) else { continue };
            let class = entry.new.class;
            if entry.new.expires.is_some_and(|at| at <= now) {
                self.land(index);
                self.counts[class as usize].expired += 1;
                self.give_back(index, Returned::Expired);
            } else if entry.state == State::InFlight && entry.deadline <= now {
                self.time_out(now, index);
            }
        }
        self.alarm = self.table.iter().filter_map(Entry::alarm).min();
    }

    /// A timer ran out.
    fn time_out(&mut self, now: Instant, index: usize) {
        let Some(entry) = self.table.get(index) else { return };
        let (class, transfer) = (entry.new.class, entry.new.transfer);
        self.counts[class as usize].timed_out += 1;
        self.estimators[class as usize].expired(entry.last.at, now);
        // If calls sent later were answered, the server lives, and this one is lost, or slow. Otherwise nobody knows.
        if self.answered_order > entry.order {
            return self.lose(now, index);
        }
        if self.probe == Probe::None && transfer.is_some_and(|size| self.transfer.is_fragmented(size)) {
            self.probe = Probe::Wanted;
        }
        self.send_again(now, index);
    }

    /// A call is lost, while others are answered.
    pub(super) fn lose(&mut self, now: Instant, index: usize) {
        let Some(entry) = self.table.get_mut(index) else { return };
        let transfer = entry.new.transfer;
        if !std::mem::replace(&mut entry.lost_alone, true) {
            self.losses.lost();
            transfer.into_iter().for_each(|size| self.transfer.lost(now, size));
        }
        self.send_again(now, index);
    }

    /// A call is sent again when the window allows it, unless it is given back in order to be made smaller.
    fn send_again(&mut self, now: Instant, index: usize) {
        self.land(index);
        let Some(entry) = self.table.get_mut(index) else { return };
        self.window.timed_out(entry.last.at, now, entry.sends > 1);
        entry.state = State::Lost;
        entry.timed_out = Some(now);
        let xid = entry.new.xid;
        if self.should_be_smaller(index) {
            let transfer = self.transfer.size();
            self.settle(now, index);
            self.give_back(index, Returned::TooLarge { transfer });
        } else {
            self.waiting.push(Line::Lost, Ticket { index, xid });
        }
    }

    /// Is it larger than what gets through, and may be made again?
    fn should_be_smaller(&self, index: usize) -> bool {
        self.table.get(index).is_some_and(|entry| {
            let too_large = entry
                .new
                .transfer
                .is_some_and(|size| self.transfer.is_fragmented(size) && size > self.transfer.size());
            too_large && entry.lost_alone && entry.new.replay == ReplaySafety::Idempotent
        })
    }

    /// Remembers a call that leaves without an answer, or with one that may be any sending's.
    pub(super) fn settle(&mut self, now: Instant, index: usize) {
        let Some(entry) = self.table.get(index) else { return };
        let Some(timed_out) = entry.timed_out else { return };
        let class = entry.new.class;
        let settled = Settled {
            xid: entry.new.xid,
            class,
            first: entry.first,
            answered: None,
            timed_out,
            lost: entry.lost_alone.then_some(entry.new.transfer),
            // A second reply may be a disk away, which is much more than one round trip.
            until: now + self.estimators[class as usize].timeout(now),
        };
        self.settled.push(now, settled);
    }

    fn give_back(&mut self, index: usize, why: Returned) {
        if let Some(entry) = self.table.remove(index) {
            self.returned.push_back((entry.new.call, why));
        }
    }
}
