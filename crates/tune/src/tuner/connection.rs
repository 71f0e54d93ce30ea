//! One connection as the tuner knows it.

use std::net::IpAddr;
use std::time::Duration;

use super::totals::Totals;
use super::{Own, Settings};
use crate::account::Account;
use crate::host::SizingMode;
use crate::meter::Meter;
use crate::sizes::{SendSizes, Share, SizeChange, Start, Window, WindowRoom};
use crate::verdict::{Explanation, Judge, Judgement};
use crate::{Interval, Sample};

/// It is looked at so often: every four round trips, since a window takes some to show what a change did,
const ROUND_TRIPS: u32 = 4;
/// but not more often than this.
const INTERVAL_MIN: Duration = Duration::from_millis(100);
/// A connection counts as busy for so long after it moved something.
const BUSY_FOR: Duration = Duration::from_secs(10);
/// One that was not looked at for so long moved nothing: the owner of the socket looks at it while something moves.
const RESTS_AFTER: Duration = Duration::from_secs(2);
/// A peer that would need longer than this for what was sent to it takes next to nothing: what remote ones are sent ahead goes in
/// seven seconds at 20 KB/s.
const NEXT_TO_NOTHING: Duration = Duration::from_secs(30);
/// A path is long from this round trip on: TCP may have to wait for three of them before it sends again.
const LONG_ROUND_TRIP: Duration = Duration::from_secs(1);
/// It moves something from this rate on: bytes per second.
const BUSY_RATE: f64 = 100_000.0;

/// Sizes, verdicts and sums of a connection.
#[derive(Debug, Clone)]
pub struct Connection {
    judge: Judge,
    send: SendSizes,
    start: Start,
    window: Window,
    meter: Meter,
    client: IpAddr,
    is_local: bool,
    own: Own,
    /// Until when its time is accounted for.
    accounted: Duration,
    judgement: Option<Judgement>,
    /// How long that interval was.
    judged_over: Duration,
    busy_at: Option<Duration>,
    /// Since when its peer has taken next to nothing of what was sent to it.
    stuck_since: Option<Duration>,
    /// Its path was found to be long.
    is_long: bool,
    /// What it has in the sums over connections.
    counted: Totals,
}

impl Connection {
    /// A new one; to a peer on this host or not.
    pub(super) fn new(now: Duration, settings: &Settings, client: IpAddr, is_local: bool, own: Own) -> Self {
        Self {
            judge: Judge::default(),
            send: SendSizes::new(is_local, own.send_buffer(settings)),
            start: Start::default(),
            window: Window::new(is_local, own.receive_buffer(settings)),
            meter: Meter::default(),
            client,
            is_local,
            own,
            accounted: now,
            judgement: None,
            judged_over: Duration::ZERO,
            busy_at: None,
            stuck_since: None,
            is_long: false,
            counted: Totals::default(),
        }
    }

    /// What it adds to the sums.
    pub(super) fn totals(&self, now: Duration) -> Totals {
        let is_busy = self.is_busy(now);
        let queued = self.last().map_or(0, |sample| sample.sending.queued);
        Totals {
            connections: 1,
            busy: u64::from(is_busy),
            promised: self.promised(),
            stalled: if is_busy { 0 } else { queued },
        }
    }

    /// It is counted anew, as what it is now: what was counted of it so far, and what is.
    pub(super) fn count(&mut self, totals: Totals) -> (Totals, Totals) {
        (std::mem::replace(&mut self.counted, totals), totals)
    }

    /// What it gets at once.
    pub(super) fn open(&mut self, settings: &Settings, share: &Share) -> Vec<SizeChange> {
        let mut changes = Vec::new();
        self.send.size(&settings.host, share, 0.0, &mut changes);
        self.window.open(&settings.host, &mut changes);
        changes
    }

    /// It has inherited a receive buffer of that size from its listener, and that mark.
    pub(super) fn inherit(
        &mut self,
        (buffer, mark): (u64, u64),
        settings: &Settings,
        room: &WindowRoom,
    ) -> Vec<SizeChange> {
        let mut changes = Vec::new();
        self.send.inherit(mark);
        self.window.inherit(buffer, &settings.host, room, &mut changes);
        changes
    }

    /// The next sample.
    pub(super) fn on_sample(
        &mut self,
        sample: Sample,
        settings: &Settings,
        share: &Share,
        room: &WindowRoom,
    ) -> Vec<SizeChange> {
        let mut changes = Vec::new();
        let before = self.judge.last().cloned();
        self.judgement = self.judge.on_sample(sample, self.send.unsent_mark());
        if let (None, Some(after)) = (&before, self.judge.last()) {
            let since_it_opened = Interval { before: &Sample::default(), after };
            self.meter.at(after.at).moved.look(&since_it_opened);
        }
        let (Some(before), Some(after), Some(judgement)) = (&before, self.judge.last(), self.judgement)
        else {
            return changes;
        };
        let interval = Interval { before, after };
        self.judged_over = interval.length();
        let time = after.at.saturating_sub(self.accounted);
        self.accounted = after.at;
        self.meter.at(after.at).add(time, &interval, &judgement);
        if judgement.sent_per_second.max(judgement.received_per_second) >= BUSY_RATE {
            self.busy_at = Some(after.at);
        }
        let is_stuck = self.goes_in() > NEXT_TO_NOTHING;
        self.stuck_since = is_stuck.then(|| self.stuck_since.unwrap_or(after.at));
        let came = interval.per_round_trip(|sample| sample.receiving.received);
        // What bounds TCP's patience elsewhere would have it send everything twice here.
        if !self.is_long && after.path.rtt >= LONG_ROUND_TRIP {
            self.is_long = true;
            changes.push(SizeChange::RetransmissionUnbound);
        }
        self.start.on_sample(after, &mut changes);
        let rate = judgement.sent_per_second.max(self.start.rate(after));
        self.send.size(&settings.host, share, rate, &mut changes);
        self.window.on_sample(after, came, &settings.host, room, &mut changes);
        let grown = changes.iter().filter(|change| matches!(change, SizeChange::Promise(_))).count();
        self.meter.at(self.accounted).events.grown += grown as u64;
        changes
    }

    /// It ended, and had moved this much by then.
    pub(super) fn on_end(&mut self, last: &Sample) {
        let start = Sample::default();
        let before = self.judge.last().unwrap_or(&start);
        self.meter.at(last.at.max(before.at)).moved.look(&Interval { before, after: last });
    }

    /// Time passes. One that is not looked at any more moves nothing.
    pub(super) fn on_time(&mut self, now: Duration) {
        let looked_at = self.last().map_or(Duration::ZERO, |sample| sample.at);
        if now.saturating_sub(looked_at) > RESTS_AFTER.max(2 * self.interval()) {
            self.meter.at(now).rest(now.saturating_sub(self.accounted));
            self.accounted = now;
        }
    }

    /// The share of it changed.
    pub(super) fn size_sending(&mut self, settings: &Settings, share: &Share) -> Vec<SizeChange> {
        let mut changes = Vec::new();
        let rate = self.judgement.map_or(0.0, |judgement| judgement.sent_per_second);
        self.send.size(&settings.host, share, rate, &mut changes);
        changes
    }

    /// The settings changed: what to set on it now.
    pub(super) fn on_settings(&mut self, settings: &Settings, share: &Share) -> Vec<SizeChange> {
        self.send.set(self.own.send_buffer(settings));
        let mut changes = self.size_sending(settings, share);
        let seen = self.judge.last().map(|sample| &sample.receiving);
        self.window.set(self.own.receive_buffer(settings), seen, &settings.host, &mut changes);
        changes
    }

    /// Offers less, because memory is short.
    pub(super) fn take_back(&mut self, settings: &Settings) -> Vec<SizeChange> {
        let mut changes = Vec::new();
        // Without privilege the kernel's window could not be given back later.
        let is_ours = settings.host.mode() == SizingMode::Forced;
        let seen = self.judge.last().map(|sample| &sample.receiving).filter(|_| is_ours);
        self.window.take_back(seen, &mut changes);
        self.meter.at(self.accounted).events.taken_back += changes.len() as u64;
        changes
    }

    /// Whether it moved something of late.
    pub fn is_busy(&self, now: Duration) -> bool {
        self.busy_at.is_some_and(|at| now.saturating_sub(at) <= BUSY_FOR)
    }

    /// When to look at it again, after this time.
    pub fn interval(&self) -> Duration {
        let Some(last) = self.judge.last() else { return INTERVAL_MIN };
        // A start doubles its rate in each round trip.
        let round_trips = if Start::is_under_way(last) { 1 } else { ROUND_TRIPS };
        (last.path.rtt * round_trips).max(INTERVAL_MIN)
    }

    /// In what time all that was sent and not taken goes, as the peer took it in the last interval; none if it was not looked at
    /// twice.
    pub(super) fn goes_in(&self) -> Duration {
        let (Some(last), Some(judgement)) = (self.judge.last(), self.judgement) else {
            return Duration::ZERO;
        };
        let seconds = last.sending.queued as f64 / judgement.sent_per_second;
        // Of nothing at all it is not a number, and what stands still goes in no time that could be given.
        if last.sending.queued == 0 {
            Duration::ZERO
        } else {
            Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
        }
    }

    /// How long its peer was seen to take next to nothing of what was sent to it.
    pub(super) fn stuck_for(&self) -> Duration {
        let (Some(since), Some(last)) = (self.stuck_since, self.last()) else { return Duration::ZERO };
        last.at.saturating_sub(since)
    }

    /// What limited it in the last interval, in a sentence.
    pub fn explanation(&self) -> Option<Explanation> {
        self.judge.explain(self.judgement.as_ref()?)
    }

    /// What limited it in the last interval.
    pub fn judgement(&self) -> Option<&Judgement> {
        self.judgement.as_ref()
    }

    /// How long the last interval was.
    pub fn judged_over(&self) -> Duration {
        self.judged_over
    }

    /// Where its time went.
    pub fn account(&self) -> &Account {
        self.meter.total()
    }

    /// The same, with the last period by itself.
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Whose it is.
    pub fn client(&self) -> IpAddr {
        self.client
    }

    /// Whether its peer is on this host.
    pub fn is_local(&self) -> bool {
        self.is_local
    }

    /// What holds for it alone.
    pub fn own(&self) -> &Own {
        &self.own
    }

    /// The most that came in a round trip, of late: what is used of what was promised.
    pub fn used_window(&self, now: Duration) -> u64 {
        self.window.used(now)
    }

    /// Its last sample.
    pub fn last(&self) -> Option<&Sample> {
        self.judge.last()
    }

    /// The send buffer asked for; 0: the kernel's own.
    pub fn send_ceiling(&self) -> u64 {
        self.send.ceiling()
    }

    /// How much the socket may hold unsent.
    pub fn unsent_mark(&self) -> u64 {
        self.send.unsent_mark()
    }

    /// The window promised to the peer; 0: the kernel's own.
    pub fn promised(&self) -> u64 {
        self.window.promised()
    }

    /// How little of its promise it uses.
    pub(super) fn slack(&self, now: Duration) -> f64 {
        self.window.slack(now)
    }
}
