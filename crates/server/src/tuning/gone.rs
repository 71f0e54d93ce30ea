//! Clients that have left of late, and what was seen of them last: a user who asks why a copy was slow asks after its end.

use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::VerdictReport;
use crate::limits::{GONE_CLIENTS_MAX, GONE_CLIENTS_SPAN};
use crate::room::one_client;

/// Connections that end within this time of each other belong to one visit.
const ONE_VISIT: Duration = Duration::from_secs(10);

/// A client that has no connection any more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GoneClient {
    /// It was this host.
    pub is_local: bool,
    /// Seconds since its last connection ended.
    pub gone_seconds_ago: f64,
    /// How many connections ended then.
    pub connections: u64,
    /// For how long the oldest of them had been there.
    pub seconds: f64,
    /// Bytes sent on them.
    pub sent: u64,
    /// Bytes received on them.
    pub received: u64,
    /// What limited the one that moved most, when it last moved something.
    pub sentence: Option<String>,
    /// Seconds under each verdict of all of them, of the direction that moved more.
    pub verdict_seconds: BTreeMap<String, f64>,
}

/// A connection that ended.
#[derive(Debug, Clone, Default)]
pub struct Ended {
    pub is_local: bool,
    /// How long it was there.
    pub age: Duration,
    pub sent: u64,
    pub received: u64,
    /// What limited it when it last moved something.
    pub said: Option<VerdictReport>,
    /// Seconds under each verdict, of the direction that moved more.
    pub verdict_seconds: BTreeMap<String, f64>,
}

/// The clients that have left, the last one at the end.
#[derive(Debug, Default)]
pub struct Gone(VecDeque<Visit>);

/// What ended together.
#[derive(Debug)]
struct Visit {
    client: IpAddr,
    /// Its address, if it used but one.
    address: Option<IpAddr>,
    left: Duration,
    sum: Ended,
    connections: u64,
    /// What the connection moved whose word counts.
    most: u64,
}

impl Gone {
    /// A connection from that address has ended. One that moved nothing says nothing.
    pub fn add(&mut self, now: Duration, address: IpAddr, ended: Ended) {
        let moved = ended.sent + ended.received;
        if moved == 0 {
            return;
        }
        let client = one_client(address);
        let known = self.0.iter().position(|visit| visit.client == client).and_then(|at| self.0.remove(at));
        let known = known.filter(|visit| now.saturating_sub(visit.left) <= ONE_VISIT);
        let visit = match known {
            None => {
                Visit { client, address: Some(address), left: now, sum: ended, connections: 1, most: moved }
            }
            Some(mut visit) => {
                visit.join(now, address, ended);
                visit
            }
        };
        self.0.push_back(visit);
        while self.0.len() > GONE_CLIENTS_MAX {
            self.0.pop_front();
        }
    }

    /// Those that left of late, by address, unless they are back.
    pub fn list(&self, now: Duration, is_back: impl Fn(IpAddr) -> bool) -> BTreeMap<IpAddr, GoneClient> {
        let gone = self.0.iter().filter(|visit| now.saturating_sub(visit.left) <= GONE_CLIENTS_SPAN);
        let gone = gone.filter(|visit| !is_back(visit.client));
        gone.map(|visit| (visit.address.unwrap_or(visit.client), visit.report(now))).collect()
    }
}

impl Visit {
    fn join(&mut self, now: Duration, address: IpAddr, ended: Ended) {
        let moved = ended.sent + ended.received;
        self.left = now;
        self.address = self.address.filter(|known| *known == address);
        self.connections += 1;
        let sum = &mut self.sum;
        sum.age = sum.age.max(ended.age);
        sum.sent += ended.sent;
        sum.received += ended.received;
        for (verdict, seconds) in ended.verdict_seconds {
            *sum.verdict_seconds.entry(verdict).or_default() += seconds;
        }
        if ended.said.is_some() && (moved > self.most || sum.said.is_none()) {
            (sum.said, self.most) = (ended.said, moved);
        }
    }

    fn report(&self, now: Duration) -> GoneClient {
        let Ended { is_local, age, sent, received, ref said, ref verdict_seconds } = self.sum;
        GoneClient {
            is_local,
            gone_seconds_ago: now.saturating_sub(self.left).as_secs_f64(),
            connections: self.connections,
            seconds: age.as_secs_f64(),
            sent,
            received,
            sentence: said.as_ref().map(|said| said.sentence.clone()),
            verdict_seconds: verdict_seconds.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(sent: u64, sentence: Option<&str>) -> Ended {
        let said =
            sentence.map(|sentence| VerdictReport { sentence: sentence.to_owned(), ..Default::default() });
        let verdict_seconds = [("loss".to_owned(), 3.0)].into();
        Ended { sent, said, age: Duration::from_secs(sent), verdict_seconds, ..Ended::default() }
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn connections_of_one_visit_are_told_together_and_as_the_busiest_says() {
        let mut gone = Gone::default();
        gone.add(at(100), address(7), ended(9, Some("an earlier visit")));
        gone.add(at(200), address(7), ended(2, Some("small")));
        gone.add(at(201), address(7), ended(5, Some("large")));
        gone.add(at(202), address(7), ended(8, None));
        gone.add(at(202), address(8), ended(0, None));
        let list = gone.list(at(210), |_| false);
        assert_eq!(list.len(), 1, "{list:?}");
        let report = &list[&address(7)];
        assert_eq!((report.connections, report.sent, report.seconds), (3, 15, 8.0));
        assert_eq!((report.sentence.as_deref(), report.gone_seconds_ago), (Some("large"), 8.0));
        assert_eq!(report.verdict_seconds["loss"], 9.0);
    }

    #[test]
    fn who_is_back_or_long_gone_is_not_told_and_only_so_many_are() {
        let mut gone = Gone::default();
        let span = GONE_CLIENTS_SPAN.as_secs();
        gone.add(at(1), address(7), ended(1, None));
        gone.add(at(100), address(8), ended(1, None));
        let report = |gone: &Gone, now, back: Option<IpAddr>| {
            gone.list(at(now), |client| Some(client) == back).into_keys().collect::<Vec<_>>()
        };
        assert_eq!(report(&gone, 100, None), [address(7), address(8)]);
        assert_eq!(report(&gone, 100, Some(address(7))), [address(8)]);
        assert_eq!(report(&gone, 50 + span, None), [address(8)]);
        for last in 10..=10 + GONE_CLIENTS_MAX as u8 {
            gone.add(at(200), address(last), ended(1, None));
        }
        let left = report(&gone, 200, None);
        assert_eq!((left.len(), left[0]), (GONE_CLIENTS_MAX, address(11)));
    }
}
