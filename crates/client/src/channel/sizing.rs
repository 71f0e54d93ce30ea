//! Looks at the connection of one lane: has it sized, and finds out what limits it.

use std::time::Duration;

use howdah_tune::{Judgement, Sample};

use super::LaneLimit;
use super::evidence::{Evidence, Facts};
use super::gauge::Gauge;
use super::lane::Lane;
use super::link::Link;
use super::shared::Shared;

/// Looks at the connections of one lane, one after the other.
#[derive(Default)]
pub(super) struct Sizing {
    /// Which connection of the channel is looked at; 0: none.
    number: u64,
    gauge: Gauge,
    due: Duration,
}

impl Sizing {
    /// Has the lane's connection sized, if it is a new one, and looks at what is asked of it.
    pub(super) fn glance(&mut self, shared: &Shared, lane: &Lane, link: &Link) {
        let (now, mut glance) = (shared.time(), shared.driver.core().glance(lane.index));
        if self.number != link.number {
            self.close(shared, lane);
            self.number = link.number;
            shared.sizes.on_open(link.number, &link.connection);
            self.gauge.begin(now, glance.moved);
        }
        // One call may be on its way into the socket.
        glance.has_unsent |= lane.desk.is_locked();
        self.gauge.look(now, &glance, link);
    }

    /// Looks at the connection, if it is time to.
    pub(super) fn look(&mut self, shared: &Shared, lane: &Lane, link: &Link) {
        let (now, sizes) = (shared.time(), &shared.sizes);
        if now < self.due || self.number != link.number {
            return;
        }
        let sample = match link.connection.sample(now, self.gauge.sums()) {
            Ok(sample) => sample,
            Err(error) => return tracing::debug!(%error, "looking at a connection"),
        };
        let Some(looked) = sizes.on_sample(link.number, &link.connection, sample.clone()) else { return };
        self.due = now + looked.interval;
        if let Some(judgement) = looked.judgement {
            let evidence = self.evidence(&judgement, &sample, sizes.same_host());
            let before = lane.evidence.lock().replace(evidence);
            if before.is_none_or(|before| before.limit != evidence.limit) {
                tracing::debug!(lane = lane.index, limit = ?evidence.limit, rate = evidence.rate, "limited by");
            }
        }
    }

    /// The lane has no calls, and nobody looks at it for as long as `sleep` takes: nothing limits it, nor did meanwhile.
    pub(super) fn rest(&mut self, shared: &Shared, lane: &Lane, sleep: impl FnOnce()) {
        *lane.evidence.lock() = None;
        sleep();
        self.gauge.begin(shared.time(), shared.driver.core().moved());
    }

    /// The connection is gone.
    pub(super) fn close(&mut self, shared: &Shared, lane: &Lane) {
        if self.number != 0 {
            shared.sizes.on_close(shared.time(), self.number);
        }
        *lane.evidence.lock() = None;
        *self = Self::default();
    }

    fn evidence(&mut self, judgement: &Judgement, sample: &Sample, same_host: bool) -> Evidence {
        let writes = judgement.sent_per_second > judgement.received_per_second;
        let rate = judgement.sent_per_second.max(judgement.received_per_second);
        let window = sample.receiving.window.unwrap_or(sample.receiving.buffer / 2);
        let asked = self.gauge.asked(sample.receiving.unread, window);
        let limit = match LaneLimit::of(judgement.verdict(), &asked, sample.base_rtt()) {
            // Inside of one host nothing else is full.
            LaneLimit::Path if same_host => LaneLimit::Processor,
            limit if writes => limit,
            limit => limit.of_reads(rate, sample.path.rtt, sample.base_rtt()),
        };
        Evidence { limit, writes, rate, facts: Facts::of(sample) }
    }
}
