//! Where the time of each connection went of late: looks at the sums of all, some seconds apart, and the difference to the
//! oldest.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use howdah_net::Token;
use howdah_tune::{Connection, Tuner, Verdict};

use super::client::Recent;

/// How far back it goes.
pub const SPAN: Duration = Duration::from_secs(60);
/// How often it looks.
pub const STEP: Duration = Duration::from_secs(5);

/// The looks, oldest first.
#[derive(Debug, Default)]
pub struct ConnectionHistory {
    looks: VecDeque<Look>,
}

/// All connections at one moment.
#[derive(Debug)]
struct Look {
    at: Duration,
    /// What has not changed since the look before is the same in memory, too: most connections are idle.
    sums: HashMap<Token, Arc<Sums>>,
}

/// Sums over the life of a connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Sums {
    sent: u64,
    received: u64,
    sending: BTreeMap<Verdict, Duration>,
    receiving: BTreeMap<Verdict, Duration>,
}

impl Sums {
    fn of(connection: &Connection) -> Self {
        let account = connection.account();
        Self {
            sent: connection.last().map_or(0, |sample| sample.sending.sent_once()),
            received: connection.last().map_or(0, |sample| sample.receiving.received),
            sending: account.sending.clone(),
            receiving: account.receiving.clone(),
        }
    }
}

impl ConnectionHistory {
    /// Looks at all connections.
    pub fn look(&mut self, now: Duration, tuner: &Tuner<Token>) {
        let before = self.looks.back();
        let sums = tuner.connections().map(|(token, connection)| {
            let sums = Sums::of(connection);
            let same = before.and_then(|look| look.sums.get(token)).filter(|before| ***before == sums);
            (*token, same.map_or_else(|| Arc::new(sums), Arc::clone))
        });
        let sums = sums.collect();
        self.looks.push_back(Look { at: now, sums });
        self.forget(now);
    }

    /// Forgets what is too old. While nothing moves nobody looks: then what was seen last holds until the next look.
    pub fn forget(&mut self, now: Duration) {
        let since = now.saturating_sub(SPAN);
        while let Some(oldest) = self.looks.front_mut().filter(|look| look.at < since) {
            let seen = oldest.at;
            let next = self.looks.get(1).map(|look| look.at);
            if next.is_none_or(|next| next > since && next - seen > 2 * STEP) {
                self.looks[0].at = since;
                return;
            }
            self.looks.pop_front();
        }
    }

    /// Of a connection that is so old. What it did before the oldest look does not count.
    pub fn recent(&self, now: Duration, age: Duration, token: Token, connection: &Connection) -> Recent {
        let oldest = self.looks.front();
        // It is younger than the look, so that all that it did counts; and if there is no look, the server is as young.
        let known = oldest.and_then(|look| Some((look.at, look.sums.get(&token)?)));
        let (length, before) = match known {
            Some((at, sums)) => (now.saturating_sub(at), (**sums).clone()),
            None => (age, Sums::default()),
        };
        difference(length, &before, &Sums::of(connection))
    }
}

fn difference(length: Duration, before: &Sums, after: &Sums) -> Recent {
    let (sent, received) =
        (after.sent.saturating_sub(before.sent), after.received.saturating_sub(before.received));
    let (past, present) = match received > sent {
        true => (&before.receiving, &after.receiving),
        false => (&before.sending, &after.sending),
    };
    let mut seconds: BTreeMap<Verdict, Duration> = BTreeMap::new();
    let mut judged = Duration::ZERO;
    for (verdict, &time) in present {
        let time = time.saturating_sub(past.get(verdict).copied().unwrap_or_default());
        judged += time;
        seconds.insert(*verdict, time);
    }
    *seconds.entry(Verdict::Idle).or_default() += length.saturating_sub(judged);
    let named = seconds.into_iter().filter(|(_, time)| !time.is_zero());
    Recent {
        seconds: length.as_secs_f64(),
        sent,
        received,
        verdict_seconds: named.map(|(verdict, time)| (verdict.to_string(), time.as_secs_f64())).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_last_holds_until_the_next_look() {
        let seconds = Duration::from_secs;
        let look = |at| Look { at: seconds(at), sums: HashMap::new() };
        let after = |looks: &[u64], now| {
            let mut history = ConnectionHistory { looks: looks.iter().map(|at| look(*at)).collect() };
            history.forget(seconds(now));
            history.looks.iter().map(|look| look.at.as_secs()).collect::<Vec<_>>()
        };
        assert_eq!(after(&[0, 5, 10], 62), [5, 10], "looks that follow each other");
        assert_eq!(after(&[0, 5, 10], 1000), [940], "nobody looked since, as nothing moved");
        assert_eq!(after(&[0, 5, 10, 980, 985], 1000), [940, 980, 985]);
        assert_eq!(after(&[0, 5, 10, 980, 985], 1042), [985]);
        assert!(after(&[], 1000).is_empty());
    }

    #[test]
    fn time_without_a_verdict_is_idle() {
        let seconds = Duration::from_secs;
        let before = Sums { sending: [(Verdict::Loss, seconds(5))].into(), ..Sums::default() };
        let after = Sums {
            sent: 10,
            received: 5,
            sending: [(Verdict::Loss, seconds(11)), (Verdict::PathFull, seconds(50))].into(),
            receiving: [(Verdict::Storage, seconds(1))].into(),
        };
        let recent = difference(seconds(60), &before, &after);
        let wanted = [("idle".to_owned(), 4.0), ("loss".to_owned(), 6.0), ("path-full".to_owned(), 50.0)];
        assert_eq!(recent.verdict_seconds, wanted.into());
        assert_eq!((recent.sent, recent.received, recent.seconds), (10, 5, 60.0));
        let writes = Sums { received: 11, ..after };
        assert!(difference(seconds(60), &before, &writes).verdict_seconds.contains_key("storage"));
    }
}
