//! `howdah lab run`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;

use anyhow::{Context, Result, anyhow};
use howdah_daemon::host::{Signal, signals};
use howdah_lab::plan::{BUILT_IN, Plan};
use howdah_lab::record::{ResultDirectory, Row, name_of, table};
use howdah_lab::run::{Ended, Job, Runner, Selection, Stop, conclude, jobs};
use howdah_lab::sandbox::LabSandbox;
use serde_json::{Value, json};

use super::check::check;
use super::dry_run::dry_run;
use super::inside::inside;
use super::watch::{Unwatched, Watch};
use crate::arguments::LabRunArguments;
use crate::commands::Failure;
use crate::report;

/// Exit code: a cell failed.
const CELL_FAILED: u8 = 3;
/// Exit code: a claim did not hold.
const CLAIM_REFUTED: u8 = 4;

/// A plan, and what of it is run.
struct Chosen {
    plan: Plan,
    text: String,
    jobs: Vec<Job>,
}

/// Runs a plan.
pub fn run(arguments: &LabRunArguments) -> Result<(), Failure> {
    // What is wrong with the plan or the flags is said before anything is made.
    let chosen = chosen(arguments).map_err(Failure::Usage)?;
    if arguments.dry_run {
        report::print(&dry_run(&chosen.jobs)?);
        return Ok(());
    }
    inside(|sandbox| work(arguments, &chosen, sandbox))
}

fn chosen(arguments: &LabRunArguments) -> Result<Chosen> {
    let (name, text, beside) = read(&arguments.plan)?;
    let plan = Plan::parse(&name, &text)?;
    let mut only: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (factor, level) in arguments.only.clone() {
        only.entry(factor).or_default().push(level);
    }
    let selection = Selection {
        quick: arguments.quick,
        cell: arguments.cell,
        only,
        repetitions: arguments.repetitions,
        seed: arguments.seed,
    };
    let mut jobs = jobs(&plan, &selection)?;
    for job in &mut jobs {
        let load = |file: &str| std::fs::read_to_string(beside.join(file)).map_err(|error| error.to_string());
        job.cell.spec.load_traces(load).map_err(|error| anyhow!("{name}: {error}"))?;
    }
    check(&name, &jobs)?;
    Ok(Chosen { plan, text, jobs })
}

/// What errors call the plan, its text, and the directory that its files are named from.
fn read(plan: &str) -> Result<(String, String, PathBuf)> {
    if let Some((name, text)) = BUILT_IN.iter().find(|(name, _)| *name == plan) {
        return Ok(((*name).to_owned(), (*text).to_owned(), PathBuf::from(".")));
    }
    let path = Path::new(plan);
    let text = std::fs::read_to_string(path);
    let text =
        text.with_context(|| format!("reading the plan {plan} (`howdah lab list` shows those built in)"))?;
    let beside = path.parent().unwrap_or(Path::new(".")).to_owned();
    Ok((plan.to_owned(), text, beside))
}

fn work(arguments: &LabRunArguments, chosen: &Chosen, sandbox: &LabSandbox) -> Result<(), Failure> {
    let stop = Stop::new();
    stop_on_signal(&stop)?;
    let default = || Path::new("lab-results").join(name_of(&chosen.plan.name, jiff::Timestamp::now()));
    let to = arguments.to.clone().unwrap_or_else(default);
    let results = ResultDirectory::create(&to, &chosen.text)?;
    let runner = Runner {
        plan: &chosen.plan,
        quick: arguments.quick,
        jobs: chosen.jobs.clone(),
        results: &results,
        howdah: std::env::current_exe().context("finding this program")?,
        sandbox,
        stop: stop.clone(),
    };
    let ran = match arguments.quiet {
        true => runner.run(&mut Unwatched),
        false => runner.run(&mut Watch::new(&chosen.plan)),
    };
    ran?;
    conclude_all(arguments, &chosen.plan, &results, &stop)
}

/// Says what the run came to, in words and in the exit code.
fn conclude_all(
    arguments: &LabRunArguments,
    plan: &Plan,
    results: &ResultDirectory,
    stop: &Stop,
) -> Result<(), Failure> {
    let rows: Vec<Row> = results.rows()?;
    let ended = conclude(plan, &rows);
    let is_for_people = !(arguments.json || arguments.quiet);
    if is_for_people {
        report::print(&format!("{}\n{}", table(plan, &rows), summary(&ended)));
    }
    let written = howdah_lab::report::write(results)?;
    if is_for_people {
        report::print(&format!("report: {}\n", written.display()));
    }
    if arguments.quiet && !arguments.json && ended.failed > 0 {
        let of = ended.failed + ended.ok;
        report::complain(&format!("howdah: {} of {of} runs failed; see {}", ended.failed, written.display()));
    }
    if arguments.json {
        report::print(&format!("{:#}\n", as_json(&ended, results.path(), &written)));
    }
    if stop.is_asked() {
        let to = results.path().display();
        return Err(anyhow!("interrupted; the results so far are in {to}; --to {to} resumes").into());
    }
    match () {
        () if ended.failed > 0 => Err(Failure::Ended(ExitCode::from(CELL_FAILED))),
        () if ended.has_refuted() => Err(Failure::Ended(ExitCode::from(CLAIM_REFUTED))),
        () => Ok(()),
    }
}

/// The same for machines.
fn as_json(ended: &Ended, results: &Path, report: &Path) -> Value {
    let claims = ended.judgements.iter().map(
        |judgement| json!({ "says": judgement.says, "held": judgement.held, "figures": judgement.figures }),
    );
    json!({
        "results": results.to_string_lossy(),
        "report": report.to_string_lossy(),
        "runs_ok": ended.ok,
        "runs_failed": ended.failed,
        "claims": claims.collect::<Vec<_>>(),
    })
}

fn summary(ended: &Ended) -> String {
    let mut text = String::new();
    for judgement in &ended.judgements {
        let verdict = match judgement.held {
            Some(true) => "held",
            Some(false) => "DID NOT HOLD",
            None => "not judged",
        };
        text.push_str(&format!("{verdict}: {}\n    {}\n", judgement.says, judgement.figures));
    }
    if ended.failed > 0 {
        text.push_str(&format!("{} of {} runs failed\n", ended.failed, ended.failed + ended.ok));
    }
    text
}

fn stop_on_signal(stop: &Stop) -> Result<()> {
    let signals = signals()?;
    let stop = stop.clone();
    let wait = move || {
        while let Ok(signal) = signals.recv() {
            if signal == Signal::Stop {
                report::complain(&"howdah: stopping; what was measured stays");
                stop.stop();
            }
        }
    };
    thread::Builder::new().name("stop".to_owned()).spawn(wait).context("starting a thread")?;
    Ok(())
}
