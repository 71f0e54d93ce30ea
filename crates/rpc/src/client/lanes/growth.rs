//! How many lanes a channel has, if nobody says: one, and more while what limits is of each of them and more of them help.
//! Pure: looks come in with their time, the number goes out.

use std::fmt;
use std::time::Duration;

use super::lanes::{LANES_MAX, Lanes};
use super::limit::LaneLimit;

/// For so much longer than by anything else calls must have been limited by what more lanes may help before there are more.
const HELD: Duration = Duration::from_secs(2);
/// So long new lanes are left to find out what the path can do before it counts, in time with calls,
pub(super) const SETTLING: Duration = Duration::from_secs(2);
/// and in round trips, where those are long.
pub(super) const SETTLING_ROUND_TRIPS: u32 = 20;
/// Over so long it is measured then what they brought.
const MEASURED: Duration = Duration::from_secs(2);
/// More lanes that bring less than a tenth more are not worth what they cost the server.
const WORTH_IT: f64 = 1.1;
/// So much more, or less, of the time for which more was written than read is other work.
const OTHER_WORK: f64 = 0.5;
/// After so long without calls, a comparison with what was before says nothing.
const STALE: Duration = Duration::from_secs(5);
/// So long nothing is tried after it was in vain; twice as long each time, up to the most.
const REST: Duration = Duration::from_secs(60);
const REST_MAX: Duration = Duration::from_secs(3600);

/// A look at the channel.
#[derive(Debug, Clone, Copy)]
pub struct GrowthLook {
    /// The time since any fixed moment.
    pub now: Duration,
    /// What limits.
    pub limit: LaneLimit,
    /// Whether more is written than read.
    pub writes: bool,
    /// Bytes of calls that were answered, of all time.
    pub moved: u64,
    /// Of the path.
    pub round_trip: Duration,
    /// Lanes that deliver.
    pub ready: usize,
}

/// Why there are so many lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GrowthReason {
    /// They were asked for.
    Asked,
    /// The server is on this host.
    SameHost,
    /// Nothing limits that more of them would help.
    Enough,
    /// More of them are being tried.
    Trying,
    /// They are the most there are.
    Most,
    /// More of them brought so much, as a factor.
    InVain {
        /// So many were tried.
        tried: usize,
        /// What they delivered, as a multiple of what was before.
        gain: f64,
    },
    /// The server did not take more.
    Refused {
        /// So many were tried.
        tried: usize,
    },
    /// The server takes the session over one connection only.
    NotShared,
}

/// Decides how many lanes there are.
#[derive(Debug)]
pub struct Growth {
    lanes: usize,
    why: GrowthReason,
    last: Option<GrowthLook>,
    /// When something last moved.
    active: Duration,
    state: State,
    /// After trials in vain with reads, and with writes: what limits those is in other places.
    rests: [Rest; 2],
}

/// When something is tried again.
#[derive(Debug, Clone, Copy, Default)]
struct Rest {
    failures: u32,
    until: Duration,
}

#[derive(Debug)]
enum State {
    /// As many as were asked for, or as make sense.
    Fixed,
    /// This long they were limited by what more may help.
    Watching(Watched),
    /// More are tried.
    Trying(Trial),
}

/// What was seen since lanes last seemed to be the limit.
#[derive(Debug, Clone, Copy, Default)]
struct Watched {
    /// For how long they were, less the time for which something else was: a moment of that says little.
    held: Duration,
    all: Stretch,
}

/// Time in which something moved.
#[derive(Debug, Clone, Copy, Default)]
struct Stretch {
    time: Duration,
    bytes: u64,
    /// For so long more was written than read.
    writing: Duration,
}

#[derive(Debug)]
struct Trial {
    from: usize,
    /// With fewer.
    before: Stretch,
    settled: Stretch,
    measured: Stretch,
}

impl Watched {
    fn add(&mut self, look: &GrowthLook, time: Duration, bytes: u64) {
        self.held = match look.limit {
            limit if limit.is_of_one_lane() => self.held + time,
            LaneLimit::Start | LaneLimit::Requests | LaneLimit::Idle => self.held,
            _ => self.held.saturating_sub(time),
        };
        if self.held.is_zero() {
            *self = Self::default();
        } else {
            self.all.add(look, time, bytes);
        }
    }
}

impl Stretch {
    fn add(&mut self, look: &GrowthLook, time: Duration, bytes: u64) {
        self.time += time;
        self.bytes += bytes;
        if look.writes {
            self.writing += time;
        }
    }

    fn rate(&self) -> f64 {
        self.bytes as f64 / self.time.as_secs_f64().max(1e-6)
    }

    /// Whether it was work of another kind: reads where there were writes for the most part, or the other way round.
    fn is_unlike(&self, other: &Self) -> bool {
        (self.share_of_writing() - other.share_of_writing()).abs() > OTHER_WORK
    }

    /// Whether it was writes for the most part.
    fn is_writing(&self) -> bool {
        self.share_of_writing() > 0.5
    }

    fn share_of_writing(&self) -> f64 {
        self.writing.as_secs_f64() / self.time.as_secs_f64().max(1e-6)
    }
}

impl Growth {
    /// Of a channel to a server on this host, or not.
    pub fn new(lanes: Lanes, same_host: bool) -> Self {
        let (lanes, why, state) = match (lanes, same_host) {
            (Lanes::Fixed(count), _) => (count, GrowthReason::Asked, State::Fixed),
            // Calls wait for processors there, and every lane takes more of them.
            (Lanes::Auto, true) => (1, GrowthReason::SameHost, State::Fixed),
            (Lanes::Auto, false) => (1, GrowthReason::Enough, State::Watching(Watched::default())),
        };
        Self { lanes, why, last: None, active: Duration::ZERO, state, rests: Default::default() }
    }

    /// The same, beginning with so many lanes if nobody asked for a number: the path is known to need them.
    #[must_use]
    pub fn starting_from(mut self, lanes: usize) -> Self {
        if !self.is_fixed() {
            self.lanes = lanes.clamp(1, LANES_MAX);
        }
        self
    }

    /// How many there are to be.
    pub fn lanes(&self) -> usize {
        self.lanes
    }

    /// Why so many.
    pub fn why(&self) -> GrowthReason {
        self.why
    }

    /// Whether it will ever be another number.
    pub fn is_fixed(&self) -> bool {
        matches!(self.state, State::Fixed)
    }

    /// Takes a look; how many there are to be may be another number then.
    pub fn on_look(&mut self, look: GrowthLook) {
        let Some(last) = self.last.replace(look) else { return };
        let (time, bytes) = (look.now.saturating_sub(last.now), look.moved.saturating_sub(last.moved));
        if time > STALE {
            // Nobody looked, since there was nothing to see.
            return self.on_silence();
        }
        if look.limit == LaneLimit::Idle && bytes == 0 {
            if look.now.saturating_sub(self.active) > STALE {
                self.on_silence();
            }
            return;
        }
        self.active = look.now;
        match &mut self.state {
            State::Fixed => {}
            State::Watching(watched) => {
                watched.add(&look, time, bytes);
                let Watched { held, all } = *watched;
                if held > HELD && look.now >= self.rests[usize::from(look.writes)].until {
                    self.grow(all);
                }
            }
            State::Trying(trial) => {
                let settling = SETTLING.max(look.round_trip * SETTLING_ROUND_TRIPS);
                if trial.settled.time < settling {
                    trial.settled.add(&look, time, bytes);
                } else if look.ready < self.lanes {
                    self.on_refusal();
                } else {
                    trial.measured.add(&look, time, bytes);
                    if trial.measured.time >= MEASURED {
                        self.conclude();
                    }
                }
            }
        }
    }

    /// The server took a connection of a trial no further.
    pub fn on_refusal(&mut self) {
        if let State::Trying(trial) = &self.state {
            let (from, tried) = (trial.from, self.lanes);
            self.give_up(from, GrowthReason::Refused { tried });
            self.rest(0);
            self.rest(1);
        }
    }

    /// There is one from now on: others cannot carry calls of the session.
    pub fn end_at_one(&mut self) {
        (self.lanes, self.why, self.state) = (1, GrowthReason::NotShared, State::Fixed);
    }

    fn grow(&mut self, before: Stretch) {
        if self.lanes >= LANES_MAX {
            self.why = GrowthReason::Most;
            return;
        }
        let (settled, measured) = Default::default();
        self.state = State::Trying(Trial { from: self.lanes, before, settled, measured });
        self.lanes = (2 * self.lanes).min(LANES_MAX);
        self.why = GrowthReason::Trying;
    }

    fn conclude(&mut self) {
        let State::Trying(trial) = &self.state else { return };
        if trial.measured.is_unlike(&trial.before) {
            return self.on_silence();
        }
        let gain = trial.measured.rate() / trial.before.rate().max(1.0);
        let writes = trial.before.is_writing();
        if gain > WORTH_IT {
            self.state = State::Watching(Watched::default());
            self.why = if self.lanes == LANES_MAX { GrowthReason::Most } else { GrowthReason::Enough };
            self.rests[usize::from(writes)].failures = 0;
        } else {
            let (from, tried) = (trial.from, self.lanes);
            self.give_up(from, GrowthReason::InVain { tried, gain });
            self.rest(usize::from(writes));
        }
    }

    fn give_up(&mut self, lanes: usize, why: GrowthReason) {
        (self.lanes, self.why) = (lanes, why);
        self.state = State::Watching(Watched::default());
    }

    /// Nothing is tried for a while, with reads (0) or with writes (1).
    fn rest(&mut self, kind: usize) {
        let rest = &mut self.rests[kind];
        rest.until = self.active + REST.saturating_mul(1 << rest.failures.min(16)).min(REST_MAX);
        rest.failures += 1;
    }

    /// What was measured has no successor to be compared with: back to what was known to help.
    fn on_silence(&mut self) {
        match &mut self.state {
            State::Fixed => {}
            State::Watching(watched) => *watched = Watched::default(),
            State::Trying(trial) => {
                (self.lanes, self.why) = (trial.from, GrowthReason::Enough);
                self.state = State::Watching(Watched::default());
            }
        }
    }
}

impl fmt::Display for GrowthReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => formatter.write_str("as was asked"),
            Self::SameHost => formatter.write_str("since the server is on this host"),
            Self::Enough => formatter.write_str("as many as helped"),
            Self::Trying => formatter.write_str("of which some are being tried"),
            Self::Most => formatter.write_str("the most there are"),
            Self::InVain { tried, gain } => {
                write!(formatter, "since {tried} delivered {gain:.2} times as much")
            }
            Self::Refused { tried } => write!(formatter, "since the server did not take {tried}"),
            Self::NotShared => {
                formatter.write_str("since the server takes the NFSv4 session over one connection only")
            }
        }
    }
}

#[cfg(test)]
mod tests;
