//! The rules in effect, and what was charged to them. Knows neither sockets nor the clock.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use super::rates::LiveRate;
use super::rule::CapRule;
use super::token_bucket::TokenBucket;
use crate::Peer;
use crate::counts::{Moment, NO_EXPORT, PLACES};
use crate::limits::{CAP_CLIENTS_MAX, CAP_RULES_MAX};
use crate::locks::{Mutex, RwLock};
use crate::room::one_client;

/// A call or reply that is shorter is no data: attributes and lookups are not held by caps on bytes.
const DATA_MIN: u64 = 512;
/// A wait that is shorter is left out: it stays due, and the next call waits longer.
const WAIT_MIN: Duration = Duration::from_micros(200);
/// Where the generation of the table begins beside a set of rules.
const RULE_BITS: u32 = 32;
/// In a set that a connection remembers: its client had shown a certificate.
const WITH_CERTIFICATE: u32 = 1 << 31;

/// What a call cost.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Length of the call, in bytes.
    pub received: u64,
    /// Length of the reply, in bytes.
    pub sent: u64,
}

/// Which rules are for a connection's client, as it was found out once.
#[derive(Debug, Default)]
pub struct MatchedRules(AtomicU64);

/// How long a reply is held, and by which rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapWait {
    /// How long.
    pub time: Duration,
    /// The rule's place in the table.
    pub rule: u32,
}

/// The caps of a server.
#[derive(Default)]
pub struct Caps {
    are_on: AtomicBool,
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    /// Grows with each change: what connections remember of an older one does not count.
    generation: u32,
    rules: Vec<Arc<ChargedRule>>,
    /// The rules that cover an export, by its place.
    covering: Vec<u32>,
}

/// A rule, and what was taken from it.
struct ChargedRule {
    rule: CapRule,
    read: LiveRate,
    write: LiveRate,
    calls: LiveRate,
    shared: Buckets,
    of_clients: Mutex<HashMap<IpAddr, Arc<Buckets>>>,
    held_calls: AtomicU64,
    held_nanoseconds: AtomicU64,
}

#[derive(Default)]
struct Buckets {
    read: TokenBucket,
    write: TokenBucket,
    calls: TokenBucket,
}

/// What a rule did so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapReport {
    /// The rule, with the rates in effect.
    pub rule: CapRule,
    /// Replies that it held.
    pub held_calls: u64,
    /// How long it held them, all together.
    pub held: Duration,
}

impl Caps {
    /// Whether there are any.
    #[inline]
    pub fn are_on(&self) -> bool {
        self.are_on.load(Ordering::Relaxed)
    }

    /// From now on these rules hold. `places` are all exports and their places. A rule that had the same name, clients and exports keeps
    /// what was taken from it.
    pub fn set_rules(&self, rules: &[CapRule], places: &[(u16, String)]) {
        let mut table = self.table.write();
        let rules = rules.iter().take(CAP_RULES_MAX);
        let rules: Vec<_> = rules.map(|rule| table.kept(rule)).collect();
        self.are_on.store(!rules.is_empty(), Ordering::Relaxed);
        let covering = covering(&rules, places);
        *table = Table { generation: table.generation.wrapping_add(1), rules, covering };
    }

    /// From now on exports have these places.
    pub fn set_places(&self, places: &[(u16, String)]) {
        let mut table = self.table.write();
        table.covering = covering(&table.rules, places);
    }

    /// Whether a rule with a rate is for this client and this export.
    pub fn concern(&self, peer: &Peer, matched: &MatchedRules, export: u16) -> bool {
        let table = self.table.read();
        let with_rates = places_of_charged(&table.rules, ChargedRule::has_rate);
        matched.of(&table, peer) & table.covering_of(export) & with_rates != 0
    }

    /// A call of a client for an export cost so much: how long its reply must wait.
    pub fn charge(
        &self,
        peer: &Peer,
        matched: &MatchedRules,
        export: u16,
        cost: Cost,
        now: Moment,
    ) -> Option<CapWait> {
        let table = self.table.read();
        let mut left = matched.of(&table, peer) & table.covering_of(export);
        let mut longest = None;
        while left != 0 {
            let rule = left.trailing_zeros();
            left &= left - 1;
            let Some(charged) = table.rules.get(rule as usize) else { break };
            let time = charged.take(peer.ends.client.ip(), cost, now);
            if time >= WAIT_MIN && longest.is_none_or(|before: CapWait| before.time < time) {
                longest = Some(CapWait { time, rule });
            }
        }
        if let Some(CapWait { time, rule }) = longest {
            table.rules[rule as usize].count(time);
        }
        longest
    }

    /// The rules and what they did.
    pub fn report(&self) -> Vec<CapReport> {
        self.table.read().rules.iter().map(|charged| charged.report()).collect()
    }

    /// Lets somebody change the rates of the rule of that name; `None`: there is none.
    pub fn change<T>(&self, name: &str, change: impl FnOnce(&CapRates<'_>) -> T) -> Option<T> {
        let table = self.table.read();
        let charged = table.rules.iter().find(|charged| charged.rule.name == name)?;
        let ChargedRule { read, write, calls, .. } = &**charged;
        Some(change(&CapRates { read, write, calls }))
    }
}

/// The rates of a rule.
pub struct CapRates<'a> {
    /// Bytes a second of replies.
    pub read: &'a LiveRate,
    /// Bytes a second of calls.
    pub write: &'a LiveRate,
    /// Calls a second.
    pub calls: &'a LiveRate,
}

/// The rules that cover each export, by its place. Exports that have no place of their own are covered by rules for all.
fn covering(rules: &[Arc<ChargedRule>], places: &[(u16, String)]) -> Vec<u32> {
    let mut covering = vec![places_of(rules, |rule| rule.exports.is_empty()); PLACES];
    covering[usize::from(NO_EXPORT)] = 0;
    for (place, name) in places {
        covering[usize::from(*place)] = places_of(rules, |rule| rule.covers(name));
    }
    covering
}

/// The places of some rules, a bit each.
fn places_of(rules: &[Arc<ChargedRule>], is_meant: impl Fn(&CapRule) -> bool) -> u32 {
    places_of_charged(rules, |charged| is_meant(&charged.rule))
}

fn places_of_charged(rules: &[Arc<ChargedRule>], is_meant: impl Fn(&ChargedRule) -> bool) -> u32 {
    let bits = rules.iter().zip(0..).filter(|(charged, _)| is_meant(charged));
    bits.fold(0, |all, (_, place)| all | 1 << place)
}

impl Table {
    /// The rules that cover an export, a bit each.
    fn covering_of(&self, export: u16) -> u32 {
        self.covering.get(usize::from(export)).copied().unwrap_or(0)
    }

    /// The rule as it was, if it was there, with the rates that are asked for.
    fn kept(&self, rule: &CapRule) -> Arc<ChargedRule> {
        let is_same = |charged: &&Arc<ChargedRule>| charged.rule == *rule;
        let Some(charged) = self.rules.iter().find(is_same) else {
            return Arc::new(ChargedRule::new(rule));
        };
        charged.read.set(rule.read);
        charged.write.set(rule.write);
        charged.calls.set(rule.calls);
        Arc::clone(charged)
    }
}

impl MatchedRules {
    /// The rules that are for a client, a bit each. They are found once for each connection and table.
    fn of(&self, table: &Table, peer: &Peer) -> u32 {
        let known = self.0.load(Ordering::Relaxed);
        let certificate = if peer.certificate.is_some() { WITH_CERTIFICATE } else { 0 };
        if (known >> RULE_BITS) as u32 == table.generation && known as u32 & WITH_CERTIFICATE == certificate {
            return known as u32 & !WITH_CERTIFICATE;
        }
        let matched = places_of(&table.rules, |rule| rule.is_for(peer));
        let remembered = u64::from(matched | certificate);
        self.0.store(u64::from(table.generation) << RULE_BITS | remembered, Ordering::Relaxed);
        matched
    }
}

impl ChargedRule {
    fn new(rule: &CapRule) -> Self {
        Self {
            read: LiveRate::new(rule.read),
            write: LiveRate::new(rule.write),
            calls: LiveRate::new(rule.calls),
            rule: rule.clone(),
            shared: Buckets::default(),
            of_clients: Mutex::default(),
            held_calls: AtomicU64::new(0),
            held_nanoseconds: AtomicU64::new(0),
        }
    }

    /// Whether it caps anything now.
    fn has_rate(&self) -> bool {
        [&self.read, &self.write, &self.calls].iter().any(|rate| rate.get().is_some())
    }

    fn take(&self, client: IpAddr, cost: Cost, now: Moment) -> Duration {
        if self.rule.per_client {
            return self.buckets_of(client, now).take(self, cost, now);
        }
        self.shared.take(self, cost, now)
    }

    /// The buckets of one client. Beyond a number of them, clients share.
    fn buckets_of(&self, client: IpAddr, now: Moment) -> Arc<Buckets> {
        let mut clients = self.of_clients.lock();
        let client = one_client(client);
        if clients.len() >= CAP_CLIENTS_MAX && !clients.contains_key(&client) {
            clients.retain(|_, buckets| !buckets.are_full(now, self.rule.burst));
        }
        let is_full = clients.len() >= CAP_CLIENTS_MAX && !clients.contains_key(&client);
        let client = if is_full { IpAddr::from([0; 16]) } else { client };
        Arc::clone(clients.entry(client).or_default())
    }

    fn count(&self, time: Duration) {
        self.held_calls.fetch_add(1, Ordering::Relaxed);
        self.held_nanoseconds.fetch_add(time.as_nanos() as u64, Ordering::Relaxed);
    }

    fn report(&self) -> CapReport {
        CapReport {
            rule: CapRule {
                read: self.read.get(),
                write: self.write.get(),
                calls: self.calls.get(),
                ..self.rule.clone()
            },
            held_calls: self.held_calls.load(Ordering::Relaxed),
            held: Duration::from_nanos(self.held_nanoseconds.load(Ordering::Relaxed)),
        }
    }
}

impl Buckets {
    fn take(&self, of: &ChargedRule, cost: Cost, now: Moment) -> Duration {
        let data = |length: u64| if length < DATA_MIN { 0 } else { length };
        let each = [
            (&self.read, of.read.get(), data(cost.sent)),
            (&self.write, of.write.get(), data(cost.received)),
            (&self.calls, of.calls.get(), 1),
        ];
        let waits =
            each.into_iter().filter(|(.., amount)| *amount > 0).filter_map(|(bucket, rate, amount)| {
                rate.map(|rate| bucket.take(now.nanoseconds(), amount, rate, of.rule.burst))
            });
        waits.max().unwrap_or_default()
    }

    fn are_full(&self, now: Moment, burst: Duration) -> bool {
        [&self.read, &self.write, &self.calls].iter().all(|bucket| bucket.is_full(now.nanoseconds(), burst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exports::Clients;
    use crate::{Ends, Transport, TransportSecurity};

    const SECOND: u64 = 1_000_000_000;

    fn rule(name: &str) -> CapRule {
        let (clients, exports) = Default::default();
        let (read, write, calls) = Default::default();
        let name = name.to_owned();
        CapRule { name, clients, exports, per_client: false, read, write, calls, burst: Duration::ZERO }
    }

    fn peer(last: u8) -> Peer {
        let ends = Ends { client: ([192, 0, 2, last], 700).into(), server: ([192, 0, 2, 1], 2049).into() };
        let security = TransportSecurity::default();
        Peer { ends, transport: Transport::Tcp, security, certificate: None }
    }

    /// How long a reply of so many bytes to a short call waits.
    fn wait(caps: &Caps, client: u8, export: u16, sent: u64, at: u64) -> Duration {
        let cost = Cost { received: 100, sent };
        let found = caps.charge(&peer(client), &MatchedRules::default(), export, cost, Moment::at(at));
        found.map_or(Duration::ZERO, |wait| wait.time)
    }

    #[test]
    fn only_clients_and_exports_of_a_rule_wait() {
        let caps = Caps::default();
        assert!(!caps.are_on());
        let clients = vec![Clients::Addresses(vec![peer(7).ends.client.ip()])];
        let exports = vec!["/a".to_owned()];
        let rules = [CapRule { read: Some(1_000_000), clients, exports, ..rule("r") }];
        caps.set_rules(&rules, &[(1, "/a".to_owned()), (2, "/b".to_owned())]);
        assert!(caps.are_on());
        assert_eq!(wait(&caps, 7, 1, 1_000_000, SECOND), Duration::from_secs(1));
        assert_eq!(wait(&caps, 7, 2, 1_000_000, SECOND), Duration::ZERO, "another export");
        assert_eq!(wait(&caps, 8, 1, 1_000_000, SECOND), Duration::ZERO, "another client");
        assert_eq!(wait(&caps, 7, 1, 100, SECOND), Duration::ZERO, "no data");
        assert_eq!(caps.report()[0].held_calls, 1);
    }

    #[test]
    fn clients_share_a_rule_unless_each_has_its_own() {
        for (per_client, second) in [(false, 2), (true, 1)] {
            let caps = Caps::default();
            caps.set_rules(&[CapRule { calls: Some(1), per_client, ..rule("r") }], &[]);
            assert_eq!(wait(&caps, 7, 1, 0, SECOND), Duration::from_secs(1));
            assert_eq!(wait(&caps, 8, 1, 0, SECOND), Duration::from_secs(second));
        }
    }

    #[test]
    fn the_longest_wait_counts_and_a_rule_that_stays_keeps_its_debt() {
        let caps = Caps::default();
        let rules = [CapRule { calls: Some(1), ..rule("slow") }, CapRule { calls: Some(10), ..rule("fast") }];
        caps.set_rules(&rules, &[]);
        assert_eq!(wait(&caps, 7, 1, 0, SECOND), Duration::from_secs(1));
        caps.set_rules(&rules, &[]);
        assert_eq!(wait(&caps, 7, 1, 0, SECOND), Duration::from_secs(2));
        caps.change("slow", |rates| rates.calls.set(None)).expect("it is there");
        assert_eq!(wait(&caps, 7, 1, 0, SECOND), Duration::from_millis(300));
        caps.set_rules(&[], &[]);
        assert!(!caps.are_on());
    }

    #[test]
    fn clients_beyond_the_bound_share() {
        let caps = Caps::default();
        caps.set_rules(&[CapRule { calls: Some(1), per_client: true, ..rule("r") }], &[]);
        let client = |number: usize| {
            let address = std::net::Ipv4Addr::from_bits(number as u32 + 1);
            Peer { ends: Ends { client: (address, 700).into(), ..peer(1).ends }, ..peer(1) }
        };
        let wait = |number, at| {
            let cost = Cost { received: 0, sent: 0 };
            caps.charge(&client(number), &MatchedRules::default(), 1, cost, Moment::at(at))
                .map(|wait| wait.time)
        };
        (0..CAP_CLIENTS_MAX)
            .for_each(|number| assert_eq!(wait(number, SECOND), Some(Duration::from_secs(1))));
        assert_eq!(wait(CAP_CLIENTS_MAX, SECOND), Some(Duration::from_secs(1)));
        assert_eq!(wait(CAP_CLIENTS_MAX + 1, SECOND), Some(Duration::from_secs(2)), "they share");
        assert_eq!(
            wait(CAP_CLIENTS_MAX + 2, 60 * SECOND),
            Some(Duration::from_secs(1)),
            "others are forgotten"
        );
    }

    #[test]
    fn no_more_rules_than_there_may_be() {
        let caps = Caps::default();
        let rules: Vec<CapRule> = (0..=CAP_RULES_MAX).map(|number| rule(&number.to_string())).collect();
        caps.set_rules(&rules, &[]);
        assert_eq!(caps.report().len(), CAP_RULES_MAX);
    }
}
