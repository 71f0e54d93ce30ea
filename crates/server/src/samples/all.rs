//! The curves of all connections, within a memory that does not grow with them.

use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use howdah_net::Token;
use howdah_tune::{Judgement, Sample};

use super::point::Point;
use super::series::Series;
use crate::limits::{CLOSED_MAX, POINTS_MAX};
use crate::room::one_client;

/// How far back curves go.
pub const SPAN: Duration = Duration::from_secs(120);
/// How far points are apart, while there is room for all: as often as a page is drawn anew.
pub const STEP: Duration = Duration::from_millis(500);

/// All curves.
#[derive(Debug, Default)]
pub struct Samples {
    series: HashMap<Token, Series>,
    /// In the order in which they closed.
    closed: VecDeque<Token>,
}

/// A copy of a curve.
#[derive(Debug)]
pub struct Taken {
    /// The client's end.
    pub client: SocketAddr,
    /// Ours.
    pub server: SocketAddr,
    /// Whether the connection is there.
    pub is_open: bool,
    /// Oldest first.
    pub points: Vec<Point>,
}

impl Samples {
    /// A look at a connection.
    pub fn look(
        &mut self,
        token: Token,
        ends: (SocketAddr, SocketAddr),
        sample: &Sample,
        judgement: Option<&Judgement>,
    ) {
        let (step, most) = (self.step(), self.most());
        let series = self.series.entry(token).or_insert_with(|| Series::new(ends.0, ends.1));
        series.look(sample, judgement, step, most);
    }

    /// A connection is gone. Its curve stays until it is over, unless too many are gone.
    pub fn close(&mut self, now: Duration, token: Token) {
        let Some(series) = self.series.get_mut(&token) else { return };
        series.close(now);
        self.closed.push_back(token);
        while self.closed.len() > CLOSED_MAX
            && let Some(oldest) = self.closed.pop_front()
        {
            self.series.remove(&oldest);
        }
    }

    /// Time passes: what is too old is forgotten.
    pub fn forget(&mut self, now: Duration) {
        let (since, most) = (now.saturating_sub(SPAN), self.most());
        self.series.values_mut().for_each(|series| series.forget_before(since, most));
        self.series.retain(|_, series| !series.is_over());
        self.closed.retain(|token| self.series.contains_key(token));
    }

    /// How far points are apart now.
    pub fn step(&self) -> Duration {
        let share = SPAN * u32::try_from(self.series.len()).unwrap_or(u32::MAX) / POINTS_MAX as u32;
        STEP.max(share)
    }

    /// The connections with samples, oldest first; of one client if it is named.
    pub fn tokens(&self, client: Option<IpAddr>) -> Vec<Token> {
        let is_meant = |series: &Series| {
            client.is_none_or(|client| one_client(series.ends().0.ip()) == one_client(client))
        };
        let mut tokens: Vec<Token> =
            self.series.iter().filter(|(_, series)| is_meant(series)).map(|(token, _)| *token).collect();
        tokens.sort_unstable();
        tokens
    }

    /// What there is of a connection after `since`; nothing if it is forgotten, or nothing happened to it since then.
    pub fn take(&self, token: Token, since: Duration) -> Option<Taken> {
        let series = self.series.get(&token)?;
        let (client, server) = series.ends();
        let points: Vec<Point> = series.after(since).copied().collect();
        if points.is_empty() && !series.closed_after(since) {
            return None;
        }
        Some(Taken { client, server, is_open: series.is_open(), points })
    }

    /// Bytes that all curves hold.
    pub fn memory(&self) -> usize {
        let heap: usize = self.series.values().map(Series::heap).sum();
        heap + self.series.capacity() * size_of::<(Token, Series)>()
            + self.closed.capacity() * size_of::<Token>()
    }

    /// Points that each connection may have.
    fn most(&self) -> usize {
        let whole = SPAN.as_millis() / STEP.as_millis();
        (POINTS_MAX / self.series.len().max(1)).min(whole as usize)
    }
}

#[cfg(test)]
mod tests {
    use howdah_tune::Verdict;

    use super::*;

    const LOOKS: Duration = Duration::from_millis(100);

    fn ends(client: u8) -> (SocketAddr, SocketAddr) {
        (SocketAddr::from(([10, 0, 0, client], 1000)), SocketAddr::from(([10, 0, 0, 250], 2049)))
    }

    /// A connection that sends 1000 bytes a millisecond.
    fn sample(at: Duration) -> Sample {
        let mut sample = Sample { at, ..Sample::default() };
        sample.sending.sent = at.as_millis() as u64 * 1000;
        sample.sending.flight = 10_000 + sample.sending.sent % 3000;
        sample
    }

    fn judgement(sending: Verdict) -> Judgement {
        Judgement { sending, receiving: Verdict::Idle, sent_per_second: 1e6, received_per_second: 0.0 }
    }

    /// Looks at so many connections until then.
    fn filled(connections: u64, until: Duration) -> Samples {
        let mut samples = Samples::default();
        let mut now = Duration::ZERO;
        while now <= until {
            for token in 0..connections {
                samples.look(Token(token), ends(token as u8), &sample(now), Some(&judgement(Verdict::Loss)));
            }
            if now.subsec_millis() == 0 {
                samples.forget(now);
            }
            now += LOOKS;
        }
        samples
    }

    #[test]
    fn a_curve_has_two_minutes_of_points() {
        let samples = filled(1, Duration::from_secs(300));
        let taken = samples.take(Token(0), Duration::ZERO).expect("there");
        assert!((239..=241).contains(&taken.points.len()), "{}", taken.points.len());
        assert!(taken.points.windows(2).all(|two| two[1].at() - two[0].at() == STEP));
        assert!(taken.points.iter().all(|point| point.rates() == (1e6, 0.0)));
        assert_eq!(taken.points[7].verdict(), Some(Verdict::Loss));
        let late = samples.take(Token(0), Duration::from_secs(299)).expect("there");
        assert_eq!(late.points.len(), 2, "only what came later is given");
    }

    #[test]
    fn memory_does_not_grow_with_connections() {
        let room = POINTS_MAX * size_of::<Point>();
        for connections in [500, 1000, 4000] {
            let samples = filled(connections, Duration::from_secs(30));
            assert!(samples.memory() < 2 * room, "{connections}: {} of {room}", samples.memory());
        }
        let samples = filled(1000, Duration::from_secs(130));
        assert_eq!(samples.step(), Duration::from_secs(1));
        let taken = samples.take(Token(5), Duration::ZERO).expect("there");
        assert!((115..=120).contains(&taken.points.len()), "{}", taken.points.len());
        assert!(samples.memory() < room * 3 / 2, "{} of {room}", samples.memory());
    }

    #[test]
    fn who_rested_has_moved_what_is_found_just_now() {
        let mut samples = Samples::default();
        let mut after = sample(Duration::from_secs(60));
        samples.look(Token(1), ends(1), &sample(Duration::ZERO), None);
        after.sending.sent = 1_000_000;
        samples.look(Token(1), ends(1), &after, None);
        let taken = samples.take(Token(1), Duration::ZERO).expect("there");
        assert_eq!(taken.points[0].rates().0, 2e6);
    }

    #[test]
    fn the_gone_are_told_until_they_are_forgotten() {
        let mut samples = filled(3, Duration::from_secs(10));
        let closed = Duration::from_secs(15);
        samples.close(closed, Token(1));
        let since = |seconds| samples.take(Token(1), Duration::from_secs(seconds));
        assert!(since(12).is_some_and(|taken| !taken.is_open && taken.points.is_empty()), "its end is news");
        assert!(since(15).is_none() && samples.take(Token(2), Duration::from_secs(12)).is_none());
        assert_eq!(samples.tokens(None).len(), 3);
        assert_eq!(samples.tokens(Some("10.0.0.1".parse().expect("an address"))), [Token(1)]);
        assert!(!samples.take(Token(1), Duration::ZERO).expect("still kept").is_open);
        samples.forget(Duration::from_secs(131));
        assert!(samples.take(Token(1), Duration::ZERO).is_none());
        for token in 100..100 + 2 * CLOSED_MAX as u64 {
            samples.look(Token(token), ends(1), &sample(Duration::from_secs(131)), None);
            samples.close(closed, Token(token));
        }
        assert_eq!(samples.tokens(None).len(), CLOSED_MAX + 2);
    }
}
