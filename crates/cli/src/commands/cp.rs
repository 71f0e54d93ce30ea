//! `howdah cp`.

use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use howdah_copy::{Cause, Copier, CopyError, Event, Observer, Outcome, StopSign, StreamEnd, Tally};
use howdah_daemon::host::{allow_many_open_files, signals, start_command_log};
use howdah_daemon::places::{LOCAL, expected};
use howdah_tune::flight::Expected;
use howdah_vfs::FsError;

use super::Failure;
use crate::arguments::CpArguments;
use crate::copy::{
    CopyPlan, CopyTotals, ProgressScreen, StreamPlan, StreamTask, Watch, as_json, as_text, copy_options,
    dry_line, event_line, is_stream, plan, stream_plan,
};
use crate::report;

/// How long nothing may come of the calls on their way when a signal stops a copy: a server that does not answer is waited
/// for without end otherwise. A COMMIT of all that a slow disk has to write takes its time.
const STOP_PATIENCE: Duration = Duration::from_secs(30);

/// How long after a stop the copy prints what it still waits for.
const STOP_TOLD: Duration = Duration::from_secs(2);

/// The part of a copy's time that is spent waiting for `--rate` from which on that is what limits: a copy begins and ends without
/// moving anything.
const HELD_BACK: f64 = 0.5;

/// Copies, and says what came of it.
pub fn run(arguments: &CpArguments) -> Result<(), Failure> {
    start_command_log();
    let open_files = allow_many_open_files();
    let sources = &arguments.places[..arguments.places.len() - 1];
    if !arguments.recursive && sources.iter().any(is_stream) {
        return run_stream(arguments);
    }
    let plan = plan(&arguments.places, arguments.recursive, arguments.no_target_directory)?;
    let deletes = arguments.select.delete.is_some();
    if deletes && howdah_copy::meet(&plan.items) {
        return Err(Failure::Usage(anyhow!(
            "--delete needs a directory for each source, and these share one: copy one source at a time"
        )));
    }
    if deletes && plan.refused > 0 {
        report::complain(&"note: nothing will be deleted, as not all sources could be read");
    }
    let screen = ProgressScreen::default();
    let copier = copier(arguments, &plan, &screen, open_files);
    stop_at_signals(copier.stop_sign(), copier.tally(), screen.clone())?;
    let watch = Watch::start(copier.tally(), arguments.run.progress, screen);
    let (start, remote, clients) = (Instant::now(), plan.remote, plan.clients);
    let mut outcome = copier.run(plan.items);
    outcome.figures.errors += plan.refused;
    let seconds = start.elapsed().as_secs_f64();
    // The line of progress ends before anything else is said.
    drop(watch);
    let limits = match rate_limit(arguments, outcome.held_back, seconds) {
        // What the connections say would be of what is left of them.
        Some(limit) => vec![limit],
        None => {
            let reports: Vec<_> = clients.iter().map(|client| client.channel().report()).collect();
            let known = reports.iter().filter_map(|report| report.known_path.map(|path| path.to_string()));
            let limits = reports.iter().flat_map(|report| &report.limits).map(ToString::to_string);
            known.chain(limits).collect()
        }
    };
    tell(arguments, &outcome, seconds, remote, limits);
    match outcome.figures.errors == 0 && !outcome.stopped {
        true => Ok(()),
        false => Err(Failure::Told),
    }
}

/// Copies a pipe, a device or standard input, read in order.
fn run_stream(arguments: &CpArguments) -> Result<(), Failure> {
    if arguments.run.verify || arguments.existing.checksum {
        return Err(Failure::Usage(anyhow!(
            "a pipe, a device or - is read once: --verify and --checksum cannot read it again"
        )));
    }
    let (tally, stop, screen) = (Arc::<Tally>::default(), StopSign::default(), ProgressScreen::default());
    if arguments.existing.update {
        return Err(Failure::Usage(anyhow!(
            "a pipe, a device or - has no time of its last change: --update has nothing to compare"
        )));
    }
    let plan = stream_plan(arguments, Arc::clone(&tally), stop.clone())?;
    let StreamPlan { copy, task, destination } = plan;
    stop_at_signals(stop, Arc::clone(&tally), screen.clone())?;
    let watch = Watch::start(Arc::clone(&tally), arguments.run.progress, screen);
    let start = Instant::now();
    let not_read = StreamEnd { is_whole: true, ..StreamEnd::default() };
    let copied = match task {
        StreamTask::Copy(mut input) => copy.run(&mut input),
        StreamTask::DryRun => copy.dry_run().map(|()| not_read),
        StreamTask::Keep => {
            copy.keep();
            Ok(not_read)
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    drop(watch);
    if let Err(error) = &copied {
        report::complain(&format!("howdah: {error}"));
    }
    let (is_failed, end) = (copied.is_err(), copied.unwrap_or(not_read));
    let StreamEnd { is_whole, held_back } = end;
    let outcome = Outcome { figures: tally.figures(), stopped: !is_whole, jobs: 1, held_back };
    let limits = rate_limit(arguments, held_back, seconds).into_iter().collect();
    tell(arguments, &outcome, seconds, destination.realm != LOCAL, limits);
    if is_whole && !is_failed { Ok(()) } else { Err(Failure::Told) }
}

/// The message if `--rate` limits the copy.
fn rate_limit(arguments: &CpArguments, held_back: Duration, seconds: f64) -> Option<String> {
    let rate = arguments.run.rate.filter(|_| held_back.as_secs_f64() >= HELD_BACK * seconds)?;
    Some(format!("limited by --rate, {}", howdah_units::rate(rate as f64)))
}

fn copier(arguments: &CpArguments, plan: &CopyPlan, screen: &ProgressScreen, open_files: usize) -> Copier {
    let destination = &plan.destination;
    let is_root = destination.caller.user == 0;
    let mut options = copy_options(arguments, is_root, plan.from_server, (open_files, expected_of(plan)));
    options.delete &= plan.refused == 0;
    let squash = (is_root && plan.remote).then(RootSquash::default);
    Copier::new(destination.side(), options, observer(Lines::of(arguments), screen.clone(), squash))
}

/// What the path of the copy is expected to carry; of two paths nobody knows.
fn expected_of(plan: &CopyPlan) -> Option<Expected> {
    let [client] = &plan.clients[..] else { return None };
    expected(&**client)[usize::from(plan.destination.realm != LOCAL)]
}

/// The usual reason why root is refused at a server, to be said once.
#[derive(Default)]
struct RootSquash {
    is_said: AtomicBool,
}

impl RootSquash {
    fn hint(&self, error: &CopyError) -> Option<&'static str> {
        let is_refused = matches!(error.cause, Cause::Refused(FsError::AccessDenied | FsError::NotPermitted));
        (is_refused && !self.is_said.swap(true, Ordering::Relaxed)).then_some(report::SQUASH_NOTE)
    }
}

/// Which files get an output line.
#[derive(Clone, Copy)]
struct Lines {
    /// Files that are copied, made and removed; and those that stay.
    changes: bool,
    kept: bool,
    is_dry: bool,
    /// Standard output is for the totals alone.
    to_errors: bool,
}

impl Lines {
    fn of(arguments: &CpArguments) -> Self {
        let (run, is_dry) = (&arguments.run, arguments.select.dry_run);
        Self {
            changes: run.verbose || (is_dry && !run.quiet && !run.json),
            kept: run.verbose,
            is_dry,
            to_errors: run.json,
        }
    }

    /// Whether there is a line for this.
    fn show(self, event: &Event<'_>) -> bool {
        if matches!(event, Event::Kept { .. }) { self.kept } else { self.changes }
    }

    fn say(self, event: &Event<'_>) {
        let line = if self.is_dry { dry_line(event) } else { event_line(event) };
        match self.to_errors {
            true => report::complain(&line),
            false => report::print(&format!("{line}\n")),
        }
    }
}

fn observer(lines: Lines, screen: ProgressScreen, squash: Option<RootSquash>) -> Arc<dyn Observer> {
    Arc::new(move |event: &Event<'_>| match event {
        Event::Failed(error) => {
            screen.say(|| report::complain(&format!("howdah: {}", event_line(event))));
            if let Some(hint) = squash.as_ref().and_then(|squash| squash.hint(error)) {
                screen.say(|| report::complain(&hint));
            }
        }
        Event::Note(_)
        | Event::StartedOver { .. }
        | Event::Resumed { .. }
        | Event::SentAgain { .. }
        | Event::Grown { .. } => {
            screen.say(|| report::complain(&format!("note: {}", event_line(event))));
        }
        _ => {
            if let Event::Copied { path, .. } | Event::Linked { path } | Event::Made { path } = event {
                screen.completed(path);
            }
            // Clearing the line of progress for each small file would leave none to read.
            if lines.show(event) {
                screen.say(|| lines.say(event));
            }
        }
    })
}

/// A signal stops the copy so that it can go on later; a second one ends the process at once, as does a server that answers
/// nothing any more: what was copied stays, and can be gone on with.
fn stop_at_signals(stop: StopSign, tally: Arc<Tally>, screen: ProgressScreen) -> anyhow::Result<()> {
    let signals = signals()?;
    thread::spawn(move || {
        if signals.recv().is_err() {
            return;
        }
        stop.set();
        if signals.recv_timeout(STOP_TOLD) == Err(RecvTimeoutError::Timeout) {
            screen.say(|| {
                report::complain(
                    &"howdah: stopping when the calls in flight are answered; a second signal ends at once",
                )
            });
        }
        if !stands_still(&signals, || tally.figures(), STOP_PATIENCE) {
            return;
        }
        let seconds = STOP_PATIENCE.as_secs();
        screen.say(|| {
            report::complain(&format!(
                "howdah: stopped without the answers to calls in flight: the server has not answered for {seconds} s\n  run the \
                 same command again to resume"
            ));
        });
        process::exit(1);
    });
    Ok(())
}

/// Waits until figures stay as they are for that long, or until nobody may send a signal any more; says whether they do.
fn stands_still<S, F: PartialEq>(signals: &Receiver<S>, figures: impl Fn() -> F, patience: Duration) -> bool {
    let mut before = figures();
    loop {
        match signals.recv_timeout(patience) {
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) => {
                let now = figures();
                if now == before {
                    return true;
                }
                before = now;
            }
        }
    }
}

fn tell(arguments: &CpArguments, outcome: &Outcome, seconds: f64, remote: bool, limits: Vec<String>) {
    let totals = CopyTotals {
        figures: outcome.figures,
        seconds,
        stopped: outcome.stopped,
        jobs: outcome.jobs,
        verified: arguments.run.verify,
        is_dry: arguments.select.dry_run,
        remote,
        limits,
    };
    match arguments.run {
        _ if arguments.run.json => report::print(&format!("{}\n", as_json(&totals))),
        _ if arguments.run.quiet && !outcome.stopped => {}
        _ => report::print(&as_text(&totals)),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn what_moves_is_waited_for() {
        let (sender, signals) = channel::<()>();
        let looks = Cell::new(0);
        let figures = || looks.replace(looks.get() + 1).min(3);
        assert!(stands_still(&signals, figures, Duration::from_millis(1)));
        assert_eq!(looks.get(), 5, "it moved at the second, third and fourth look, and not at the fifth");
        drop(sender);
        assert!(!stands_still(&signals, || looks.replace(looks.get() + 1), Duration::from_secs(60)));
    }
}
