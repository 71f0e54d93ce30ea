//! `faults`: what may go wrong around a server, one after the other, under a client that never stops: what it is answered, how long it
//! waits, and how soon after the end it is served again, by the same server.

mod kinds;
mod pulse;

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};

use super::campaign::{Context, Verdict};
use super::crew::client;
use super::disk::{Disk, EXT4};
use super::server::Server;
use kinds::FAULTS;
use pulse::{FILE, Pulse};

/// How long each fault lasts, in the full form and in the short one.
const FULL: Duration = Duration::from_secs(30);
const QUICK: Duration = Duration::from_secs(1);
/// After its end service is back within this time.
const BACK: Duration = Duration::from_secs(5);
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
    /// What the client may be refused with meanwhile; nothing: its calls wait.
    refusals: &'static [&'static str],
    begin: fn(&Scene) -> Result<()>,
    end: fn(&Scene) -> Result<()>,
}

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    let disk =
        Disk::make(&context.directory, EXT4).context("a disk of our own; it takes the superuser and FUSE")?;
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
    let pulse = Pulse::start(client(&scene.server.url("", "&lanes=1"))?)?;
    pulse.next(GIVE_UP)?;
    pulse.take();
    (fault.begin)(scene).context("beginning it")?;
    std::thread::sleep(lasts);
    (fault.end)(scene).context("ending it")?;
    let back = pulse.next(GIVE_UP)?;
    let (refusals, longest) = pulse.take();
    let blocks = pulse.end(&scene.server.export().join(FILE))?;
    ensure!(back <= BACK, "back only {back:?} after its end");
    ensure!(longest <= lasts + BACK, "an answer took {longest:?}");
    let strange = refusals.iter().find(|refusal| !fault.refusals.contains(&refusal.as_str()));
    ensure!(strange.is_none(), "refused with {strange:?}; expected: {}", fault.expected);
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
