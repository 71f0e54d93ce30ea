//! `power-cut`: what COMMIT, DATA_SYNC, FILE_SYNC and every change of a name promised is there after a power cut at any write.
//! The server works on a real file system over a disk of our own, whose log is then cut; the kernel mounts what is left, with
//! its own recovery, and every territory is compared with what was promised by then.

pub mod cut;
mod history;
mod image;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use howdah_client::connect::own_caller;
use howdah_lab::guest::find_command;

use super::campaign::{Context, Progress, Verdict};
use super::crew::{Crew, client};
use super::disk::{Disk, EXT4, Entry, Kind, XFS, lacking, run as command};
use super::server::Server;
use super::worker::{Clock, Worker};
use cut::{Cutter, Unflushed};
use howdah_random::Random;

/// Cuts of the full form and of the short one.
const FULL: u64 = 500;
const QUICK: u64 = 24;
/// What seals handles, in the server's state directory.
const KEY: &str = "state/handle.key";
/// Workers, each with a connection of its own.
const WORKERS: usize = 3;
/// The log has so many writes for each cut, so that no two cuts are alike; but it fits memory.
const ENTRIES_PER_CUT: u64 = 12;
const FEWEST_ENTRIES: u64 = 400;
/// Nobody goes on after this long: something hangs.
const STUCK: Duration = Duration::from_secs(60);

/// What was seen of one file system.
struct Seen {
    cuts: u64,
    calls: u64,
    writes: usize,
    flushes: usize,
    bytes: u64,
}

/// Runs it on each file system.
pub fn run(context: &Context) -> Result<Verdict> {
    if let Some(why) = lacking() {
        return Ok(Verdict::skipped(why));
    }
    let (mut verdict, mut progress) = (Verdict::default(), Progress::begin());
    let there = |kind: &Kind| find_command(kind.make.0[0]).is_some();
    for kind in [EXT4, XFS].iter().filter(|kind| !there(kind)) {
        verdict
            .skipped
            .push(format!("{}: {} is not installed (package {})", kind.name, kind.make.0[0], kind.make.1));
    }
    let kinds: Vec<Kind> = [EXT4, XFS].into_iter().filter(there).collect();
    if kinds.is_empty() {
        return Ok(verdict);
    }
    let each = context.times(FULL, QUICK).div_ceil(kinds.len() as u64);
    let mut lines = Vec::new();
    for kind in kinds {
        let place = context.directory.join(kind.name);
        let seen = cut_all(context, &place, kind, each, &mut verdict, &mut progress)?;
        lines.push(format!(
            "{} cuts of {}, in a log of {} writes and {} flushes under {} calls, {} MB compared",
            seen.cuts,
            kind.name,
            seen.writes,
            seen.flushes,
            seen.calls,
            seen.bytes >> 20
        ));
    }
    verdict.figures = format!("{}; 0 promises broken; {:.0} s", lines.join("; "), progress.seconds());
    Ok(verdict)
}

fn cut_all(
    context: &Context,
    place: &Path,
    kind: Kind,
    times: u64,
    verdict: &mut Verdict,
    progress: &mut Progress,
) -> Result<Seen> {
    let mut random = Random::apart(context.seed, kind.size as u64);
    let disk = Disk::make(place, kind)?;
    let entries = (times * ENTRIES_PER_CUT).max(FEWEST_ENTRIES);
    let (crew, before, log) = fill_log(context, &disk, entries)?;
    let key = std::fs::read(disk.mounted().join(KEY)).context("reading the server's handle key")?;
    verdict.broken.extend(crew.broken());
    drop(disk);
    // One is always before the first write: nothing that was there may depend on what comes after.
    let mut moments: Vec<usize> = (1..times).map(|_| random.index(log.len() + 1)).chain([0]).collect();
    moments.sort_unstable();
    let (mut cutter, mut bytes) = (Cutter::new(before, &log), 0);
    let image = image::Image::new(place, kind)?;
    for (number, moment) in moments.into_iter().enumerate() {
        let unflushed = Unflushed::choose(&mut random);
        let left = cutter.cut(moment, unflushed, &mut random);
        let outcome = image.mounted(&left, |mounted| {
            let found = std::fs::read(mounted.join(KEY)).context("reading the handle key that is left")?;
            ensure!(found == key, "every handle is stale: the server's key is another one");
            history::verify(&crew.territories, &mounted.join("export"), moment as u64)
        });
        match outcome {
            Ok(compared) => bytes += compared,
            Err(wrong) => verdict
                .broken
                .push(format!("{}, cut at write {moment}, unflushed {unflushed:?}: {wrong:#}", kind.name)),
        }
        progress.tell(|| {
            format!("{}: {} of {times} cuts, {} broken", kind.name, number + 1, verdict.broken.len())
        });
    }
    let flushes = log.iter().filter(|entry| matches!(entry, Entry::Flush)).count();
    Ok(Seen { cuts: times, calls: crew.steps(), writes: log.len() - flushes, flushes, bytes })
}

/// Serves from the disk, and has it written to until its log is long enough.
fn fill_log(context: &Context, disk: &Disk, entries: u64) -> Result<(Arc<Crew>, Vec<u8>, Vec<Entry>)> {
    let mut server = Server::start(&context.binary, disk.mounted())?;
    let crew = Crew::settle(server.export(), WORKERS, false)?;
    // A port is open before there is a server behind it; one that answers has made its key.
    drop(client(&server.url("", "&lanes=1"))?);
    // What was there before the first call is no promise of ours.
    command(std::process::Command::new("sync").arg("-f").arg(disk.mounted()))?;
    let before = disk.platter.start_log();
    for (territory, number) in crew.territories.iter().zip(1..) {
        let platter = Arc::clone(&disk.platter);
        let clock: Clock = Arc::new(move || platter.moment());
        let random = Random::apart(context.seed, number);
        let worker =
            Worker::new(client(&server.url("", "&lanes=1"))?, own_caller(), Arc::clone(territory), random);
        crew.employ(worker.context("looking up a territory")?.with_clock(clock));
    }
    while disk.platter.moment() < entries && crew.broken().is_empty() {
        if !crew.wait_for(crew.steps() + 1, STUCK) && crew.broken().is_empty() {
            bail!("nobody goes on: no answer for {STUCK:?}");
        }
    }
    crew.dismiss(STUCK);
    let log = disk.platter.take_log();
    server.kill()?;
    Ok((crew, before, log))
}
