//! `kill-mount`: SIGKILL at any moment of the process that keeps a mount, and of its server, and a path between them that is cut. What fsync
//! succeeded for is on the server's disk; the next `howdah mount` replaces what the killed process left; a server that is away is waited for,
//! by who does not give up.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};
use nix::sched::{CloneFlags, unshare};

use super::blocks::{BLOCK, Blocks, Interrupted, Way};
use super::campaign::{Context, Progress, Verdict};
use super::crew::Crew;
use super::disk::lacking;
use super::impatient::interruptible;
use super::mount::Mount;
use super::path::FarPath;
use super::server::{Offer, Server};
use super::tally::{STUCK, Tally};
use howdah_random::Random;

/// Faults of the full form and of the short one.
const FULL: u64 = 300;
const QUICK: u64 = 12;
/// Programs, each with a file of its own.
const PROGRAMS: u64 = 3;
/// A fault comes after so long at most.
const MOST_LATER: Duration = Duration::from_millis(400);
/// What becomes of the mount's process, the server and the path.
const KINDS: [&str; 3] = ["of the mount", "of the server", "of the path"];
const MOUNT: usize = 0;
const SERVER: usize = 1;
/// The size of a file that is copied there.
const SMALL: usize = 256 << 10;
/// How often it is looked whether it is: that is no event.
const LOOK: Duration = Duration::from_millis(5);

/// Runs it.
pub fn run(context: &Context) -> Result<Verdict> {
    if let Some(why) = lacking() {
        return Ok(Verdict::skipped(why));
    }
    let mut random = Random::new(context.seed);
    let path = FarPath::lay(context)?;
    let offer = Offer { site: path.far(), ..Offer::below(&context.directory) };
    let mut server = Server::start_with(&context.binary, offer)?;
    let crew = Crew::settle(server.export(), 0, false)?;
    let files =
        (0..PROGRAMS).map(|number| Blocks::make(server.export().join(name(number)), number).map(Arc::new));
    let files = files.collect::<std::io::Result<Vec<_>>>().context("making files")?;
    let mut mount = Mount::start(context, (&path, &server), Vec::new(), name(0))?;
    std::fs::write(small(&mount.at), [7; SMALL]).context("a file to copy")?;
    employ(&crew, &mount, &files, context.seed);
    let (times, mut progress, mut tally) = (context.times(FULL, QUICK), Progress::begin(), Tally::of(&KINDS));
    for fault in 1..=times {
        thread::sleep(MOST_LATER.mul_f64(random.fraction()));
        let kind = tally.next(&mut random);
        match kind {
            MOUNT => mount.kill()?,
            SERVER => server.kill()?,
            _ => path.cut()?,
        }
        tally.verify(&crew, &server, &files, fault)?;
        if let Some(wrong) = tally.impatient.run(using(&mount.at, &mut random))? {
            crew.report(format!("at fault {fault}, {}: {wrong}", KINDS[kind]));
        }
        match kind {
            MOUNT => mount.start_again(context, &path, &server)?,
            SERVER => {
                server.start_again()?;
                server.wait()?;
            }
            _ => {
                thread::sleep(path.outage(context, &mut random));
                path.mend()?;
            }
        }
        tally.wait_for_service(&crew, kind);
        if !crew.broken().is_empty() {
            break;
        }
        progress.tell(|| format!("{fault} of {times} faults, {} times made durable", crew.steps()));
    }
    crew.dismiss(STUCK);
    tally.verify(&crew, &server, &files, times)?;
    Ok(tally.verdict(&crew, &progress))
}

/// Gives each file to a program of its own.
fn employ(crew: &Arc<Crew>, mount: &Mount, files: &[Arc<Blocks>], seed: u64) {
    for (file, number) in files.iter().zip(0..) {
        let (its, random) = (Arc::clone(file), Random::apart(seed, number + 1));
        let way = Program { path: mount.at.join(name(number)), file: None };
        crew.start(name(number), move |crew| {
            // A server that we start must not inherit the files: it would close them before it begins, which waits for that server.
            unshare(CloneFlags::CLONE_FILES)
                .map_err(|error| format!("file descriptors of its own: {error}"))?;
            its.work(crew, way, random)
        });
    }
}

fn name(number: u64) -> String {
    format!("file-{number}")
}

/// Somebody uses what is mounted: writes, reads, makes, syncs, lists.
fn using(at: &Path, random: &mut Random) -> Command {
    let mut command = interruptible(Command::new("env"));
    let of = |name: &str| at.join(name);
    match random.below(5) {
        0 => command.arg("cp").arg(small(at)).arg(of("copied")),
        1 => command.arg("cat").arg(of(&name(0))),
        2 => command.arg("touch").arg(of("touched")),
        3 => command.arg("sync").arg(of(&name(0))),
        _ => command.args(["ls", "-l"]).arg(at),
    };
    command
}

/// A file beside the directory at which is mounted.
fn small(at: &Path) -> PathBuf {
    at.with_file_name("small")
}

/// A program that opens its file again when that was taken from it.
struct Program {
    path: PathBuf,
    file: Option<File>,
}

impl Program {
    fn with_file<T>(&mut self, run: impl FnOnce(&File) -> std::io::Result<T>) -> Result<T, Interrupted> {
        if self.file.is_none() {
            self.file = OpenOptions::new().read(true).write(true).open(&self.path).ok();
        }
        let outcome = self.file.as_ref().map(run);
        outcome.and_then(Result::ok).ok_or_else(|| {
            self.file = None;
            thread::sleep(LOOK);
            Interrupted
        })
    }
}

impl Way for Program {
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Interrupted> {
        self.with_file(|file| file.write_all_at(bytes, at))
    }

    fn sync(&mut self) -> Result<bool, Interrupted> {
        self.with_file(|file| file.sync_all().map(|()| true))
    }

    fn read(&mut self, at: u64) -> Result<Vec<u8>, Interrupted> {
        self.with_file(|file| {
            let mut bytes = vec![0; BLOCK];
            let mut done = 0;
            while done < BLOCK {
                match file.read_at(&mut bytes[done..], at + done as u64)? {
                    0 => break,
                    count => done += count,
                }
            }
            bytes.truncate(done);
            Ok(bytes)
        })
    }
}
