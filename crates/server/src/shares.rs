//! Who has had more than a part of the processors by calls that are dear: one that takes a line to ask for may cost as much as
//! a thousand others. Knows neither calls nor clocks: its callers pass enough.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::locks::Mutex;

use crate::counts::Moment;
use crate::limits::SHARES_MAX;
use crate::room::one_client;

/// What was used counts less the longer ago it was: after this time, to a third.
const MEMORY: Duration = Duration::from_secs(2);
/// The part of all processors that dear calls have like all others: a listing of 20,000 names in full takes a twentieth of a second.
const PART: f64 = 1.0 / 16.0;
/// Who used less than this of late is forgotten.
const NEXT_TO_NOTHING: Duration = Duration::from_micros(100);

/// The processor time that dear calls took of late, by client.
#[derive(Debug)]
pub struct Shares {
    used: Mutex<Used>,
    /// Seconds that all clients together may use within the memory.
    most: f64,
    /// Somebody else could use the processors.
    wanted: AtomicBool,
}

#[derive(Debug, Default)]
struct Used {
    all: Spent,
    clients: HashMap<IpAddr, Spent>,
    tidied: Option<Moment>,
}

/// Seconds that were used, as they counted at a moment.
#[derive(Debug, Clone, Copy, Default)]
struct Spent {
    seconds: f64,
    at: Option<Moment>,
}

impl Shares {
    /// Of so many processors.
    pub fn new(processors: usize) -> Self {
        let most = processors as f64 * PART * MEMORY.as_secs_f64();
        Self { used: Mutex::default(), most, wanted: AtomicBool::new(true) }
    }

    /// Whether somebody else could use the processors: while nobody does, there is nothing to share.
    pub fn set_wanted(&self, wanted: bool) {
        self.wanted.store(wanted, Ordering::Relaxed);
    }

    /// A dear call took so much of a processor.
    pub fn charge(&self, client: IpAddr, cost: Duration, now: Moment) {
        let mut used = self.used.lock();
        used.tidy(now);
        used.all.add(cost, now);
        let client = one_client(client);
        // Beyond, clients are not counted one by one: they count as having had too much.
        if used.clients.len() < SHARES_MAX || used.clients.contains_key(&client) {
            used.clients.entry(client).or_default().add(cost, now);
        }
    }

    /// Whether a client has had more than its share: all have used too much, and it more than its part of what there is.
    pub fn is_over(&self, client: IpAddr, now: Moment) -> bool {
        if !self.wanted.load(Ordering::Relaxed) {
            return false;
        }
        let used = self.used.lock();
        if used.all.left(now) <= self.most {
            return false;
        }
        let part = self.most / used.clients.len().max(1) as f64;
        let known = used.clients.get(&one_client(client));
        known.map_or(used.clients.len() >= SHARES_MAX, |client| client.left(now) > part)
    }
}

impl Used {
    /// Forgets those who used next to nothing of late, now and then.
    fn tidy(&mut self, now: Moment) {
        if self.tidied.is_some_and(|at| now.since(at) < MEMORY.as_nanos() as u64) {
            return;
        }
        self.tidied = Some(now);
        self.clients.retain(|_, client| client.left(now) > NEXT_TO_NOTHING.as_secs_f64());
    }
}

impl Spent {
    fn add(&mut self, cost: Duration, now: Moment) {
        *self = Self { seconds: self.left(now) + cost.as_secs_f64(), at: Some(now) };
    }

    /// What counts of it now.
    fn left(&self, now: Moment) -> f64 {
        let Some(at) = self.at else { return 0.0 };
        let passed = Duration::from_nanos(now.since(at));
        self.seconds * (-passed.as_secs_f64() / MEMORY.as_secs_f64()).exp()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    fn client(number: usize) -> IpAddr {
        Ipv4Addr::from_bits(number as u32 + 1).into()
    }

    fn second(number: u64) -> Moment {
        Moment::at(1 + number * 1_000_000_000)
    }

    #[test]
    fn who_lists_for_long_is_over_and_whoever_comes_then_is_not() {
        // 250 ms of two processors within the memory.
        let shares = Shares::new(2);
        for _ in 0..240 {
            assert!(!shares.is_over(client(0), second(0)));
            shares.charge(client(0), MILLISECOND, second(0));
        }
        shares.charge(client(0), 20 * MILLISECOND, second(0));
        assert!(shares.is_over(client(0), second(0)));
        assert!(!shares.is_over(client(1), second(0)));
        // Their parts are equal: 125 ms each.
        (0..120).for_each(|_| shares.charge(client(1), MILLISECOND, second(0)));
        assert!(!shares.is_over(client(1), second(0)));
        shares.charge(client(1), 10 * MILLISECOND, second(0));
        assert!(shares.is_over(client(1), second(0)));
        assert!(!shares.is_over(client(0), second(5)), "it is forgotten");
    }

    #[test]
    fn nobody_is_over_while_nobody_else_wants_the_processors() {
        let shares = Shares::new(2);
        shares.charge(client(0), Duration::from_secs(9), second(0));
        assert!(shares.is_over(client(0), second(0)));
        shares.set_wanted(false);
        assert!(!shares.is_over(client(0), second(0)));
    }

    #[test]
    fn a_crowd_of_addresses_is_one_client_or_too_many_to_be_told_apart() {
        let shares = Shares::new(2);
        let many = |network: u128| move |host: u128| IpAddr::from((network << 64 | host).to_be_bytes());
        (0..1000).map(many(0x2001_0db8 << 32)).for_each(|one| shares.charge(one, MILLISECOND, second(0)));
        assert_eq!(shares.used.lock().clients.len(), 1, "2^64 addresses that one host may choose among");
        (0..SHARES_MAX).for_each(|number| shares.charge(client(number), MILLISECOND, second(0)));
        assert_eq!(shares.used.lock().clients.len(), SHARES_MAX);
        assert!(shares.is_over(client(0), second(0)));
        assert!(shares.is_over(client(SHARES_MAX + 1), second(0)), "one past the last");
        shares.charge(client(0), MILLISECOND, second(60));
        assert_eq!(shares.used.lock().clients.len(), 1, "the others are forgotten");
    }
}
