//! `faults`: what may go wrong around a server, one after the other, under a client that never stops: what it is answered, how long it
//! waits, and how soon after the end it is served again, by the same server.

mod kinds;
mod newcomer;
mod pulse;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::campaign::{Context, Verdict};
use super::crew::client;
use super::disk::{Disk, EXT4, lacking};
use super::server::Server;
use kinds::FAULTS;
use newcomer::Newcomer;
use pulse::{FILE, Pulse};

/// How long each fault lasts, in the full form and in the short one.
const FULL: Duration = Duration::from_secs(30);
const QUICK: Duration = Duration::from_secs(1);
/// After its end service is back within this time.
const BACK: Duration = Duration::from_secs(5);
/// Of a fault that calls wait for, one waits for this much at least.
const LEAST: f64 = 0.75;
/// A pulse that has not come by then will not.
const GIVE_UP: Duration = Duration::from_secs(60);

/// Where a fault happens.
pub struct Scene {
    disk: Disk,
    server: Server,
}

/// Something that goes wrong.
pub struct Fault {
    name: &'static str,
    /// How long it lasts, if not as long as the others.
    lasts: Option<Duration>,
    /// What is documented of it.
    expected: &'static str,
    /// What it does to calls.
    effect: Effect,
    begin: fn(&Scene) -> Result<()>,
    end: fn(&Scene) -> Result<()>,
}

/// What a fault does to calls. One that did nothing was none.
#[derive(Debug, Clone, Copy)]
pub enum Effect {
    /// They wait for its end.
    Wait,
    /// They are refused, with one of these.
    Refused(&'static [&'static str]),
    /// Those on files and connections that are open go on; who comes meanwhile waits for its end.
    NewcomersWait,
}

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    if let Some(why) = lacking() {
        return Ok(Verdict::skipped(why));
    }
    let disk = Disk::make(&context.directory, EXT4).context("a disk of our own")?;
    let server = Server::start(&context.binary, disk.mounted(), &[])?;
    let scene = Scene { disk, server };
    let lasts = if context.quick { QUICK } else { FULL };
    let mut verdict = Verdict::default();
    verdict.table.push(format!(
        "{:<24} {:>8} {:>9} {:>8}  {}",
        "fault", "lasted", "longest", "back", "seen; expected"
    ));
    for fault in FAULTS {
        println!("   {} ...", fault.name);
        match one(&scene, fault, fault.lasts.map_or(lasts, |own| own.min(lasts))) {
            Ok(line) => verdict.table.push(line),
            Err(wrong) => verdict.broken.push(format!("{}: {wrong:#}", fault.name)),
        }
    }
    verdict.figures = format!("{} faults, each as documented, no block lost", FAULTS.len());
    Ok(verdict)
}

fn one(scene: &Scene, fault: &Fault, lasts: Duration) -> Result<String> {
    let url = scene.server.url("", "&lanes=1");
    let fs = client(&url)?;
    let pulse = Pulse::start(Arc::clone(&fs))?;
    pulse.next(GIVE_UP)?;
    pulse.take();
    (fault.begin)(scene).context("beginning it")?;
    let newcomers = match fault.effect {
        Effect::NewcomersWait => vec![
            Newcomer::come("by-a-new-mount", lasts + GIVE_UP, move || client(&url)),
            Newcomer::come("by-an-old-mount", lasts + GIVE_UP, move || Ok(Arc::clone(&fs))),
        ],
        _ => Vec::new(),
    };
    std::thread::sleep(lasts);
    let ending = Instant::now();
    (fault.end)(scene).context("ending it")?;
    let ended = Instant::now();
    let mut back = pulse.next(GIVE_UP)?;
    let mut served = Vec::new();
    for newcomer in newcomers {
        let at = newcomer.served(GIVE_UP)?;
        back = back.max(at.saturating_duration_since(ended));
        served.push(at);
    }
    let (refusals, longest) = pulse.take();
    let blocks = pulse.end(&scene.server.export().join(FILE))?;
    ensure!(back <= BACK, "back only {back:?} after its end");
    ensure!(longest <= lasts + BACK, "an answer took {longest:?}");
    let allowed = if let Effect::Refused(allowed) = fault.effect { allowed } else { &[] };
    let strange = refusals.iter().find(|refusal| !allowed.contains(&refusal.as_str()));
    ensure!(strange.is_none(), "refused with {strange:?}; expected: {}", fault.expected);
    match fault.effect {
        Effect::Wait => {
            ensure!(longest >= lasts.mul_f64(LEAST), "no effect: no answer took longer than {longest:?}");
        }
        Effect::Refused(_) => ensure!(!refusals.is_empty(), "no effect: nothing was refused"),
        Effect::NewcomersWait => {
            ensure!(longest <= BACK, "an answer on an open file took {longest:?}");
            ensure!(served.iter().any(|&at| at >= ending), "no effect: whoever came was served");
        }
    }
    let seen = if refusals.is_empty() { "no refusal".to_owned() } else { refusals.join(", ") };
    Ok(format!(
        "{:<24} {:>6.1} s {:>7.2} s {:>6.2} s  {seen}; {} ({blocks} blocks)",
        fault.name,
        lasts.as_secs_f64(),
        longest.as_secs_f64(),
        back.as_secs_f64(),
        fault.expected
    ))
}
