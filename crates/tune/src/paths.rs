//! What paths were found to carry, kept for minutes: a new connection over a known path starts from it. The clock is an argument.

use std::collections::BTreeMap;
use std::fmt::{self, Write};
use std::net::{IpAddr, Ipv6Addr};
use std::str::FromStr;
use std::time::Duration;

use howdah_units::{rate, time};

use crate::flight::Expected;

/// For how long a path is believed to be as it was found: routes and loads change within minutes.
pub const KEPT: Duration = Duration::from_secs(600);
/// The most paths that are kept. Beyond it the oldest goes.
const PATHS_MAX: usize = 256;
/// A path that was found to carry less than this part of what it did is believed the other one half as much each time: it may have been
/// asked for less.
const FADE: f64 = 0.5;
/// A connection for each so many bytes that the path holds: each begins with a few packets and doubles them every round trip.
const BYTES_EACH: f64 = (4 << 20) as f64;
/// The most connections to begin with: with eight, some connections of a server that uses bbr stayed slow (`docs/decisions/0026`).
const LANES_MAX: usize = 4;
/// What a path is assumed to carry of which only the round trip is known, in bytes per second. A connection takes a dozen round trips to
/// fill a long and fast one, and calls in flight should not be what it waits for. On a slow one it is seconds of data.
const ASSUMED: f64 = 62.5e6;
/// The most bytes that it is assumed to hold.
const ASSUMED_TO_HOLD_MAX: f64 = (8 << 20) as f64;
/// A rate or a time beyond these is none: the text may have been written by anybody.
const RATE_MAX: f64 = 125e9;
const ROUND_TRIP_MAX: Duration = Duration::from_secs(60);

/// A network that a peer is in: hosts of one are behind the same path for the most part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathNetwork(IpAddr);

/// What a path was found to carry.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FoundPath {
    /// Bytes per second to the peer; 0: not known.
    pub sent: f64,
    /// Bytes per second from the peer; 0: not known.
    pub received: f64,
    /// The shortest round trip.
    pub round_trip: Duration,
    /// The part of what was sent that was lost.
    pub loss: f64,
}

/// What is known of paths, each with the second (since 1970) when it was found last.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PathMemory(BTreeMap<PathNetwork, (FoundPath, u64)>);

impl PathNetwork {
    /// That of an address: 24 bits of IPv4, 64 of IPv6.
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V4(address) => IpAddr::V4((u32::from(address) & 0xffff_ff00).into()),
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from(u128::from(address) & !u128::from(u64::MAX))),
        })
    }
}

impl FoundPath {
    /// What is assumed of a path of which only the round trip is known.
    pub fn assumed(round_trip: Duration) -> Self {
        let rate = ASSUMED.min(ASSUMED_TO_HOLD_MAX / round_trip.as_secs_f64().max(1e-6));
        Self { sent: rate, received: rate, round_trip, loss: 0.0 }
    }

    /// What a caller may expect that reads (`false`) or writes (`true`).
    pub fn expected(&self, writes: bool) -> Option<Expected> {
        let bytes_per_second = if writes { self.sent } else { self.received } as u64;
        (bytes_per_second > 0).then_some(Expected { bytes_per_second, latency: self.round_trip })
    }

    /// What a caller may expect that does both.
    pub fn expected_of_both(&self) -> Option<Expected> {
        let both = [self.expected(false), self.expected(true)].into_iter().flatten();
        both.max_by_key(|expected| expected.bytes_per_second)
    }

    /// Connections to begin with: their starts sum up.
    pub fn lanes(&self) -> usize {
        let holds = self.sent.max(self.received) * self.round_trip.as_secs_f64();
        ((holds / BYTES_EACH).ceil() as usize).clamp(1, LANES_MAX)
    }

    fn is_possible(&self) -> bool {
        let rates = [self.sent, self.received];
        rates.iter().all(|rate| (0.0..=RATE_MAX).contains(rate))
            && self.round_trip <= ROUND_TRIP_MAX
            && (0.0..=1.0).contains(&self.loss)
    }

    /// This is newer than `old`. Of a direction in which nothing moved it says nothing.
    fn after(self, old: Self) -> Self {
        let shortest =
            if old.round_trip.is_zero() { self.round_trip } else { self.round_trip.min(old.round_trip) };
        let rate = |new: f64, old: f64| if new > 0.0 { new.max(old * FADE) } else { old };
        Self {
            sent: rate(self.sent, old.sent),
            received: rate(self.received, old.received),
            round_trip: shortest,
            loss: self.loss,
        }
    }
}

impl PathMemory {
    /// What is known of a path to a peer, now.
    pub fn recall(&self, peer: IpAddr, now: u64) -> Option<FoundPath> {
        let (found, at) = self.0.get(&PathNetwork::of(peer))?;
        is_fresh(*at, now).then_some(*found)
    }

    /// A path was found to carry so much by a connection, or by several together. `before` is what was known when the
    /// connection began: however often it reports, it counts once.
    pub fn learn(&mut self, peer: IpAddr, before: Option<FoundPath>, found: FoundPath, now: u64) {
        if !found.is_possible() {
            return;
        }
        let old = before.or_else(|| self.recall(peer, now));
        let learnt = old.map_or(found, |old| found.after(old));
        self.0.insert(PathNetwork::of(peer), (learnt, now));
        while self.0.len() > PATHS_MAX {
            let oldest = self.0.iter().min_by_key(|(_, (_, at))| *at).map(|(network, _)| *network);
            let Some(oldest) = oldest else { return };
            self.0.remove(&oldest);
        }
    }

    /// Takes what another process found, where that is newer.
    pub fn merge(&mut self, other: &Self) {
        for (network, (found, at)) in &other.0 {
            if self.0.get(network).is_none_or(|(_, ours)| ours < at) {
                self.0.insert(*network, (*found, *at));
            }
        }
    }

    /// What is still believed, a line each.
    pub fn to_text(&self, now: u64) -> String {
        let mut text = String::new();
        for (PathNetwork(network), (found, at)) in self.0.iter().filter(|(_, (_, at))| is_fresh(*at, now)) {
            let FoundPath { sent, received, round_trip, loss } = found;
            let micros = round_trip.as_micros();
            let _ = writeln!(text, "{network} {at} {sent:.0} {received:.0} {micros} {loss:.6}");
        }
        text
    }

    /// The reverse. Lines that say nothing sensible are passed over, and so is what is too old or of the future.
    pub fn parse(text: &str, now: u64) -> Self {
        let lines = text.lines().take(PATHS_MAX).filter_map(parse_line);
        Self(lines.filter(|(_, (_, at))| is_fresh(*at, now)).collect())
    }
}

fn is_fresh(at: u64, now: u64) -> bool {
    now.checked_sub(at).is_some_and(|age| age <= KEPT.as_secs())
}

fn parse_line(line: &str) -> Option<(PathNetwork, (FoundPath, u64))> {
    fn next<T: FromStr>(fields: &mut std::str::SplitWhitespace<'_>) -> Option<T> {
        fields.next()?.parse().ok()
    }
    let mut fields = line.split_whitespace();
    let (network, at) = (PathNetwork::of(next(&mut fields)?), next(&mut fields)?);
    let (sent, received) = (next(&mut fields)?, next(&mut fields)?);
    let (round_trip, loss) = (Duration::from_micros(next(&mut fields)?), next(&mut fields)?);
    let found = FoundPath { sent, received, round_trip, loss };
    found.is_possible().then_some((network, (found, at)))
}

impl fmt::Display for FoundPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "started from earlier measurements of this path: ")?;
        for (known, what) in [(self.sent, "to the server"), (self.received, "from it")] {
            if known > 0.0 {
                write!(formatter, "{} {what}, ", rate(known))?;
            }
        }
        write!(formatter, "round trip {}", time(self.round_trip))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FAST: FoundPath =
        FoundPath { sent: 1e9, received: 5e8, round_trip: Duration::from_millis(100), loss: 0.0 };

    fn peer(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn a_path_is_known_for_minutes_and_for_its_network() {
        let mut memory = PathMemory::default();
        memory.learn(peer(1), None, FAST, 1000);
        assert_eq!(memory.recall(peer(2), 1600), Some(FAST));
        assert_eq!(memory.recall(peer(2), 1601), None, "too old");
        assert_eq!(memory.recall(peer(2), 999), None, "the clock was set back");
        assert_eq!(memory.recall(IpAddr::from([10, 0, 1, 1]), 1000), None);
        let mapped = "::ffff:10.0.0.9".parse().expect("an address");
        assert_eq!(memory.recall(mapped, 1000), Some(FAST));
    }

    #[test]
    fn what_was_found_fades_when_less_is_found() {
        let mut memory = PathMemory::default();
        memory.learn(peer(1), None, FAST, 0);
        let slow = FoundPath { sent: 1e6, received: 0.0, round_trip: Duration::from_millis(120), loss: 0.1 };
        let mut sent = Vec::new();
        for session in 1..=12 {
            let before = memory.recall(peer(1), session);
            // However often one connection says it, it counts once.
            for _ in 0..5 {
                memory.learn(peer(1), before, slow, session);
            }
            sent.push(memory.recall(peer(1), session).expect("known").sent);
        }
        assert_eq!((sent[0], sent[11]), (5e8, 1e6));
        let known = memory.recall(peer(1), 12).expect("known");
        assert_eq!((known.round_trip, known.loss), (Duration::from_millis(100), 0.1));
        assert_eq!(known.received, 5e8, "nothing was asked of the server");
    }

    #[test]
    fn long_fat_paths_begin_with_several_connections() {
        for (sent, milliseconds, lanes) in
            [(1e9, 100, 4), (125e6, 100, 3), (50e6, 100, 2), (125e6, 1, 1), (1e5, 600, 1)]
        {
            let round_trip = Duration::from_millis(milliseconds);
            assert_eq!(FoundPath { sent, round_trip, ..FoundPath::default() }.lanes(), lanes);
        }
        for (milliseconds, lanes, blocks) in [(1, 1, 1), (20, 1, 2), (40, 1, 3), (100, 2, 6), (1000, 2, 8)] {
            let assumed = FoundPath::assumed(Duration::from_millis(milliseconds));
            let expected = assumed.expected_of_both().expect("a rate");
            assert_eq!((assumed.lanes(), expected.calls(1 << 20)), (lanes, blocks), "{milliseconds} ms");
        }
    }

    #[test]
    fn the_text_comes_back_and_nonsense_is_passed_over() {
        let mut memory = PathMemory::default();
        memory.learn(peer(1), None, FAST, 1000);
        memory.learn("fd00::7".parse().expect("an address"), None, FoundPath { loss: 0.25, ..FAST }, 1001);
        let text = memory.to_text(1100);
        assert_eq!(PathMemory::parse(&text, 1100), memory);
        let spoilt = format!("?\n10.0.0.0 1000 NaN 1 1 0\n10.0.0.0 1000 1e99 1 1 0\n10.0.0.1 5\n{text}\0\n");
        assert_eq!(PathMemory::parse(&spoilt, 1100), memory);
        assert_eq!(PathMemory::parse(&text, 10_000), PathMemory::default());
        let mut other = PathMemory::default();
        other.merge(&memory);
        assert_eq!(other, memory);
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "[0-9a-f:. \nNnae-]{0,200}") {
            let memory = PathMemory::parse(&text, 1000);
            prop_assert!(PathMemory::parse(&memory.to_text(1000), 1000).0.len() == memory.0.len());
        }

        #[test]
        fn paths_are_bounded(networks in proptest::collection::vec(any::<[u8; 4]>(), 0..600)) {
            let mut memory = PathMemory::default();
            for (now, network) in (0..).zip(networks) {
                memory.learn(network.into(), None, FAST, now);
                prop_assert!(memory.0.len() <= PATHS_MAX);
            }
        }
    }
}
