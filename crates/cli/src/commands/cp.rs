//! `howdah cp`.

use std::sync::Arc;
use std::thread;
use std::time::Instant;

use howdah_client::copy::{Copier, Event, Observer, Outcome, StopSign};

use super::Failure;
use crate::arguments::CpArguments;
use crate::copying::{Plan, Screen, Totals, Watch, as_json, as_text, copy_options, event_line, plan};
use crate::report;
use crate::running::{allow_many_open_files, signals, start_command_log};

/// Copies, and says what came of it.
pub fn run(arguments: &CpArguments) -> Result<(), Failure> {
    start_command_log();
    allow_many_open_files();
    let plan = plan(&arguments.places, arguments.recursive, arguments.no_target_directory)?;
    let screen = Screen::default();
    let copier = copier(arguments, &plan, &screen);
    stop_at_signals(copier.stop_sign())?;
    let watch = Watch::start(copier.tally(), arguments.run.progress, screen);
    let (start, remote, clients) = (Instant::now(), plan.remote, plan.clients);
    let outcome = copier.run(plan.items);
    let seconds = start.elapsed().as_secs_f64();
    // The line of progress ends before anything else is said.
    drop(watch);
    let reports = clients.iter().flat_map(|client| client.channel().report().limits);
    let limits = reports.map(|limit| limit.to_string()).collect();
    tell(arguments, &outcome, seconds, remote, limits);
    match outcome.figures.errors == 0 && !outcome.stopped {
        true => Ok(()),
        false => Err(Failure::Told),
    }
}

fn copier(arguments: &CpArguments, plan: &Plan, screen: &Screen) -> Copier {
    let destination = &plan.destination;
    let is_root = destination.caller.user == 0;
    let options = copy_options(arguments, is_root);
    Copier::new(destination.side(), options, observer(arguments.run.verbose, screen.clone()))
}

fn observer(verbose: bool, screen: Screen) -> Arc<dyn Observer> {
    Arc::new(move |event: &Event<'_>| match event {
        Event::Failed(error) => screen.say(|| report::complain(&format!("howdah: {error}"))),
        Event::Note(_) | Event::StartedOver { .. } | Event::Resumed { .. } | Event::SentAgain { .. } => {
            screen.say(|| report::complain(&format!("note: {}", event_line(event))));
        }
        _ if verbose => screen.say(|| report::print(&format!("{}\n", event_line(event)))),
        _ => {}
    })
}

/// A signal stops the copy so that it can go on later; a second one ends the process at once.
fn stop_at_signals(stop: StopSign) -> anyhow::Result<()> {
    let signals = signals()?;
    thread::spawn(move || {
        while signals.recv().is_ok() {
            stop.set();
        }
    });
    Ok(())
}

fn tell(arguments: &CpArguments, outcome: &Outcome, seconds: f64, remote: bool, limits: Vec<String>) {
    let totals = Totals {
        figures: outcome.figures,
        seconds,
        stopped: outcome.stopped,
        jobs: outcome.jobs,
        verified: arguments.run.verify,
        remote,
        limits,
    };
    match arguments.run {
        _ if arguments.run.json => report::print(&format!("{}\n", as_json(&totals))),
        _ if arguments.run.quiet && !outcome.stopped => {}
        _ => report::print(&as_text(&totals)),
    }
}
