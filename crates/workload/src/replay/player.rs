//! Plays a record: what it needs is made, each call is begun at its time or as soon as it can be, and timed.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use parking_lot::Mutex;

use super::super::call;
use super::super::carry_out::Schedule;
use super::super::control::{Control, Interrupted, Turn};
use super::super::crew;
use super::super::performance::{Deeds, Performance};
use super::super::progress::{Progress, Unit};
use super::super::result::PhaseResult;
use super::super::stage::Stage;
use super::call::{Hand, Outcome};
use super::groups::Groups;
use super::layout::Layout;
use super::made::{Made, remove_all};
use super::recording::Recording;
use super::report::{LaidOut, Played, ReplayReport, is_late};
use super::story::Story;
use super::tally::Tally;
use crate::WorkloadPlan;
use crate::content::Generator;
use crate::counters::since;
use crate::measure::Processor;

/// Calls at once with the recorded timing, unless it is said: as many as a client of the Linux kernel keeps in flight.
const IN_FLIGHT: usize = 64;
/// What the directory is called that a record is played in.
const DIRECTORY: &str = "replay";

/// How fast.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// So many times as fast as recorded.
    Times(f64),
    /// Each call as soon as those that it waits for have ended.
    Most,
}

/// What is to be played, and how.
pub struct Replay {
    /// The record.
    pub recording: Recording,
    /// How fast.
    pub speed: Speed,
    /// Calls at once; none: 64 with a timing, else as many as the server of the record had at once.
    pub in_flight: Option<u64>,
    /// What data follows from.
    pub seed: u64,
    /// Whether what was made stays.
    pub keep: bool,
}

impl Replay {
    fn crew(&self) -> Result<usize> {
        let usual = match self.speed {
            Speed::Times(_) => IN_FLIGHT,
            Speed::Most => self.recording.most_at_once().clamp(1, WorkloadPlan::MOST_THREADS as usize),
        };
        let crew = self.in_flight.map_or(usual as u64, |crew| crew);
        ensure!(
            (1..=WorkloadPlan::MOST_THREADS).contains(&crew),
            "calls in flight: 1 to {}",
            WorkloadPlan::MOST_THREADS
        );
        Ok(crew as usize)
    }

    fn times(&self) -> Option<f64> {
        match self.speed {
            Speed::Times(times) => Some(times),
            Speed::Most => None,
        }
    }
}

/// Plays a record on a stage, as often as scheduled.
///
/// # Errors
/// What it needs cannot be made or removed, or somebody asked to stop. A call that is refused is no error: it is reported.
pub fn replay(
    replay: &Replay,
    schedule: Schedule,
    stage: &Stage,
    progress: &Progress,
    asked: &AtomicBool,
) -> Result<ReplayReport> {
    let (crew, story) = (replay.crew()?, Story::of(&replay.recording.calls));
    let mut whole = Whole::default();
    for number in 0..schedule.warm_up + schedule.runs {
        let name = format!("{DIRECTORY}-{number}");
        let play = Play { replay, story: &story, crew, stage, progress, asked };
        let played = play.in_directory(&name);
        let cleared = if replay.keep { Ok(()) } else { remove_all(&stage.place, &stage.directory, &name) };
        let played = played?;
        cleared?;
        if number >= schedule.warm_up {
            whole.add(played);
        }
    }
    let Whole { performances, tally, laid_out, late_calls } = whole;
    let phase = PhaseResult::of(&performances);
    let (speed, in_flight) = (replay.times(), crew);
    Ok(ReplayReport::new(&replay.recording, Played { speed, in_flight, laid_out, late_calls, tally, phase }))
}

/// What came of all runs.
#[derive(Default)]
struct Whole {
    performances: Vec<Performance>,
    tally: Tally,
    laid_out: LaidOut,
    late_calls: u64,
}

impl Whole {
    fn add(&mut self, (laid_out, performance, tally, late): (LaidOut, Performance, Tally, u64)) {
        self.laid_out = laid_out;
        self.performances.push(performance);
        self.tally.add(tally);
        self.late_calls += late;
    }
}

/// One run.
struct Play<'a> {
    replay: &'a Replay,
    story: &'a Story,
    crew: usize,
    stage: &'a Stage,
    progress: &'a Progress,
    asked: &'a AtomicBool,
}

/// What its threads share.
struct Shared<'a> {
    made: &'a Made,
    groups: Groups,
    next: AtomicUsize,
    began: OnceLock<Instant>,
    tally: Mutex<Tally>,
    late: AtomicU64,
}

impl Play<'_> {
    fn in_directory(&self, name: &str) -> Result<(LaidOut, Performance, Tally, u64)> {
        let place = &self.stage.place;
        let root = call::make_directory(place, &self.stage.directory, name)
            .with_context(|| format!("making {name}"))?
            .handle;
        let made = Made::new(self.story.world.nodes.len());
        let generator = Generator::new(self.replay.seed);
        let (progress, asked) = (self.progress, self.asked);
        let layout =
            Layout { place, root, world: &self.story.world, made: &made, generator, progress, asked };
        let laid_out = layout.make().context("making what the record needs")?;
        let (performance, tally, late) = self.run(&made)?;
        Ok((laid_out, performance, tally, late))
    }

    fn run(&self, made: &Made) -> Result<(Performance, Tally, u64)> {
        let total = self.replay.recording.calls.len() as u64;
        self.progress.begin("replay".to_owned(), Unit::Operations, total, None);
        let counts =
            || self.stage.place.counters.as_ref().map(|counters| counters.counts()).unwrap_or_default();
        let control = Control::new(self.asked, None);
        let shared = Shared {
            made,
            groups: self.story.grouping.groups(),
            next: AtomicUsize::new(0),
            began: OnceLock::new(),
            tally: Mutex::default(),
            late: AtomicU64::new(0),
        };
        let job = |_: usize, turn: &Turn<'_>, deeds: &mut Deeds| {
            self.work(&shared, turn, deeds);
            Ok(())
        };
        let (before, began, deeds) = crew::run(&control, self.crew, &job, || (Processor::used(), counts()))?;
        let took = began.elapsed();
        let processor = Some(Processor::used().since(before.0));
        let procedures = since(&counts(), &before.1);
        self.progress.end();
        if self.asked.load(Ordering::Relaxed) {
            return Err(Interrupted.into());
        }
        let performance = Performance { phase: "replay", took, processor, procedures, deeds };
        Ok((performance, shared.tally.into_inner(), shared.late.into_inner()))
    }

    /// One thread: takes the next call, until none is left.
    fn work(&self, shared: &Shared<'_>, turn: &Turn<'_>, deeds: &mut Deeds) {
        let place = &self.stage.place;
        let (files, caller) = (&*place.file_system, &place.caller);
        let generator = Generator::new(self.replay.seed);
        let mut hand = Hand { files, caller, made: shared.made, generator, buffer: Vec::new() };
        let mut tally = Tally::default();
        let calls = &self.replay.recording.calls;
        while !turn.is_over() {
            let number = shared.next.fetch_add(1, Ordering::Relaxed);
            let (Some(call), Some(step)) = (calls.get(number), self.story.steps.get(number)) else { break };
            hand.prepare(call, step);
            let due = self.due(shared, call.at - calls[0].at);
            if let Some(due) = due {
                turn.rest(due.saturating_duration_since(Instant::now()));
            }
            if !shared.groups.wait(&step.membership, turn) {
                break;
            }
            let began = Instant::now();
            if let Some(late) = due.map(|due| began.saturating_duration_since(due)) {
                tally.late.record(late);
                shared.late.fetch_add(u64::from(is_late(late)), Ordering::Relaxed);
            }
            let outcome = hand.make(call, step);
            let took = began.elapsed();
            shared.groups.leave(&step.membership);
            tally.count(call, outcome, took);
            if outcome != Outcome::Skipped {
                deeds.latencies.record(took);
                deeds.operations += 1;
            }
            if let Outcome::Done(bytes) = outcome {
                deeds.bytes += bytes;
            }
            self.progress.add(1);
        }
        shared.tally.lock().add(tally);
    }

    /// When a call is to begin that came so long after the first one.
    fn due(&self, shared: &Shared<'_>, seconds: f64) -> Option<Instant> {
        let began = *shared.began.get_or_init(Instant::now);
        let times = self.replay.times()?;
        let after = Duration::try_from_secs_f64((seconds / times).max(0.0)).ok()?;
        began.checked_add(after)
    }
}
