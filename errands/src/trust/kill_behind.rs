//! `kill-behind`: SIGKILL at any moment of the process of a mount that writes names behind, of its server, or of both, and a path that is
//! cut. Whatever programs were answered is there at once in the next mount, and on the server's disk after `howdah sync`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use howdah_random::Random;
use nix::sched::{CloneFlags, unshare};

use super::campaign::{Context, Progress, Verdict};
use super::disk::lacking;
use super::mount::Mount;
use super::names::{FoundTree, Names, States};
use super::path::FarPath;
use super::server::{Offer, Server};

/// Faults of the full form and of the short one.
const FULL: u64 = 300;
const QUICK: u64 = 8;
/// Programs, each in a directory of its own.
const PROGRAMS: u64 = 3;
/// A fault comes after so long at most, and lasts so long at most for a server and a path.
const MOST_LATER: Duration = Duration::from_millis(400);
/// All is on the server so soon after the end of a fault.
const SYNCED: Duration = Duration::from_secs(30);
/// What is killed, or cut.
const KINDS: [&str; 4] = ["of the mount", "of the server", "of both", "of the path"];

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    if let Some(why) = lacking() {
        return Ok(Verdict::skipped(why));
    }
    let mut random = Random::new(context.seed);
    let path = FarPath::lay(context)?;
    let offer = Offer { site: path.far(), ..Offer::below(&context.directory) };
    let mut server = Server::start_with(&context.binary, offer)?;
    for number in 0..PROGRAMS {
        fs::create_dir(server.export().join(name(number))).context("a directory for a program")?;
    }
    let journals = context.directory.join("journals");
    let options = vec!["-o".to_owned(), format!("behind,journal={}", journals.display())];
    let mut mount = Mount::start(context, (&path, &server), options, name(0))?;
    let (times, mut progress) = (context.times(FULL, QUICK), Progress::begin());
    let mut models: Vec<Names> = (0..PROGRAMS).map(|_| Names::default()).collect();
    let (mut counts, mut changes, mut longest) = ([0_u64; KINDS.len()], 0, Duration::ZERO);
    for fault in 1..=times {
        let stop = Arc::new(AtomicBool::new(false));
        let programs: Vec<_> = models
            .drain(..)
            .zip(0..)
            .map(|(model, number)| {
                let seed = Random::apart(context.seed, fault * PROGRAMS + number);
                employ(mount.at.join(name(number)), model, seed, Arc::clone(&stop))
            })
            .collect();
        thread::sleep(MOST_LATER.mul_f64(random.fraction()));
        let kind = random.index(KINDS.len());
        counts[kind] += 1;
        let (kills_mount, kills_server) = (kind == 0 || kind == 2, kind == 1 || kind == 2);
        if kills_server {
            server.kill()?;
            thread::sleep(MOST_LATER.mul_f64(random.fraction()));
        }
        if kind == 3 {
            path.cut()?;
            thread::sleep(MOST_LATER.mul_f64(random.fraction()));
        }
        if kills_mount {
            mount.kill()?;
        }
        stop.store(true, Ordering::Relaxed);
        if kills_server {
            server.start_again()?;
            server.wait()?;
        }
        if kind == 3 {
            path.mend()?;
        }
        let ended: Vec<(States, u64)> =
            programs.into_iter().map(ended).collect::<Result<_>>().with_context(|| told(fault, kind))?;
        if kills_mount {
            mount.start_again(context, &path, &server)?;
        }
        let began = Instant::now();
        for ((states, made), number) in ended.into_iter().zip(0..) {
            changes += made;
            let there = settled(&mount.at.join(name(number)), states, "in the mount");
            models.push(there.with_context(|| format!("{}; {}", told(fault, kind), mount.about(context)))?);
        }
        let synced = sync(context, &path, &mount.at);
        synced.with_context(|| format!("{}; {}", told(fault, kind), mount.about(context)))?;
        longest = longest.max(began.elapsed());
        for (model, number) in models.iter().zip(0..) {
            settled(&server.export().join(name(number)), vec![model.clone()], "at the server")
                .with_context(|| told(fault, kind))?;
        }
        progress.tell(|| format!("{fault} of {times} faults, {changes} changes"));
    }
    let kinds: Vec<_> = KINDS.iter().zip(counts).map(|(kind, count)| format!("{count} {kind}")).collect();
    let figures = format!(
        "{times} faults in {:.0} s ({}); {changes} changes of names, all on the server {:.2} s after each fault at most, 0 lost",
        progress.seconds(),
        kinds.join(", "),
        longest.as_secs_f64()
    );
    Ok(Verdict { figures, ..Verdict::default() })
}

fn name(number: u64) -> String {
    format!("program-{number}")
}

fn told(fault: u64, kind: usize) -> String {
    format!("at fault {fault}, {}", KINDS[kind])
}

/// Lets a program change names until it is to stop or its mount is killed; gives what its tree may be like then.
fn employ(
    root: PathBuf,
    mut model: Names,
    mut random: Random,
    stop: Arc<AtomicBool>,
) -> JoinHandle<Result<(States, u64)>> {
    thread::spawn(move || {
        // A process that is started meanwhile must not inherit its files.
        unshare(CloneFlags::CLONE_FILES).context("file descriptors of its own")?;
        let (mut states, mut changes) = (vec![model.clone()], 0);
        while !stop.load(Ordering::Relaxed) {
            match model.change(&root, &mut random, &mut states) {
                Ok(_) => {
                    states = vec![model.clone()];
                    changes += 1;
                }
                Err(error) if was_killed(&error) => break,
                Err(error) => return Err(anyhow!("{error}, in {}", root.display())),
            }
        }
        Ok((states, changes))
    })
}

/// Whether a call was not answered because its mount was killed.
pub fn was_killed(error: &std::io::Error) -> bool {
    let codes = [nix::libc::ENOTCONN, nix::libc::ECONNABORTED, nix::libc::EIO];
    error.raw_os_error().is_some_and(|code| codes.contains(&code))
}

fn ended(program: JoinHandle<Result<(States, u64)>>) -> Result<(States, u64)> {
    program.join().map_err(|_| anyhow!("a program of this campaign ended by itself"))?
}

/// The state that a tree is in, among those that it may be in.
pub fn settled(root: &Path, states: States, place: &str) -> Result<Names> {
    let there = FoundTree::below(root).with_context(|| format!("looking at {}", root.display()))?;
    let mut differences = Vec::new();
    for state in states.into_iter().rev() {
        match state.difference(&there) {
            None => return Ok(state),
            Some(difference) => differences.push(difference),
        }
    }
    Err(anyhow!("{place}: {}", differences.first().map_or("", String::as_str)))
}

/// Waits until all is on the server.
pub fn sync(context: &Context, path: &FarPath, at: &Path) -> Result<()> {
    let mut command: Command = path.near_command();
    command.arg(&context.binary).arg("sync").arg(at).arg("--state").arg(context.directory.join("mounts"));
    let began = Instant::now();
    let output = command.output().context("howdah sync")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "howdah sync: {said}");
    ensure!(began.elapsed() < SYNCED, "howdah sync took {:?}: {said}", began.elapsed());
    Ok(())
}
