//! Grace: the time after a restart in which clients reclaim what they had, and nobody gets anything else (RFC 8881 8.4.2).

use std::collections::HashSet;
use std::time::Duration;

use crate::records::RecoveryRecords;

/// Grace lasts on while the last reclaim is not longer ago than this, or than a lease if that is shorter.
const QUIET: Duration = Duration::from_secs(5);

/// The time after a restart. It ends once: when all clients of earlier runs have completed, or when its time is over; that is
/// extended while somebody still reclaims, to twice as long at most.
#[derive(Debug)]
pub struct Grace {
    is_on: bool,
    until: Duration,
    latest: Duration,
    quiet: Duration,
    last_reclaim: Option<Duration>,
    /// Clients of earlier runs that have not completed.
    pending: HashSet<Box<[u8]>>,
    /// NLM has no word for "all reclaimed".
    has_hosts: bool,
}

impl Grace {
    /// The time after a restart with these records: none, if they name nobody.
    pub fn new(length: Duration, records: &RecoveryRecords) -> Self {
        Self {
            is_on: records.has_earlier(),
            until: length,
            latest: length * 2,
            quiet: QUIET.min(length),
            last_reclaim: None,
            pending: records.earlier_clients().map(Box::from).collect(),
            has_hosts: records.earlier_hosts().next().is_some(),
        }
    }

    /// Begins again, or goes on, for clients and hosts of another server that this one stands in for.
    pub fn extend(&mut self, (now, length): (Duration, Duration), clients: Vec<Box<[u8]>>, has_hosts: bool) {
        (self.until, self.latest) = (now + length, now + length * 2);
        self.is_on = true;
        self.pending.extend(clients);
        self.has_hosts |= has_hosts;
    }

    /// Whether only reclaims are granted.
    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Somebody reclaimed.
    pub fn reclaimed(&mut self, now: Duration) {
        self.last_reclaim = Some(now);
    }

    /// A client of this owner reclaims nothing more.
    pub fn complete(&mut self, owner: &[u8]) {
        self.pending.remove(owner);
    }

    /// Ends grace if it is time to. True once, when it ends.
    pub fn ends(&mut self, now: Duration) -> bool {
        let ends = self.is_on && (self.are_all_back() || self.is_late(now));
        if ends {
            self.is_on = false;
            self.pending.clear();
            self.has_hosts = false;
        }
        ends
    }

    fn are_all_back(&self) -> bool {
        self.pending.is_empty() && !self.has_hosts
    }

    fn is_late(&self, now: Duration) -> bool {
        let is_reclaiming = self.last_reclaim.is_some_and(|last| now.saturating_sub(last) < self.quiet);
        now >= self.latest || (now >= self.until && !is_reclaiming)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::effects::DurableRecord;
    use crate::ids::Principal;

    const LENGTH: Duration = Duration::from_secs(90);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn records(clients: &[u8], hosts: &[u8]) -> RecoveryRecords {
        let mut records = RecoveryRecords::default();
        for client in clients {
            let principal = Principal::default();
            records.apply(&DurableRecord::AddClient { owner: [*client].into(), principal, server: None });
        }
        hosts.iter().for_each(|host| records.apply(&DurableRecord::AddHost { host: [*host].into() }));
        records.apply(&DurableRecord::Start { epoch: 2 });
        records
    }

    #[test]
    fn there_is_none_without_records() {
        let mut grace = Grace::new(LENGTH, &RecoveryRecords::default());
        assert!(!grace.is_on() && !grace.ends(seconds(1000)));
    }

    #[test]
    fn it_ends_when_all_are_back_once() {
        let mut grace = Grace::new(LENGTH, &records(&[1, 2], &[]));
        grace.complete(&[1]);
        assert!(grace.is_on() && !grace.ends(seconds(1)));
        grace.complete(&[2]);
        assert!(grace.ends(seconds(1)) && !grace.is_on() && !grace.ends(seconds(1)));
    }

    #[test]
    fn hosts_make_it_last() {
        let mut grace = Grace::new(LENGTH, &records(&[1], &[1]));
        grace.complete(&[1]);
        assert!(!grace.ends(seconds(89)) && grace.ends(seconds(90)));
    }

    #[test]
    fn reclaims_extend_it_to_twice_its_length() {
        let mut grace = Grace::new(LENGTH, &records(&[1], &[]));
        for second in 0..180 {
            grace.reclaimed(seconds(second));
            assert!(!grace.ends(seconds(second)), "{second}");
        }
        assert!(grace.ends(seconds(180)));
    }
}
