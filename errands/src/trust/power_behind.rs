//! `power-behind`: the power of a mount that writes names behind, of its server, or of both is cut at any moment. Each has a disk of our
//! own, of which only what was flushed is there for sure. What fsync covered is there afterwards; of the rest only what was
//! answered last may be missing, and what is there is what the tree was like at one moment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow, ensure};
use howdah_random::Random;
use nix::sched::{CloneFlags, unshare};

use super::campaign::{Context, Progress, Verdict};
use super::disk::{Disk, EXT4, Kind, lacking, run as command};
use super::kill_behind::{settled, sync, was_killed};
use super::mount::Mount;
use super::names::{FoundTree, Names, States};
use super::path::FarPath;
use super::power_cut::cut::{Cutter, Unflushed};
use super::server::{Offer, Server};

/// Cuts.
const CUTS: u64 = 300;
/// Programs, each in a directory of its own.
const PROGRAMS: u64 = 3;
/// The power is cut after so long at most.
const MOST_LATER: Duration = Duration::from_millis(1500);
/// What was answered so long before a cut is there. It is 0.1 s where disks are quick; here the kernel writes through us.
const MOST_LOST: Duration = Duration::from_secs(3);
/// The states of exports below that of the server, and the file in each that tells clients, with the boot of the machine, that data may
/// have been lost.
const EXPORTS: &str = "exports";
const VERIFIER: &str = "write-verifier";
/// Both disks.
const KIND: Kind = Kind { size: 96 << 20, ..EXT4 };
/// Whose power is cut.
const KINDS: [&str; 3] = ["of the mount", "of the server", "of both"];

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    if let Some(why) = lacking() {
        return Ok(Verdict::skipped(why));
    }
    if context.quick {
        // A run that says something takes minutes.
        return Ok(Verdict::skipped("it has no short form: name it, without --quick".to_owned()));
    }
    let mut random = Random::new(context.seed);
    let path = FarPath::lay(context)?;
    let mut near = Host::make(&context.directory, "near")?;
    let mut far = Host::make(&context.directory, "far")?;
    let offer = Offer { site: path.far(), ..Offer::below(&far.at) };
    let mut server = Server::start_with(&context.binary, offer)?;
    for number in 0..PROGRAMS {
        fs::create_dir(server.export().join(name(number))).context("a directory for a program")?;
    }
    let journals = near.at.join("journals");
    let options = vec!["-o".to_owned(), format!("behind,journal={}", journals.display())];
    let mut mount = Mount::start(context, (&path, &server), options, name(0))?;
    let (times, mut progress) = (context.times(CUTS, CUTS), Progress::begin());
    let mut models: Vec<Names> = (0..PROGRAMS).map(|_| Names::default()).collect();
    let (mut counts, mut changes, mut lost) = ([0_u64; KINDS.len()], 0, Loss::default());
    for cut in 1..=times {
        let before = [near.start_log()?, far.start_log()?];
        let stop = Arc::new(AtomicBool::new(false));
        let programs: Vec<Program> = models
            .drain(..)
            .zip(0..)
            .map(|(model, number)| {
                let seed = Random::apart(context.seed, cut * PROGRAMS + number);
                Program::employ(mount.at.join(name(number)), model, seed, Arc::clone(&stop))
            })
            .collect();
        thread::sleep(MOST_LATER.mul_f64(random.fraction()));
        let kind = random.index(KINDS.len());
        counts[kind] += 1;
        let (cuts_near, cuts_far) = (kind != 1, kind != 0);
        let told = || format!("at cut {cut}, {}", KINDS[kind]);
        // A host without power sends nothing: what the server gets from here on it must not know.
        let durable: Vec<usize> = programs.iter().map(Program::durable).collect();
        path.cut()?;
        let (moments, when) = ([near.disk()?.platter.moment(), far.disk()?.platter.moment()], Instant::now());
        if cuts_near {
            mount.kill()?;
        }
        if cuts_far {
            server.kill()?;
        }
        stop.store(true, Ordering::Relaxed);
        let [near_before, far_before] = before;
        if cuts_near {
            near.lose((near_before, moments[0]), &mut random)?;
        }
        if cuts_far {
            far.lose((far_before, moments[1]), &mut random)?;
            forget_verifiers(&far.at.join("state"))?;
            server.start_again()?;
            server.wait()?;
        }
        path.mend()?;
        let ended: Vec<Ended> = programs
            .into_iter()
            .map(Program::ended)
            .collect::<Result<_>>()
            .with_context(|| format!("{}; {}", told(), mount.about(context)))?;
        let is_refused = |ended: &Ended| !ended.in_flight.is_empty();
        ensure!(cuts_near || !ended.iter().any(is_refused), "{}: a program was refused something", told());
        if cuts_near {
            mount.start_again(context, &path, &server).with_context(told)?;
        }
        for ((ended, durable), number) in ended.into_iter().zip(durable).zip(0..) {
            changes += ended.history.len() as u64 - 1;
            let root = mount.at.join(name(number));
            let there = match cuts_near {
                true => ended.found(&root, durable, when, &mut lost),
                false => settled(&root, ended.last(), "in the mount"),
            };
            models.push(there.with_context(|| format!("{}; {}", told(), mount.about(context)))?);
        }
        sync(context, &path, &mount.at).with_context(|| format!("{}; {}", told(), mount.about(context)))?;
        for (model, number) in models.iter().zip(0..) {
            settled(&server.export().join(name(number)), vec![model.clone()], "at the server")
                .with_context(told)?;
        }
        progress.tell(|| format!("{cut} of {times} cuts, {changes} changes"));
    }
    drop(mount);
    server.kill()?;
    let kinds: Vec<_> = KINDS.iter().zip(counts).map(|(kind, count)| format!("{count} {kind}")).collect();
    let figures = format!(
        "{times} cuts in {:.0} s ({}); {changes} changes of names; nothing lost that fsync covered; of the rest {} changes, \
         answered {:.2} s before a cut at most",
        progress.seconds(),
        kinds.join(", "),
        lost.changes,
        lost.longest.as_secs_f64()
    );
    Ok(Verdict { figures, ..Verdict::default() })
}

fn name(number: u64) -> String {
    format!("program-{number}")
}

/// To a server that is started again this is the same boot of the same machine, with all that its memory held. After a real cut it is
/// another one.
fn forget_verifiers(state: &Path) -> Result<()> {
    let (exports, mut removed) = (state.join(EXPORTS), 0);
    for export in fs::read_dir(&exports).with_context(|| format!("listing {}", exports.display()))? {
        let verifier = export.context("an export's state")?.path().join(VERIFIER);
        fs::remove_file(&verifier).with_context(|| format!("removing {}", verifier.display()))?;
        removed += 1;
    }
    ensure!(removed > 0, "there is no write verifier in {}", exports.display());
    Ok(())
}

/// What was answered and was not there afterwards.
#[derive(Default)]
struct Loss {
    changes: usize,
    longest: Duration,
}

/// A host's disk, always in the same place.
struct Host {
    place: PathBuf,
    /// Where its disk is seen.
    at: PathBuf,
    disk: Option<Disk>,
    /// Disks that it had.
    number: u64,
}

impl Host {
    fn make(directory: &Path, name: &str) -> Result<Self> {
        let place = directory.join(format!("{name}-disks"));
        let at = directory.join(name);
        fs::create_dir_all(&at).context("a directory for a disk")?;
        let disk = Disk::make(&place.join("0"), KIND)?;
        let host = Self { place, at, disk: Some(disk), number: 0 };
        host.show()?;
        Ok(host)
    }

    fn disk(&self) -> Result<&Disk> {
        self.disk.as_ref().context("a disk")
    }

    fn show(&self) -> Result<()> {
        command(Command::new("mount").arg("--bind").arg(self.disk()?.mounted()).arg(&self.at))
    }

    /// What is on the disk for sure; from here on it is known what is written.
    fn start_log(&self) -> Result<Vec<u8>> {
        command(Command::new("sync").arg("-f").arg(&self.at))?;
        Ok(self.disk()?.platter.start_log())
    }

    /// Its power was cut at a moment: its disk holds what was flushed by then, and whatever it likes of what was not.
    fn lose(&mut self, (before, moment): (Vec<u8>, u64), random: &mut Random) -> Result<()> {
        let log = self.disk()?.platter.take_log();
        let unflushed = Unflushed::choose(random);
        let left = Cutter::new(before, &log).cut(moment as usize, unflushed, random);
        self.hide();
        self.disk = None;
        self.number += 1;
        self.disk = Some(Disk::of(&self.place.join(self.number.to_string()), KIND, left)?);
        self.show()
    }

    fn hide(&self) {
        // What fails here ends with the sandbox.
        let _ = rustix::mount::unmount(&self.at, rustix::mount::UnmountFlags::DETACH);
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.hide();
    }
}

/// A program that changes names, and remembers what its tree was like.
struct Program {
    thread: JoinHandle<Result<Ended>>,
    /// So many of its changes are covered by an fsync.
    durable: Arc<AtomicUsize>,
}

/// What its tree was like: at first, and during and after each change, with the time of its answer.
struct Ended {
    history: Vec<(Instant, States)>,
    /// During the change that was not answered, if there is one.
    in_flight: States,
}

impl Program {
    fn employ(root: PathBuf, mut model: Names, mut random: Random, stop: Arc<AtomicBool>) -> Self {
        let durable = Arc::new(AtomicUsize::new(0));
        let its = Arc::clone(&durable);
        let thread = thread::spawn(move || {
            // A process that is started meanwhile must not inherit its files.
            unshare(CloneFlags::CLONE_FILES).context("file descriptors of its own")?;
            let mut history = vec![(Instant::now(), vec![model.clone()])];
            while !stop.load(Ordering::Relaxed) {
                let mut states = States::new();
                let changed = model.change(&root, &mut random, &mut states);
                if changed.is_ok() && states.len() == 1 {
                    // There was nothing to change in this way.
                    continue;
                }
                history.push((Instant::now(), states.clone()));
                match changed {
                    Ok(true) => its.store(history.len() - 1, Ordering::Relaxed),
                    Ok(false) => {}
                    Err(error) if was_killed(&error) => return Ok(Ended { history, in_flight: states }),
                    Err(error) => {
                        let ends = states.first().zip(states.last());
                        let change =
                            ends.and_then(|(before, after)| after.difference(&FoundTree::from(before)));
                        let change = change.unwrap_or_default();
                        return Err(anyhow!("{error}, in {}, where before: {change}", root.display()));
                    }
                }
            }
            Ok(Ended { history, in_flight: States::new() })
        });
        Self { thread, durable }
    }

    fn durable(&self) -> usize {
        self.durable.load(Ordering::Relaxed)
    }

    fn ended(self) -> Result<Ended> {
        self.thread.join().map_err(|_| anyhow!("a program of this campaign ended by itself"))?
    }
}

impl Ended {
    /// What the tree may be like where nothing was lost.
    fn last(self) -> States {
        self.history.into_iter().next_back().map(|(_, states)| states).unwrap_or_default()
    }

    /// The latest state that the tree is in, of those since so many changes.
    fn found(self, root: &Path, durable: usize, cut: Instant, lost: &mut Loss) -> Result<Names> {
        let there = FoundTree::below(root).with_context(|| format!("looking at {}", root.display()))?;
        let answered: Vec<Instant> = self.history.iter().map(|(when, _)| *when).collect();
        // Data of a file that the server has is not in the journal: until it is answered it may overtake what is.
        let (first, later) = match self.in_flight.split_first() {
            Some((first, later)) => (first.clone(), later.to_vec()),
            None => (Names::default(), Vec::new()),
        };
        let overtaken = |state: &Names| -> States {
            later.iter().filter_map(|after| state.with_written(&first, after)).collect()
        };
        let steps: Vec<Names> =
            self.history.iter().filter_map(|(_, states)| states.last().cloned()).collect();
        // What differs from the state that is most like it.
        let mut nearest: Option<(usize, String)> = None;
        for (number, (_, states)) in self.history.into_iter().enumerate().skip(durable).rev() {
            // Of the change that was made durable only what it led to; of others whatever they came by.
            let fewest = if number == durable { states.len().saturating_sub(1) } else { 0 };
            let states: States = states
                .into_iter()
                .skip(fewest)
                .flat_map(|state| [vec![state.clone()], overtaken(&state)].concat())
                .collect();
            for state in states.into_iter().rev() {
                match state.difference(&there) {
                    None => {
                        let missing = answered.iter().skip(number + 1).filter(|when| **when < cut);
                        lost.changes += missing.clone().count();
                        let longest = missing.clone().next().map_or(Duration::ZERO, |when| cut - *when);
                        lost.longest = lost.longest.max(longest);
                        ensure!(
                            longest <= MOST_LOST,
                            "what was answered {longest:?} before the cut is not there: {} changes",
                            missing.count()
                        );
                        return Ok(state);
                    }
                    Some(difference) => {
                        let is_nearer = |(_, other): &(usize, String)| {
                            difference.split("; ").count() < other.split("; ").count()
                        };
                        if nearest.as_ref().is_none_or(is_nearer) {
                            nearest = Some((number, difference));
                        }
                    }
                }
            }
        }
        let (number, difference) = nearest.unwrap_or_default();
        let after = steps.windows(2).skip(number).map(|pair| pair[1].difference(&FoundTree::from(&pair[0])));
        let after: Vec<_> = after.map(Option::unwrap_or_default).collect();
        Err(anyhow!(
            "the tree is as it never was after the {durable} changes that are durable of {}; after {number}: {difference}; then \
             came: {}",
            answered.len() - 1,
            after.join(" | ")
        ))
    }
}
