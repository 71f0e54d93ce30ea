//! Another connection beside a lane's own, tried while the path below that is lost.

use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use howdah_net::{Connecting, Connection};
use parking_lot::Mutex;

use super::lane::Lane;
use super::link::Link;
use howdah_rpc::client::lanes::{Finding, Outage, Sight};

/// How often a connection is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// One on which something came a moment ago has a path.
const FRESH: Duration = Duration::from_secs(1);
/// How long one attempt may take: the kernel asks again ever later, a new attempt asks at once.
const ATTEMPT: Duration = Duration::from_secs(2);
/// The same over a long path, in round trips.
const ATTEMPT_ROUND_TRIPS: u32 = 4;
/// From one attempt to the next, where they fail at once.
const PACE: Duration = Duration::from_secs(1);

/// Watches the path below a lane's connection, and tries another connection while it is lost.
#[derive(Default)]
pub(super) struct Spare(Mutex<Inside>);

#[derive(Default)]
struct Inside {
    looked: Option<Instant>,
    /// Which connection of the channel is watched; none: the next one, whichever that is.
    number: Option<u64>,
    outage: Outage,
    attempt: Option<Connecting>,
    began: Option<Instant>,
    /// Attempts that failed in this outage: each is to the next of the server's addresses.
    failed: usize,
    /// One that stands.
    made: Option<Connection>,
}

impl Spare {
    /// Whether there is a connection to take.
    pub(super) fn stands(&self) -> bool {
        self.0.lock().made.is_some()
    }

    /// The connection that stands, if there is one.
    pub(super) fn take(&self) -> Option<Connection> {
        self.0.lock().made.take()
    }
}

impl Lane {
    /// Looks whether the path below its connection is lost; if it is and another connection stands, this one is given up. Tells
    /// whether the server is to be asked for a sign of life, by whoever may.
    pub(super) fn look_at_path(&self, link: &Link, now: Instant, may_ask: bool) -> bool {
        let Some(mut spare) = self.spare.0.try_lock() else { return false };
        let is_due = spare.looked.is_none_or(|looked| now.saturating_duration_since(looked) >= LOOK);
        if link.is_broken() || !is_due {
            return false;
        }
        spare.looked = Some(now);
        let was_on = spare.outage.is_on();
        let found = spare.judge(self, link, self.hub.time_at(now), may_ask);
        match (was_on, spare.outage.is_on()) {
            (false, true) => self.hub.on_path_lost(self.address()),
            (true, false) => self.hub.on_path_back(self.address()),
            _ => {}
        }
        let Some((finding, round_trip)) = found else { return false };
        match finding {
            Finding::Ask => return true,
            Finding::Fine => spare.end(),
            Finding::Stirring => drop(spare.stands(self, round_trip)),
            Finding::Lost if spare.stands(self, round_trip) => {
                tracing::debug!(lane = self.index, "the second connection works: it takes the calls");
                spare.outage.on_given_up();
                spare.number = None;
                link.break_off();
                self.bell.ring();
            }
            Finding::Lost => {}
        }
        false
    }

    /// It has no connection, nor wants one: what was known of the path below it is over, and no other connection is held.
    pub(super) fn leave_path(&self) {
        let spare = std::mem::take(&mut *self.spare.0.lock());
        if spare.outage.is_on() {
            self.hub.on_path_back(self.address());
        }
    }
}

impl Inside {
    /// What is found of a connection, and the round trip of its path; nothing, while there is nothing to judge it by.
    fn judge(
        &mut self,
        lane: &Lane,
        link: &Link,
        now: Duration,
        may_ask: bool,
    ) -> Option<(Finding, Duration)> {
        if *self.number.get_or_insert(link.number) != link.number {
            *self = Self { looked: self.looked, number: Some(link.number), ..Self::default() };
        }
        let is_fresh = now.saturating_sub(link.heard()) < FRESH;
        if is_fresh && !self.outage.is_on() {
            return Some(Default::default());
        }
        let (waited, _) = lane.facts(None)?.waiting?;
        let delivery = match link.connection.delivery() {
            Ok(delivery) => delivery,
            Err(error) => {
                tracing::debug!(lane = lane.index, %error, "looking at a connection");
                return None;
            }
        };
        let finding = self.outage.judge(&Sight {
            now,
            waited,
            heard: link.heard(),
            acknowledged: now.saturating_sub(delivery.since_acknowledgement),
            is_in_vain: delivery.is_in_vain,
            is_under_way: delivery.is_under_way,
            has_answered: link.received() > 0,
            may_ask,
            round_trip: delivery.round_trip,
        });
        Some((finding, delivery.round_trip))
    }

    /// Whether another connection stands; otherwise it is tried.
    fn stands(&mut self, lane: &Lane, round_trip: Duration) -> bool {
        if self.made.is_some() {
            return true;
        }
        let lasted = self.began.map_or(Duration::MAX, |began| began.elapsed());
        let outcome = match self.attempt.take() {
            None if lasted < PACE => return false,
            None => self.begin(lane),
            Some(attempt) => match attempt.is_made() {
                Ok(true) => attempt.finish().map(|made| self.made = Some(made)),
                Ok(false) if lasted < ATTEMPT.max(round_trip * ATTEMPT_ROUND_TRIPS) => {
                    self.attempt = Some(attempt);
                    return false;
                }
                Ok(false) => Err(ErrorKind::TimedOut.into()),
                Err(error) => Err(error),
            },
        };
        if let Err(error) = outcome {
            tracing::debug!(lane = lane.index, address = %lane.address_after(self.failed), %error, "connecting a second time");
            self.failed += 1;
        }
        self.made.is_some()
    }

    fn begin(&mut self, lane: &Lane) -> io::Result<()> {
        self.began = Some(Instant::now());
        let address = lane.address_after(self.failed);
        self.attempt = Some(Connecting::begin(address, &lane.hub.connect_settings())?);
        Ok(())
    }

    /// No other connection is needed.
    fn end(&mut self) {
        (self.attempt, self.began, self.failed, self.made) = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    use super::super::ChannelOptions;
    use super::super::hub::Hub;
    use super::*;

    #[test]
    fn a_path_is_back_with_another_connection_though_nothing_waits_to_judge_that_by() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let hub = Arc::new(Hub::new(ChannelOptions::default()));
        let lane = Lane::new(0, vec![address].into(), Arc::clone(&hub));
        let connection = Connection::open(address, &hub.connect_settings()).expect("it listens");
        let link = Arc::new(Link::new(connection, 2, hub.time()));
        lane.set_link(Some(Arc::clone(&link)));
        {
            let mut spare = lane.spare.0.lock();
            spare.number = Some(1);
            spare.outage.on_given_up();
        }
        hub.on_path_lost(address);
        lane.look_at_path(&link, Instant::now() + FRESH, true);
        assert!(!hub.has_lost_path.load(Ordering::Relaxed));
    }
}
