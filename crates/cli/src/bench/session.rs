//! One measurement, from the stage to the report.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::{Context, Result};
use howdah_client::channel::Transport;
use howdah_daemon::host::{Signal, signals};
use howdah_workload::measure::Machine;
use howdah_workload::{
    BenchReport, Commit, Interrupted, PlaceKind, PlaceReport, Progress, Replay, ReplayReport, Schedule,
    Stage, WorkloadPlan, WorkloadResult, carry_out, replay,
};

use super::{Opened, Planned};
use crate::report;

/// What is said when somebody asks to stop who is to wait for what was made to be removed.
pub const STOPPING: &str = "howdah: stopping; a second signal stops at once, and leaves the files";

/// How to measure.
pub struct BenchSession<'a> {
    /// Where.
    pub opened: &'a Opened,
    /// What.
    pub planned: &'a Planned,
    /// What is to be played instead.
    pub replay: Option<&'a Replay>,
    /// How often.
    pub schedule: Schedule,
    /// Whether the place may hold something.
    pub beside_others: bool,
    /// Whether what is made stays.
    pub keep: bool,
    /// How far it is.
    pub progress: Arc<Progress>,
    /// The command that repeats it.
    pub command: String,
}

/// Measures. Whatever happens, what was made is removed, unless it is to be kept.
pub fn measure(session: &BenchSession<'_>) -> Result<BenchReport> {
    let asked = stop_on_signal(STOPPING)?;
    let started = jiff::Timestamp::now().to_string();
    let stage = Stage::set_up(session.opened.place.clone(), session.beside_others)?;
    let results = carry_out_all(session, &stage, &asked);
    let name = stage.name().to_owned();
    let cleared = if session.keep { Ok(()) } else { stage.clear_up() };
    let cleared = cleared.with_context(|| format!("cleaning up; the directory {name} is left"));
    let results = match (results, cleared) {
        (Ok(results), Ok(())) => results,
        (Ok(_), Err(left)) => return Err(left),
        (Err(error), Err(left)) => return Err(error.context(format!("{left:#}"))),
        (Err(error), Ok(())) if error.is::<Interrupted>() && !session.keep => {
            return Err(error.context("its files are removed"));
        }
        (Err(error), Ok(())) => return Err(error),
    };
    Ok(whole(session, started, results, &name))
}

/// What came of workloads, and of playing a record.
type Results = (Vec<WorkloadResult>, Option<ReplayReport>);

fn carry_out_all(session: &BenchSession<'_>, stage: &Stage, asked: &AtomicBool) -> Result<Results> {
    let (schedule, progress) = (session.schedule, &session.progress);
    let plans = session.planned.plans.iter();
    let results =
        plans.map(|plan| carry_out(plan, schedule, stage, progress, asked)).collect::<Result<_>>()?;
    let played = session.replay.map(|record| replay(record, schedule, stage, progress, asked));
    Ok((results, played.transpose()?))
}

/// Set when a signal asks to stop, which is answered with these words; a second one ends the process.
pub fn stop_on_signal(words: &'static str) -> Result<Arc<AtomicBool>> {
    let signals = signals()?;
    let asked = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&asked);
    let wait = move || {
        while let Ok(signal) = signals.recv() {
            if signal == Signal::Stop {
                set.store(true, Ordering::Relaxed);
                report::complain(&words);
            }
        }
    };
    thread::Builder::new().name("stop".to_owned()).spawn(wait).context("starting a thread")?;
    Ok(asked)
}

/// The figures with all that is needed to repeat them.
fn whole(
    session: &BenchSession<'_>,
    started: String,
    (results, replay): Results,
    stage: &str,
) -> BenchReport {
    let Planned { plans, profile, deviations, seed, .. } = session.planned;
    let place = &session.opened.place;
    let transport = session.opened.transport.map(|transport| transport.name().to_ascii_lowercase());
    let protocol = session.opened.protocol();
    let mut notes = notes((place.kind, protocol), plans);
    if session.keep {
        notes.push(format!("the files are kept, in {stage}"));
    }
    BenchReport {
        howdah_version: env!("CARGO_PKG_VERSION").to_owned(),
        started,
        command: session.command.clone(),
        seed: *seed,
        machine: Machine::this(),
        place: PlaceReport { name: place.name.clone(), kind: place.kind, protocol, transport },
        profile: profile.map(|profile| profile.name().to_owned()),
        deviations: deviations.iter().cloned().chain(other_transport(session)).collect(),
        schedule: session.schedule,
        channel: session.opened.channel(),
        notes,
        results,
        replay,
    }
}

/// That a profile's UDP was not used.
fn other_transport(session: &BenchSession<'_>) -> Option<String> {
    let used = session.opened.transport?;
    let is_other = session.planned.transport() == Transport::Udp && used != Transport::Udp;
    is_other.then(|| format!("over {}, not UDP", used.name().to_uppercase()))
}

/// What a reader of the figures should know.
fn notes((kind, protocol): (PlaceKind, Option<&str>), plans: &[WorkloadPlan]) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |holds: bool, text: &str| {
        if holds {
            notes.push(text.to_owned());
        }
    };
    note(cfg!(debug_assertions), "a debug build measured: it is many times slower than a release build");
    note(
        kind == PlaceKind::Directory,
        "data written a moment ago is read from this machine's memory, unless it is larger than that",
    );
    note(
        protocol.is_some_and(|protocol| protocol.starts_with("NFSv4")),
        "over NFSv4 every call is a COMPOUND: calls are not counted by operation, and both listings use READDIR",
    );
    note(
        plans.iter().any(|plan| plan.verify),
        "read data is compared within the measured time, and CPU time includes that",
    );
    note(
        plans.iter().any(|plan| plan.commit == Commit::Never),
        "without commit, written data may be in memory only",
    );
    notes
}
