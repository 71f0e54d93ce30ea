//! Memory is looked at: who gives back, who waits.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Connection, Tuner};
use crate::budget::{MemoryUse, Pressure};
use crate::sizes::{SEND_LEAST, SizeChange, WINDOW_MIN};

/// Connections that are made to offer less at a time: the greatest part of them, so that memory comes back in seconds, but not
/// all at once.
const VICTIMS: usize = 4;
/// Windows are taken back so often: what a peer was offered takes some round trips to be used up.
const TAKE_BACK_EVERY: Duration = Duration::from_secs(1);
/// What goes in that time at the rate at which a peer takes it is on its way, and not held.
const A_MOMENT: Duration = Duration::from_secs(1);
/// So long a peer may take next to nothing while memory is short. A lossy path stands still for some seconds at most, and a
/// client that is cut connects again and repeats its calls.
const STUCK_FOR: Duration = Duration::from_secs(5);

impl<K: Ord + Copy> Tuner<K> {
    /// A look at the memory, about once a second or more often: what to set on which sockets.
    pub fn on_memory(&mut self, now: Duration, used: &MemoryUse) -> Vec<(K, SizeChange)> {
        let level = self.valve.on_memory(now, self.settings.budget, &self.settings.memory, used);
        self.used = *used;
        self.on_time(now);
        let mut changes = Vec::new();
        let may = self.taken_back.is_none_or(|at| now.saturating_sub(at) >= TAKE_BACK_EVERY);
        if may {
            self.taken_back = Some(now);
            self.take_back(now, level, &mut changes);
            self.size_sending(&mut changes);
            self.count();
        }
        changes
    }

    /// Time passes: who is not looked at, since nothing moves, rests.
    pub fn on_time(&mut self, now: Duration) {
        self.now = now;
        for connection in self.connections.values_mut() {
            connection.on_time(now);
        }
        self.count();
    }

    fn take_back(&mut self, now: Duration, level: Pressure, changes: &mut Vec<(K, SizeChange)>) {
        for key in self.victims(now, level) {
            if let Some(connection) = self.connections.get_mut(&key) {
                changes.extend(connection.take_back(&self.settings).into_iter().map(|change| (key, change)));
            }
        }
    }

    /// The shares of those that are not looked at, since nothing moves, change too.
    fn size_sending(&mut self, changes: &mut Vec<(K, SizeChange)>) {
        let clients: Vec<(K, crate::sizes::Share)> =
            self.connections.iter().map(|(key, one)| (*key, self.share(one.client()))).collect();
        for (key, share) in clients {
            if let Some(connection) = self.connections.get_mut(&key) {
                changes.extend(
                    connection.size_sending(&self.settings, &share).into_iter().map(|change| (key, change)),
                );
            }
        }
    }

    /// Whose windows are taken back: under pressure, of those that leave most unread, and of those that use least of what
    /// they were promised; without it, of clients that have more than their part while others want some, and of all if
    /// more is promised than there is.
    fn victims(&self, now: Duration, level: Pressure) -> BTreeSet<K> {
        let budget = self.settings.budget.for_receiving();
        let is_too_much = self.totals.promised > budget;
        let part = budget / self.clients.busy().max(1);
        let is_greedy = |connection: &Connection| {
            let client = self.clients.get(connection.client());
            client.is_some_and(|client| client.totals().promised > part)
        };
        let is_short = self.totals.promised > budget - budget / 4;
        let is_candidate = |connection: &Connection| {
            connection.promised() > 0
                && (level >= Pressure::TakeBack || is_too_much || (is_short && is_greedy(connection)))
        };
        let mut by_slack: Vec<(f64, K)> = (self.connections.iter())
            .filter(|(_, connection)| is_candidate(connection))
            .map(|(key, connection)| (connection.slack(now), *key))
            .collect();
        by_slack.sort_by(|a, b| b.0.total_cmp(&a.0));
        let count = VICTIMS.max(by_slack.len() / 4);
        let mut victims: BTreeSet<K> = by_slack.into_iter().take(count).map(|(_, key)| key).collect();
        if level >= Pressure::TakeBack {
            let fair = (budget / self.totals.connections.max(1)).max(WINDOW_MIN);
            let leaves_unread = |one: &Connection| one.last().is_some_and(|at| at.receiving.queued > fair);
            victims
                .extend(self.connections.iter().filter(|(_, one)| leaves_unread(one)).map(|(key, _)| *key));
        }
        victims
    }

    /// Whether a connection should not be read for now: memory is short, and it holds more than its part of what was sent
    /// and not taken, which is more than goes in a moment as its peer takes it. To read on would only make more replies for it.
    /// Bytes that it left unread are no reason: they go by being read. `is_held`: whether it is not read already, which lasts
    /// until it holds half as much.
    pub fn should_hold(&self, key: K, is_held: bool) -> bool {
        let Some(connection) = self.connections.get(&key) else { return false };
        let part = self.settings.budget.for_sending() / self.totals.connections.max(1);
        let most = part.max(SEND_LEAST) / if is_held { 2 } else { 1 };
        let queued = connection.last().map_or(0, |sample| sample.sending.queued);
        self.valve.level() >= Pressure::TakeBack && queued > most && connection.goes_in() > A_MOMENT
    }

    /// Connections to cut, since memory is short: those whose peers have long taken next to nothing of what was sent to them,
    /// the largest first, until all together hold no more than what there is for sending.
    pub fn stuck(&self) -> Vec<K> {
        if self.valve.level() < Pressure::TakeBack {
            return Vec::new();
        }
        let queued = |one: &Connection| one.last().map_or(0, |sample| sample.sending.queued);
        let mut left = self.connections.values().map(queued).fold(0, u64::saturating_add);
        let mut stuck: Vec<(u64, K)> = (self.connections.iter())
            .filter(|(_, one)| one.stuck_for() >= STUCK_FOR)
            .map(|(key, one)| (queued(one), *key))
            .collect();
        stuck.sort_by(|a, b| b.cmp(a));
        let most = self.settings.budget.for_sending();
        let goes = |(queued, _): &(u64, K)| {
            let goes = left > most;
            left = left.saturating_sub(queued * u64::from(goes));
            goes
        };
        stuck.into_iter().take_while(goes).map(|(_, key)| key).collect()
    }
}
