//! What a reply proves: that a call is done, how long the path takes, whether a call was sent again for nothing.

use std::time::{Duration, Instant};

use super::entry::Entry;
use super::peer::{Peer, Probe};
use super::settled::Settled;
use crate::client::Class;

/// Answers that take that much longer than the path does have stood in a queue.
const QUEUE: Duration = Duration::from_millis(4);
/// The longest queue that a window may still grow with, however the rate looks: at 100 Mb/s a switch's port holds hardly more,
/// and rates that are measured on a loaded host look better by chance.
const QUEUE_MOST: Duration = Duration::from_millis(10);

/// What a reply was for.
#[derive(Debug, PartialEq, Eq)]
pub enum ReceivedReply<C> {
    /// The answer of this call.
    Answer {
        /// What was given to [`Peer::start`].
        call: C,
        /// How often it was sent.
        sends: u32,
    },
    /// The second answer of a call that was sent more than once, or the late one of a call that was given back.
    Late,
    /// No call has that xid; or the network made two of one.
    Unknown,
}

impl<C> Peer<C> {
    /// A reply came, in a datagram that is a reply by its header.
    pub fn received(&mut self, now: Instant, xid: u32) -> ReceivedReply<C> {
        let Some(index) = self.table.find(xid) else { return self.late(now, xid) };
        self.land(index);
        let Some(entry) = self.table.get(index).filter(|entry| entry.sends > 0) else {
            self.unknown += 1;
            return ReceivedReply::Unknown;
        };
        self.answered_order = self.answered_order.max(if entry.sends == 1 { entry.order } else { 0 });
        (self.last_active, self.probe) = (now, Probe::None);
        let clear = self.is_clear(now, entry);
        if !clear {
            self.settle_answered(now, index);
        }
        let Some(entry) = self.table.remove(index) else { return ReceivedReply::Unknown };
        self.measure(now, &entry, clear);
        ReceivedReply::Answer { call: entry.new.call, sends: entry.sends }
    }

    /// Does the answer belong to the first sending beyond doubt?
    fn is_clear(&self, now: Instant, entry: &Entry<C>) -> bool {
        // No answer is quicker than the path.
        let least = || self.least.iter().filter_map(|least| least.get()).min();
        entry.sends == 1 || least().is_some_and(|least| now.saturating_duration_since(entry.last.at) < least)
    }

    fn measure(&mut self, now: Instant, entry: &Entry<C>, clear: bool) {
        let class = entry.new.class;
        let took = now.saturating_duration_since(entry.first);
        let since_last = now.saturating_duration_since(entry.last.at);
        self.rate.sample(entry.charge(), entry.last.delivered, since_last);
        self.losses.answered();
        if clear {
            self.estimators[class as usize].sample(now, took);
            if let Some(timed_out) = entry.timed_out {
                let lost = entry.lost_alone.then_some(entry.new.transfer);
                self.sent_for_nothing(now, class, took, timed_out, lost);
            }
        }
        if class.is_bulk() && entry.sends == 1 {
            self.patience.sample(now, took);
        }
        self.grow(now, entry, took);
        if let Some(size) = entry.new.transfer.filter(|_| entry.timed_out.is_none())
            && self.transfer.passed(now, size)
        {
            let start = self.window.make_room(self.largest_call());
            self.worth.make_room(start);
        }
        self.counts[class as usize].answered += 1;
        self.answer_came(now);
    }

    /// Lets the window grow if that is worth it.
    fn grow(&mut self, now: Instant, entry: &Entry<C>, took: Duration) {
        let (mut standing, mut full) = (false, false);
        if entry.sends == 1 {
            let least = &mut self.least[entry.new.class as usize];
            least.sample(now, took);
            let least = least.get().unwrap_or(took);
            let queue = took.saturating_sub(least);
            (standing, full) = (queue > QUEUE.max(least / 4), queue > QUEUE_MOST.max(least / 2));
        }
        self.worth.answered(now, entry.order, self.order, self.rate.delivered(), self.window.size());
        if !full {
            let charge = entry.charge();
            self.window.answered(entry.flight, charge, self.worth.limit(standing, charge), standing);
        }
    }

    /// A call timed out, and its answer, which took so long, came all the same.
    fn sent_for_nothing(
        &mut self,
        now: Instant,
        class: Class,
        took: Duration,
        timed_out: Instant,
        lost: Option<Option<usize>>,
    ) {
        self.estimators[class as usize].was_too_quick(now, took);
        if class.is_bulk() {
            self.patience.was_too_short(now, took);
        }
        self.window.was_for_nothing(timed_out);
        self.counts[class as usize].for_nothing += 1;
        if let Some(transfer) = lost {
            self.losses.refuted();
            transfer.into_iter().for_each(|size| self.transfer.refuted(size));
        }
    }

    fn settle_answered(&mut self, now: Instant, index: usize) {
        self.settle(now, index);
        self.settled.answered(now);
    }

    /// A reply that no call waits for.
    fn late(&mut self, now: Instant, xid: u32) -> ReceivedReply<C> {
        let Some(Settled { class, first, answered, timed_out, lost, .. }) = self.settled.take(now, xid)
        else {
            self.unknown += 1;
            return ReceivedReply::Unknown;
        };
        if let Some(answered) = answered {
            // Both sendings were answered, as a rule in their order: this much is certain of the first one.
            self.estimators[class as usize].sample(now, answered.saturating_duration_since(first));
        }
        // It cannot have taken longer than until now.
        let took = now.saturating_duration_since(first);
        self.sent_for_nothing(now, class, took, timed_out, lost);
        ReceivedReply::Late
    }
}
