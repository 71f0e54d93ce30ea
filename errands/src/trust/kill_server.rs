//! `kill-server`: SIGKILL at any moment. The page cache survives it, so everything that was answered must be there, under
//! the same write verifier and the same handles, whatever its stability; a call that was under way is carried out or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use howdah_client::connect::own_caller;
use howdah_lab::guest::find_command;

use super::campaign::{Context, Progress, Verdict};
use super::copies::Copies;
use super::crew::{Crew, client};
use super::server::Server;
use super::worker::Worker;
use howdah_random::Random;

/// Kills of the full form and of the short one.
const FULL: u64 = 1_000;
const QUICK: u64 = 40;
/// Workers, and how they reach the server: alone, two on one connection, two over four.
const MOUNTS: [(usize, &str); 3] = [(1, "&lanes=1"), (2, "&lanes=1"), (2, "&lanes=4")];
/// A kill comes after at most so many steps of all workers.
const MOST_STEPS: u64 = 120;
/// And so much later, so that it comes in the middle of one.
const MOST_LATER: Duration = Duration::from_millis(4);
/// One kill in so many comes while the server starts.
const AT_START_ONE_IN: u64 = 12;
/// A server starts within this time.
const STARTING: Duration = Duration::from_millis(60);

/// Nobody goes on after this long: something hangs. A client takes a connection for dead after 60 s of silence.
const STUCK: Duration = Duration::from_secs(150);

/// What the copies came to.
#[derive(Default)]
struct Copied {
    ours: AtomicU64,
    by_libnfs: AtomicU64,
}

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    let mut random = Random::new(context.seed);
    let mut server = Server::start(&context.binary, &context.directory)?;
    let crew = Crew::settle(server.export(), MOUNTS.iter().map(|(workers, _)| workers).sum(), true)?;
    let copies = Arc::new(Copies::prepare(&context.binary, &context.directory, &server, &mut random)?);
    let copied = Arc::new(Copied::default());
    employ(&crew, &server, context.seed)?;
    copy(&crew, &copies, &copied);
    let (times, mut progress, mut bytes) = (context.times(FULL, QUICK), Progress::begin(), 0);
    for kill in 1..=times {
        wait(&crew, &mut random)?;
        crew.set_troubled(true);
        server.kill()?;
        bytes += crew.verify(&format!("after kill {kill}"));
        copies.check(false).unwrap_or_else(|wrong| crew.report(format!("after kill {kill}: {wrong}")));
        server.start_again()?;
        if !crew.broken().is_empty() {
            break;
        }
        progress.tell(|| format!("{kill} of {times} kills, {} calls", crew.steps()));
    }
    server.wait()?;
    crew.dismiss(STUCK);
    server.kill()?;
    bytes += crew.verify("at the end");
    Ok(Verdict {
        figures: format!(
            "{times} kills in {:.0} s; {} calls, {} copies and {} by libnfs went on; {} MB compared, 0 wrong; {} calls were \
             answered as a second run is",
            progress.seconds(),
            crew.steps(),
            copied.ours.load(Ordering::Relaxed),
            copied.by_libnfs.load(Ordering::Relaxed),
            bytes >> 20,
            crew.second_answers(),
        ),
        broken: crew.broken(),
        ..Verdict::default()
    })
}

fn employ(crew: &Arc<Crew>, server: &Server, seed: u64) -> Result<()> {
    let mut territories = crew.territories.iter().zip(1..);
    for (workers, options) in MOUNTS {
        let client = client(&server.url("", options))?;
        for (territory, number) in territories.by_ref().take(workers) {
            let random = Random::apart(seed, number);
            let worker = Worker::new(Arc::clone(&client), own_caller(), Arc::clone(territory), random);
            crew.employ(worker.context("looking up a territory")?);
        }
    }
    Ok(())
}

/// Copies all the time, with our client and, where it is installed, with that of libnfs.
fn copy(crew: &Arc<Crew>, copies: &Arc<Copies>, copied: &Arc<Copied>) {
    let (ours, count) = (Arc::clone(copies), Arc::clone(copied));
    crew.start("howdah cp", move |crew| {
        while !crew.stops() {
            let is_made = ours.copy(|| crew.stops())?;
            count.ours.fetch_add(u64::from(is_made), Ordering::Relaxed);
        }
        Ok(())
    });
    if find_command("nfs-cp").is_some() {
        let (theirs, count) = (Arc::clone(copies), Arc::clone(copied));
        crew.start("nfs-cp", move |crew| {
            while !crew.stops() {
                let went_well = theirs.copy_by_libnfs()?;
                count.by_libnfs.fetch_add(u64::from(went_well), Ordering::Relaxed);
            }
            Ok(())
        });
    }
}

/// Waits until the next kill is due.
fn wait(crew: &Crew, random: &mut Random) -> Result<()> {
    if random.one_in(AT_START_ONE_IN) {
        thread::sleep(STARTING.mul_f64(random.below(1000) as f64 / 1000.0));
        return Ok(());
    }
    // What was sent to nobody is sent again, until the server answers: one answer more than each worker may have had before.
    crew.wait_for(crew.steps() + crew.territories.len() as u64 + 1, STUCK);
    crew.set_troubled(false);
    let until = crew.steps() + random.below(MOST_STEPS);
    if !crew.wait_for(until, STUCK) && crew.broken().is_empty() {
        bail!("nobody goes on: no answer for {STUCK:?}");
    }
    thread::sleep(MOST_LATER.mul_f64(random.below(1000) as f64 / 1000.0));
    Ok(())
}
